import EskerLog
import EskerPlatform

extension Scenario {
  /// A store in which a few records are dead, whose room is taken next.
  private static func begin(_ store: LogStore, _ registers: [Register]) throws {
    for _ in 0..<3 { for register in registers { try register.put(store) } }
  }

  private static func machineOfReuse() -> Machine {
    var machine = Machine.told()
    machine.reusesSpace = true
    return machine
  }

  /// Records that take the room of dead ones.
  static let replacing = [
    Scenario("replace-snapshot", "a snapshot beside overwrites in the room of dead records, and a kill") {
      let machine = machineOfReuse()
      let store = try machine.open()
      let losses = PowerLosses()
      let registers = ["a", "b"].map { Register($0) }
      try begin(store, registers)
      together(
        Part("writer") { for _ in 0..<3 { for register in registers { try register.put(store) } } },
        Part("viewer") {
          let floors = registers.map(\.floor)
          Schedule.note("opens a snapshot")
          let snapshot = try store.snapshot()
          let shown = try snapshot.contents()
          for (register, floor) in zip(registers, floors) { register.check(shown[bytes(register.key)], from: floor) }
          let again = try snapshot.contents()
          expect(again == shown, "a snapshot shows something else when it is read again")
        },
        Part("killer") { try losses.noteKill(machine, registers) }
      )
      try losses.check()
      try machine.afterKill().openIntact(registers)
    },
    Scenario("replace-reader", "a reader in another process comes beside overwrites in the room of dead records") {
      let machine = machineOfReuse()
      let store = try machine.open()
      let registers = ["a", "b"].map { Register($0) }
      try begin(store, registers)
      together(
        Part("writer") { for _ in 0..<4 { for register in registers { try register.put(store) } } },
        Part("looker") { store.probe.lookForReaders() },
        Part("reader") { try machine.openReader(of: registers) }
      )
      try machine.afterKill().openIntact(registers)
    },
    Scenario("stopped", "a writer stops amid a replacement, or is killed there, beside a reader in another process") {
      let machine = machineOfReuse()
      let (losses, stop) = (PowerLosses(), StoppedWriter())
      let registers = ["a", "b"].map { Register($0) }
      let store = try stop.open(machine) { try losses.noteKill(machine, registers) }
      try begin(store, registers)
      together(
        Part("stopper") { stop.arm() },
        Part("writer") { for _ in 0..<3 { for register in registers { try register.put(store) } } },
        Part("reader") { try machine.ofAnotherProcess().openReader(of: registers) }
      )
      try losses.check()
      try machine.afterKill().openIntact(registers)
    },
  ]
}
