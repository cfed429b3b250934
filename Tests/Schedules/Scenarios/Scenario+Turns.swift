import EskerLog
import EskerPlatform

extension Scenario {
  /// Opens two stores on the same files that write in turn, each with a thread that hands them over; runs a body, and ends these threads.
  private static func inTurn(_ machine: Machine, _ body: ([LogStore]) throws -> Void) throws {
    let stores = try (0..<2).map { _ in try machine.open { $0.sharing = .inTurn() } }
    let ends = try stores.map { try $0.probe.watchTurns() }
    try body(stores)
    for end in ends { end() }
    for store in stores { try store.close() }
  }

  /// Processes that write in turn, or that one has suspended its store for.
  static let turns = [
    Scenario("turns", depth: 2, "two processes count in turn, sync, and read what the other wrote") {
      let machine = Machine.told()
      let registers = ["a", "b"].map { Register($0) }
      try inTurn(machine) { stores in
        let parts = [0, 1].map { number in
          Part("process \(number)") {
            for _ in 0..<2 {
              Schedule.note("counts")
              try stores[number].increment("sum")
              try registers[number].put(stores[number])
            }
            try stores[number].sync()
            let other = registers[1 - number]
            let floor = other.floor
            try stores[number].refresh()
            other.check(try stores[number].get(other.key), from: floor)
          }
        }
        together(parts[0], parts[1])
        let sum = try stores[0].increment("sum")
        expect(sum == 5, "four were counted, and then one, which is \(sum)")
      }
      try machine.openIntact(registers)
    },
    Scenario("turns-suspended", depth: 2, "a store that is to rest does so, although its turn may just have come") {
      let machine = Machine.told()
      let registers = ["a", "b"].map { Register($0) }
      try inTurn(machine) { stores in
        for (register, store) in zip(registers, stores) { try register.put(store) }
        together(
          Part("process 0") {
            do { for _ in 0..<2 { try registers[0].put(stores[0]) } } catch StoreError.suspended {
              Schedule.note("finds the store suspended")
            }
          },
          Part("process 1") { for _ in 0..<2 { try registers[1].put(stores[1]) } },
          Part("owner") {
            Schedule.note("suspends")
            try stores[0].suspend()
            for _ in 0..<3 {
              expect(stores[0].isSuspended, "a store that was suspended is not")
              Platform.yieldThread()
            }
            Schedule.note("resumes")
            try stores[0].resume()
          }
        )
      }
      try machine.openIntact(registers)
    },
    Scenario("creation", depth: 2, "two processes make a store at once, and count in turn") {
      let machine = Machine.told()
      let parts = [0, 1].map { number in
        Part("process \(number)") {
          let store = try machine.open { $0.sharing = .inTurn() }
          try store.increment("sum")
          try store.close()
        }
      }
      together(parts[0], parts[1])
      let sum = try machine.open().increment("sum")
      expect(sum == 3, "two were counted, and then one, which is \(sum)")
    },
    Scenario("hand-over-merge", depth: 2, "another process writes and merges while a store is suspended beside a merge")
    {
      let machine = Machine.told()
      let store = try machine.open()
      let registers = ["a", "b"].map { Register($0) }
      for _ in 0..<2 { for register in registers { try register.put(store) } }
      try store.probe.endTail()
      together(
        Part("merger") {
          do { try store.merge() } catch StoreError.suspended { Schedule.note("finds the store suspended") }
        },
        Part("owner") {
          Schedule.note("suspends")
          try store.suspend()
          let other = try machine.open()
          for register in registers { try register.get(other) }
          for register in registers { try register.put(other) }
          try other.merge()
          try other.close()
          Schedule.note("resumes")
          try store.resume()
          for register in registers { try register.get(store) }
        }
      )
      try store.merge()
      try store.closeAndReopen(machine, registers)
    },
  ]
}
