import EskerLog
import EskerPlatform

/// Disks as losses of power would have left them, and kills, to be opened once all threads have ended: a store that is closed waits for the pins of
/// the whole process.
final class PowerLosses: Sendable {
  private struct Loss {
    let machine: Machine
    let registers: [Register]
    let floors: [Int]
  }

  private let losses = Guarded<[Loss]>([], .unranked)

  /// Notes what is on the disk now, where versions that were there before must be.
  func note(_ machine: Machine, _ registers: [Register], from floors: [Int]) throws {
    Schedule.note("would lose power")
    let loss = Loss(machine: try machine.afterPowerLoss(), registers: registers, floors: floors)
    losses.withLock { $0.append(loss) }
  }

  /// Notes what is on the disk now, as the end of the process would leave it.
  func noteKill(_ machine: Machine, _ registers: [Register]) throws {
    let floors = registers.map(\.floor)
    Schedule.note("would be killed")
    let loss = Loss(machine: try machine.afterKill(), registers: registers, floors: floors)
    losses.withLock { $0.append(loss) }
  }

  /// Syncs; all that was written or read before is to be there.
  func noteSync(_ machine: Machine, _ store: LogStore, _ registers: [Register]) throws {
    let floors = registers.map(\.floor)
    Schedule.note("syncs")
    try store.sync()
    try note(machine, registers, from: floors)
  }

  /// Opens all of them.
  func check(_ change: (inout Options) -> Void = { _ in }) throws {
    for loss in losses.withLock({ $0 }) {
      Schedule.note("what is there after a loss of power, or a kill:")
      try loss.machine.openIntact(loss.registers, from: loss.floors, change)
    }
  }
}
