import EskerLog
import EskerPlatform

extension Scenario {
  /// Whole stores, and more than one.
  static let stores = [
    Scenario("commit", "two writers and another thread share syncs") {
      let machine = Machine.told()
      let store = try machine.open()
      let losses = PowerLosses()
      let registers = ["a", "b"].map { Register($0) }
      // A segment in front of theirs is not synced either.
      try registers[0].put(store)
      try store.probe.endTail()
      let parts = registers.map { register in
        Part("writer \(register.key)") {
          try register.put(store, .synced)
          try losses.note(machine, [register], from: [register.floor])
          try register.put(store)
        }
      }
      together(parts[0], parts[1], Part("syncer") { try losses.noteSync(machine, store, registers) })
      try losses.check()
    },
    Scenario("tasks", "two tasks and a thread share syncs") {
      let machine = Machine.told()
      let store = try machine.open()
      let losses = PowerLosses()
      let registers = ["a", "b"].map { Register($0) }
      let parts = registers.map { register in
        Part(task: "task \(register.key)") {
          try await register.put(byTask: store, .synced)
          try losses.note(machine, [register], from: [register.floor])
          try await register.put(byTask: store, .synced)
        }
      }
      together(parts[0], parts[1], Part("syncer") { try losses.noteSync(machine, store, registers) })
      // Ends the thread that syncs for tasks.
      try store.close()
      try losses.check()
    },
    Scenario("close", "a store is closed beside puts, gets and a sync") {
      var told = Machine.told()
      told.leavesCheckpoints = true
      let machine = told
      let store = try machine.open()
      let register = Register("a")
      try register.put(store)
      let untilClosed: @Sendable (() throws -> Void) throws -> Void = { body in
        do { try body() } catch StoreError.closed { Schedule.note("finds the store closed") }
      }
      together(
        Part("writer") { try untilClosed { for _ in 0..<3 { try register.put(store) } } },
        Part("reader") { try untilClosed { for _ in 0..<3 { try register.get(store) } } },
        Part("syncer") { try untilClosed { try store.sync() } },
        Part("closer") { try store.close() }
      )
      try machine.openIntact([register])
    },
    Scenario("opening", "a reader in another process opens beside puts that go on in new segments, and seals") {
      let machine = Machine.told()
      let store = try machine.open()
      let register = Register("a", length: 20_000)
      try register.put(store)
      together(
        Part("writer") { for _ in 0..<5 { try register.put(store) } },
        Part("maintainer") { store.probe.sealFinished() },
        Part("reader") { try machine.openReader(of: [register]) }
      )
      try machine.afterKill().openIntact([register])
    },
    Scenario("opening-merge", "a reader in another process opens and reads on beside a merge and puts") {
      let machine = Machine.told()
      let store = try machine.open()
      let registers = ["a", "b"].map { Register($0) }
      for _ in 0..<2 { for register in registers { try register.put(store) } }
      try store.probe.endTail()
      together(
        Part("merger") { try store.merge() },
        Part("writer") { for register in registers { try register.put(store) } },
        Part("reader") { try machine.openReader(of: registers) }
      )
      try machine.afterKill().openIntact(registers)
    },
    Scenario("hand-over", depth: 2, "another process writes while a store is suspended beside puts and gets") {
      let machine = Machine.told()
      let store = try machine.open()
      let register = Register("a")
      try register.put(store)
      together(
        Part("writer") {
          do { for _ in 0..<2 { try register.put(store) } } catch StoreError.suspended {
            Schedule.note("finds the store suspended")
          }
        },
        Part("reader") { for _ in 0..<2 { try register.get(store) } },
        Part("owner") {
          Schedule.note("suspends")
          try store.suspend()
          let floor = register.floor
          let other = try machine.open()
          register.check(try other.get("a"), from: floor)
          try other.put([7], forKey: "other")
          try other.close()
          Schedule.note("resumes")
          try store.resume()
          expect(try store.get("other") == [7], "what the other process wrote is not there")
        }
      )
      try register.get(store)
      try store.closeAndReopen(machine, [register])
    },
    Scenario("behind", depth: 2, "a reader in another process that is far behind catches up beside a put") {
      let machine = Machine.told()
      let store = try machine.open { $0.segmentSize = 256 << 10 }
      try store.put([0], forKey: "b")
      let reader = try machine.open { $0.readOnly = true }
      // More than a refresh reads of its own accord.
      try store.write { batch in for _ in 0..<1100 { try batch.put([1], forKey: "b") } }
      together(
        Part("writer") { for _ in 0..<2 { try store.put([2], forKey: "b") } },
        Part("reader") {
          let shown = store.lastSequence
          Schedule.note("refreshes, as the writer shows \(shown)")
          try reader.refresh()
          expect(reader.lastSequence >= shown, "a refresh ends before \(shown), which was shown")
        }
      )
    },
    Scenario("engine", depth: 2, "a store with threads of its own: puts, gets, a merge, a snapshot, a close") {
      var machine = Machine.told()
      machine.background = .threads
      machine.reusesSpace = true
      let store = try machine.open()
      let registers = ["a", "b"].map { Register($0, length: 10_000) }
      for register in registers { try register.put(store) }
      together(
        Part("writer") { for _ in 0..<4 { for register in registers { try register.put(store) } } },
        Part("reader") { for _ in 0..<2 { for register in registers { try register.get(store) } } },
        Part("merger") { try store.merge() }
      )
      try store.closeAndReopen(machine, registers)
    },
  ]
}
