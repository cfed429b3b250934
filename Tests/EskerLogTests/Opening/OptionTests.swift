import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerLog

/// Options at their ends: each works or is refused when the store is opened, with an error that names it.
@Suite struct OptionTests {
  /// Uses a store in all ways that options have a part in, closes it and looks again.
  private func exercise(_ machine: Machine, _ moment: String, _ change: (inout Options) -> Void) throws {
    let store = try machine.open(change)
    for number in 0..<400 {
      try store.put([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 900), forKey: "key \(number % 40)")
    }
    try store.put("v", forKey: "soon", expiry: .after(.zero), durability: .synced)
    try store.remove("key 1")
    try store.merge()
    try store.removeAllExpired()
    let contents = try store.contents()
    #expect(contents.count == 39, "\(moment)")
    #expect(try store.verify().isClean, "\(moment)")
    _ = store.statistics
    try store.close()
    let again = try machine.open(change)
    #expect(try again.contents() == contents, "\(moment)")
    try again.close()
  }

  private func expectRefused(_ name: String, _ change: (inout Options) -> Void) throws {
    let machine = Machine()
    #expect("\(name)") {
      try machine.open(change)
    } throws: { error in
      guard case StoreError.failed(let operation, machine.path, PlatformError.invalid) = error else { return false }
      return operation.contains(name)
    }
    #expect(try machine.disk.status(machine.path) == nil, "\(name)")
  }

  @Test(arguments: [
    -.infinity, -Double.greatestFiniteMagnitude, -1, 0, .leastNonzeroMagnitude, 0.5, 1, 1.1, 1e6, 1e18, 1e300,
    .greatestFiniteMagnitude, .infinity,
  ])
  func spaceAmplification(value: Double) throws {
    try exercise(Machine(), "\(value)") { $0.merge.spaceAmplification = value }
  }

  @Test func aStoreOfUnlimitedAmplificationMergesWhatIsDead() throws {
    let store = try Machine().open { $0.merge.spaceAmplification = .infinity }
    for number in 0..<400 {
      try store.put([UInt8](repeating: 1, count: 900), forKey: "key \(number)")
    }
    for number in 0..<390 { try store.put("v", forKey: "key \(number)") }
    try store.sync()
    #expect(store.statistics.merged.bytesRead == 0 || store.statistics.merged.bytesWritten == 0)
    try store.close()
  }

  @Test func spaceAmplificationThatIsNoNumberIsRefused() throws {
    try expectRefused("use NaN as space amplification") { $0.merge.spaceAmplification = .nan }
    try expectRefused("use NaN as space amplification") { $0.merge.spaceAmplification = .signalingNaN }
  }

  @Test(arguments: [1, 1 << 40, Int.max])
  func bytesPerSecond(value: Int) throws {
    // The test waits for no merge: one that is slow ends when the store is closed.
    let directory = try TemporaryDirectory()
    var options = Options()
    options.segmentSize = 64 << 10
    options.merge.bytesPerSecond = value
    let store = try LogStore(at: directory.appending("store"), options: options)
    for number in 0..<2_000 { try store.put([UInt8](repeating: 1, count: 900), forKey: "key \(number % 10)") }
    try store.close()
    options.merge.bytesPerSecond = nil
    #expect(try LogStore(at: directory.appending("store"), options: options).count() == 10)
  }

  @Test(arguments: [0, -1, Int.min])
  func aRateThatLetsNothingThroughIsRefused(value: Int) throws {
    try expectRefused("\(value) bytes per second") { $0.merge.bytesPerSecond = value }
  }

  @Test(arguments: [
    Duration.zero, .nanoseconds(1), .seconds(-1), .seconds(Int64.max), .seconds(Int64.min),
    Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
  ])
  func statisticsInterval(value: Duration) throws {
    try exercise(Machine(), "\(value)") { $0.statisticsInterval = value }
    // And with a thread that waits for so long, or as short as it may.
    let directory = try TemporaryDirectory()
    var options = Options()
    options.statisticsInterval = value
    let store = try LogStore(at: directory.appending("store"), options: options)
    let published = try #require(try LogStore.publishedStatistics(at: directory.appending("store")))
    #expect(published.interval >= .milliseconds(10))
    try store.close()
  }

  @Test(arguments: [256 << 10, 1 << 20, 1 << 40, Int.max - 1, Int.max])
  func capacity(value: Int) throws {
    try exercise(Machine(), "\(value)") { $0.capacity = value }
    try exercise(Machine(), "\(value), large segments") {
      $0.capacity = value
      $0.segmentSize = 1 << 30
    }
  }

  @Test(arguments: [(256 << 10) - 1, 0, -1, Int.min])
  func aCapacityOfNextToNothingIsRefused(value: Int) throws {
    try expectRefused("capacity of \(value) bytes") { $0.capacity = value }
  }

  @Test(arguments: [64 << 10, (64 << 10) + 1, 1 << 30])
  func segmentSize(value: Int) throws {
    try exercise(Machine(), "\(value)") { $0.segmentSize = value }
  }

  @Test(arguments: [(64 << 10) - 1, (1 << 30) + 1, 0, -1, Int.min, Int.max])
  func aSegmentSizeBeyondTheLimitsIsRefused(value: Int) throws {
    try expectRefused("segment size of \(value)") { $0.segmentSize = value }
  }

  private static let durations: [(Duration, stays: Bool)] = [
    (.zero, false), (.nanoseconds(-1), false), (.seconds(-1), false), (.seconds(Int64.min), false),
    (.milliseconds(1), true), (.seconds(Int64.max), true),
    (Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999), true),
  ]

  @Test func expiries() throws {
    for (duration, stays) in Self.durations {
      let machine = Machine()
      let store = try machine.open { $0.defaultExpiry = .after(duration) }
      let other = try store.keyspace("other")
      try other.setDefaultExpiry(duration)
      try store.put("v", forKey: "default")
      try store.put("v", forKey: "own", expiry: .after(duration))
      try store.touch("own", expiry: .after(duration))
      _ = try store.get("own", extendingBy: duration)
      try other.put("v", forKey: "keyspace's")
      for durability in [Durability.periodic(duration), .periodic(.zero)] {
        try store.put("v", forKey: "periodic", expiry: .never, durability: durability)
      }
      for found in [try store.get("default"), try store.get("own"), try other.get("keyspace's")] {
        #expect((found != nil) == stays, "\(duration)")
      }
      #expect(try store.get("periodic") != nil)
      try store.removeAllExpired()
      try store.close()
      let again = try machine.open()
      #expect((try again.get("own") != nil) == stays, "\(duration)")
      try again.close()
    }
    for instant in [Int64.min, Int64.min + 1, 0, .max - 1, .max] {
      let store = try Machine().open { $0.defaultExpiry = .at(WallTime(millisecondsSince1970: instant)) }
      try store.put("v", forKey: "k")
      #expect((try store.get("k") != nil) == (instant > 1_700_000_000_000), "\(instant)")
      _ = try store.get("k", extendingBy: .seconds(Int64.max))
      try store.merge()
      try store.removeAllExpired()
      try store.close()
    }
  }

  /// A clock that shows what it is told to.
  private final class WildClock: Sendable {
    let wall = Atomic<Int64>(0)
    let uptime = Atomic<UInt64>(0)

    var clock: Options.Clock {
      Options.Clock(
        now: { [self] in WallTime(millisecondsSince1970: wall.load(ordering: .relaxed)) },
        uptimeNanoseconds: { [self] in uptime.load(ordering: .relaxed) }
      )
    }
  }

  private static let instants: [Int64] = [.min, .min + 1, -1, 0, 1, 1_700_000_000_000, .max - 1, .max]
  private static let uptimes: [(UInt64, UInt64)] = [
    (0, .max), (.max, 0), (.max - 5, 5_000_000), (1 << 63, 0), (5, 4),
  ]

  @Test func aClockAtItsEnds() throws {
    for first in Self.instants {
      for second in Self.instants {
        for (start, end) in Self.uptimes {
          let moment = "\(first), then \(second); uptime \(start), then \(end)"
          let clock = WildClock()
          clock.wall.store(first, ordering: .relaxed)
          clock.uptime.store(start, ordering: .relaxed)
          let machine = Machine()
          func open() throws -> LogStore { try machine.open { $0.clock = clock.clock } }
          let store = try open()
          try store.put("v", forKey: "forever")
          try store.put("v", forKey: "for a while", expiry: .after(.seconds(1)))
          let before = store.time
          clock.wall.store(second, ordering: .relaxed)
          clock.uptime.store(end, ordering: .relaxed)
          #expect(store.time >= before, "\(moment)")
          #expect(try store.get("forever") != nil, "\(moment)")
          _ = try store.get("for a while", extendingBy: .seconds(1))
          _ = try store.default.countExpired()
          try store.removeAllExpired()
          try store.merge()
          try store.close()
          let again = try open()
          #expect(try again.get("forever") != nil, "\(moment)")
          #expect(again.time >= before, "\(moment)")
          try again.resetClock()
          // The last instant is that of what never expires.
          #expect(again.time == WallTime(millisecondsSince1970: min(second, .max - 1)), "\(moment)")
          try again.close()
        }
      }
    }
  }

  @Test func aMonotonicClockThatGoesBackExpiresNothing() throws {
    let clock = WildClock()
    clock.wall.store(1_000_000, ordering: .relaxed)
    clock.uptime.store(1_000_000_000, ordering: .relaxed)
    let store = try Machine().open { $0.clock = clock.clock }
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    clock.uptime.store(999_999_999, ordering: .relaxed)
    #expect(try store.get("k") != nil)
    #expect(store.time == WallTime(millisecondsSince1970: 1_000_000))
    try store.close()
  }
}
