import EskerFormat
import EskerLog
import EskerPlatform
import EskerTestSupport

extension Machine {
  /// A machine on which each call on a file is a point, too, and told with its path.
  static func told() -> Machine {
    let plan = FaultPlan()
    plan.onCall { Schedule.call($0.operation.rawValue, on: $0.path) }
    var machine = Machine()
    machine.leavesCheckpoints = false
    machine.calls = plan
    return machine
  }

  /// Uses a store once, so that no child of this process has to look up what Swift's runtime then knows: half of the time of a short run.
  static func warmUp() throws {
    let machine = told()
    let store = try machine.open()
    try store.put([1], forKey: "a")
    _ = try store.get("a")
    try store.close()
    try machine.openIntact([])
  }

  /// The disk after a loss of power, as bad as it can be: nothing is there that was not synced.
  func afterPowerLoss() throws -> Machine {
    var copy = self
    var generator = SeededGenerator(seed: 1)
    copy.disk = try disk.crashImage(.drop, using: &generator)
    return copy
  }

  /// The disk of a process that was killed.
  func afterKill() throws -> Machine {
    var copy = self
    copy.disk = try disk.processKilled()
    return copy
  }
}

extension Machine {
  /// Opens the store to be read, as another process would, reads all registers, and refreshes before it reads each of them again; nothing
  /// may be damaged.
  func openReader(of registers: [Register]) throws {
    let log = EventLog()
    let floors = registers.map(\.floor)
    Schedule.note("opens")
    let reader = try open {
      $0.readOnly = true
      $0.onEvent = { log.record($0) }
    }
    expect(log.damage.isEmpty, "the reader finds damage: \(log.damage)")
    for (register, floor) in zip(registers, floors) { register.check(try reader.get(register.key), from: floor) }
    for register in registers {
      let floor = register.floor
      try reader.refresh()
      register.check(try reader.get(register.key), from: floor)
    }
  }
}

extension LogStore {
  /// Ends the store, and checks that it opens again with what the registers may hold.
  func closeAndReopen(_ machine: Machine, _ registers: [Register], _ change: (inout Options) -> Void = { _ in }) throws
  {
    try close()
    try machine.openIntact(registers, change)
  }
}

extension Machine {
  /// Opens what is on the disk, where nothing may be damaged, and reads all registers.
  ///
  /// - Parameter floors: the oldest versions that may be found, if what was written later may be lost.
  func openIntact(_ registers: [Register], from floors: [Int]? = nil, _ change: (inout Options) -> Void = { _ in })
    throws
  {
    let log = EventLog()
    let store = try open {
      change(&$0)
      $0.onEvent = { log.record($0) }
    }
    expect(log.damage.isEmpty, "the store is damaged: \(log.damage)")
    for (index, register) in registers.enumerated() {
      if let floors {
        register.check(try store.get(register.key), from: floors[index], isLatest: false)
      } else {
        try register.get(store)
      }
    }
    // The checkpoint may have them in order.
    let keys = try store.keys()
    for register in registers {
      let isThere = try store.get(register.key) != nil
      expect(isThere == keys.contains(bytes(register.key)), "\(register.key) is there, or in order, and not both")
    }
    let report = try store.verify()
    expect(report.isClean, "a verification finds \(report.damage)")
    try store.close()
  }
}
