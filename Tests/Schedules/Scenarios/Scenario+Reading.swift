import EskerLog
import EskerPlatform

extension Scenario {
  /// What reads meet.
  static let reading = [
    Scenario("put-get", "puts of a key beside gets of it") {
      let machine = Machine.told()
      let store = try machine.open()
      let register = Register("a")
      try register.put(store)
      together(
        Part("writer") { for _ in 0..<2 { try register.put(store) } },
        Part("reader") { for _ in 0..<3 { try register.get(store) } }
      )
      try register.get(store)
    },
    Scenario("replace", "overwrites that take the room of dead records, beside gets and a sync") {
      var told = Machine.told()
      told.reusesSpace = true
      let machine = told
      let store = try machine.open()
      let losses = PowerLosses()
      // Of one length, so that the room of either may become the other's.
      let registers = ["a", "b"].map { Register($0) }
      for _ in 0..<2 { for register in registers { try register.put(store) } }
      together(
        Part("writer") { for _ in 0..<3 { for register in registers { try register.put(store) } } },
        Part("reader") { for _ in 0..<2 { for register in registers { try register.get(store) } } },
        Part("syncer") { try losses.noteSync(machine, store, registers) }
      )
      Schedule.note("\(store.probe.recordsReplaced) records have taken the room of others")
      try losses.check()
    },
    Scenario("snapshot", "a snapshot beside puts of two keys, a removal, and a merge that moves a third") {
      let machine = Machine.told()
      let store = try machine.open()
      let registers = ["a", "b", "c", "d"].map { Register($0) }
      for register in registers { try register.put(store) }
      try store.probe.endTail()
      for register in registers.prefix(2) { try register.put(store) }
      together(
        Part("writer") {
          for register in registers.prefix(2) { try register.put(store) }
          try registers[2].remove(store)
        },
        Part("viewer") {
          let floors = registers.map(\.floor)
          Schedule.note("opens a snapshot")
          let snapshot = try store.snapshot()
          let shown = try snapshot.contents()
          for (register, floor) in zip(registers, floors) { register.check(shown[bytes(register.key)], from: floor) }
          let versions = registers.prefix(2).map { Int(shown[bytes($0.key)]?.first ?? 0) }
          expect(versions[0] == versions[1] || versions[0] == versions[1] + 1, "no moment had a, b = \(versions)")
          let again = try snapshot.contents()
          expect(again == shown, "a snapshot shows something else when it is read again")
        },
        Part("merger") { try store.merge() }
      )
    },
  ]
}
