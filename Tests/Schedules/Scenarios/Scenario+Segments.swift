import EskerLog
import EskerPlatform

extension Scenario {
  /// What becomes of segments while they are written and read.
  static let segments = [
    Scenario("seal", "full segments get their footers beside puts and gets") {
      let machine = Machine.told()
      let store = try machine.open()
      let register = Register("a", length: 20_000)
      try register.put(store)
      together(
        Part("writer") { for _ in 0..<4 { try register.put(store) } },
        Part("maintainer") { for _ in 0..<2 { store.probe.sealFinished() } },
        Part("reader") { for _ in 0..<2 { try register.get(store) } }
      )
      try store.closeAndReopen(machine, [register])
    },
    Scenario("merge", "a merge moves what is put, removed and read meanwhile") {
      let machine = Machine.told()
      let store = try machine.open()
      let registers = ["a", "b", "c"].map { Register($0) }
      for _ in 0..<2 { for register in registers { try register.put(store) } }
      try store.probe.endTail()
      together(
        Part("merger") { try store.merge() },
        Part("writer") {
          try registers[0].put(store)
          try registers[1].remove(store)
        },
        Part("reader") { for register in registers { try register.get(store) } }
      )
      try machine.afterKill().openIntact(registers)
    },
    Scenario("merge-power", "a merge removes what is being replaced, and power is lost behind it") {
      let machine = Machine.told()
      let store = try machine.open()
      let losses = PowerLosses()
      let registers = ["a", "b"].map { Register($0) }
      for _ in 0..<2 { for register in registers { try register.put(store) } }
      try store.sync()
      let floors = registers.map(\.floor)
      try store.probe.endTail()
      together(
        Part("writer") { for register in registers { try register.put(store) } },
        Part("merger") {
          try store.merge()
          try losses.note(machine, registers, from: floors)
        }
      )
      try losses.check()
      try machine.afterKill().openIntact(registers)
    },
    Scenario("checkpoint", "a checkpoint is cut beside puts that take the room of dead records") {
      var told = Machine.told()
      told.leavesCheckpoints = true
      told.reusesSpace = true
      let machine = told
      let store = try machine.open()
      let registers = ["a", "b"].map { Register($0) }
      for _ in 0..<3 { for register in registers { try register.put(store) } }
      together(
        Part("maintainer") { store.probe.writeCheckpoint() },
        Part("writer") { for _ in 0..<2 { for register in registers { try register.put(store) } } }
      )
      try machine.afterKill().openIntact(registers)
    },
    Scenario("ordered", "keys in order are written to a checkpoint beside a removal, and power is lost behind it") {
      var told = Machine.told()
      told.leavesCheckpoints = true
      let machine = told
      let store = try machine.open()
      let losses = PowerLosses()
      let registers = ["a", "b"].map { Register($0) }
      for register in registers { try register.put(store) }
      _ = try store.first()
      try store.sync()
      let floors = registers.map(\.floor)
      // Behind its fourth piece the index of a small store is copied, and the removal begins.
      let written = Guarded(0, .unranked)
      let hasBegun = Guarded(false, .unranked)
      machine.calls?.onCall { call in
        Schedule.call(call.operation.rawValue, on: call.path)
        guard call.operation == .write, call.path.hasSuffix("checkpoint.tmp") else { return }
        let count = written.withLock {
          $0 += 1
          return $0
        }
        while count == 4, !hasBegun.withLock({ $0 }) { Platform.yieldThread() }
      }
      together(
        Part("maintainer") {
          store.probe.writeCheckpoint()
          try losses.note(machine, registers, from: floors)
        },
        Part("writer") {
          while written.withLock({ $0 }) < 4 { Platform.yieldThread() }
          hasBegun.withLock { $0 = true }
          try registers[0].remove(store)
        }
      )
      try losses.check()
      try machine.afterKill().openIntact(registers)
    },
    Scenario("evict", "a store of limited capacity makes room beside a sync and gets") {
      let machine = Machine.told()
      let change: @Sendable (inout Options) -> Void = { $0.capacity = 512 << 10 }
      let store = try machine.open(change)
      let losses = PowerLosses()
      let last = Register("last", length: 20_000)
      for _ in 0..<18 { try last.put(store) }
      together(
        Part("writer") { for _ in 0..<6 { try last.put(store) } },
        Part("syncer") { try losses.noteSync(machine, store, [last]) },
        Part("reader") { for _ in 0..<2 { try last.get(store) } }
      )
      try losses.check(change)
      try machine.afterKill().openIntact([last], change)
    },
  ]
}
