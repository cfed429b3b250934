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
