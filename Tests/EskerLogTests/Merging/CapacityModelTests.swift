import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What a capacity promises does not depend on what was done before, nor on how the store was left.
@Suite struct CapacityModelTests {
  private static let stepCount = 120

  @Test(arguments: [256 << 10, 1 << 20, 8 << 20])
  func upToHalfIsWrittenAndTheFilesTakeNoMoreThanTheCapacity(capacity: Int) throws {
    var generator = SeededGenerator(announcedFor: "CapacityModelTests of \(capacity) bytes")
    for _ in 0..<Rounds.count(3, thorough: 60) {
      let seed = generator.seed
      var session = Session(capacity, &generator)
      do { try session.run() } catch {
        Issue.record("seed \(seed): \(error), after \(session.trail.suffix(12))")
        return
      }
    }
  }

  private struct Session {
    private let capacity: Int
    private var generator: SeededGenerator
    private var machine = Machine()
    private(set) var trail: [String] = []

    init(_ capacity: Int, _ generator: inout SeededGenerator) {
      self.capacity = capacity
      self.generator = generator.split()
      machine.leavesCheckpoints = generator.oneIn(2)
      machine.reusesSpace = generator.oneIn(2)
    }

    mutating func run() throws {
      var store = try open()
      for _ in 0..<CapacityModelTests.stepCount {
        try step(&store)
        let bytes = try machine.disk.list(machine.path).reduce(0) { total, name in
          total + (try machine.disk.status("\(machine.path)/\(name)")?.size ?? 0)
        }
        guard bytes <= capacity else { throw CrashFailure(description: "\(bytes) bytes") }
      }
      try store.close()
    }

    private func open() throws(StoreError) -> LogStore {
      try machine.open { $0.capacity = capacity }
    }

    private mutating func step(_ store: inout LogStore) throws {
      let key = "key \(Int.random(in: 0..<60, using: &generator))"
      switch Int.random(in: 0..<40, using: &generator) {
      case 0:
        trail.append("end")
        try store.probe.endTail()
      case 1:
        trail.append("merge")
        try store.merge()
      case 2:
        trail.append("close")
        try store.close()
        store = try open()
      case 3:
        trail.append("kill")
        store.probe.kill()
        machine.disk = try machine.disk.processKilled()
        store = try open()
      case 4:
        let policy = [CrashPolicy.drop, .tear, .reorder, .keep][Int.random(in: 0..<4, using: &generator)]
        trail.append("power, \(policy)")
        store.probe.kill()
        machine.disk = try machine.disk.crashImage(policy, using: &generator)
        store = try open()
      case 5:
        trail.append("remove")
        try store.remove(key)
      case 6:
        trail.append("sync")
        try store.sync()
      case 7..<12:
        _ = try store.get(key)
      default:
        let length = length()
        trail.append("\(length)")
        try store.put([UInt8](repeating: 7, count: length), forKey: key)
      }
    }

    /// From a few bytes to what makes a record of half of the capacity, each size as often as its double.
    private mutating func length() -> Int {
      var most = capacity / 2 - 200
      while most > 1, generator.oneIn(2) { most /= 2 }
      return Int.random(in: 0...most, using: &generator)
    }
  }
}
