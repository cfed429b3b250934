import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct ExpiryTests {
  var machine = Machine()

  @Test func aJumpOfTheWallClockIsToldOnceAndOrdinaryTimeIsNot() throws {
    let log = EventLog()
    let store = try machine.open { $0.onEvent = { log.record($0) } }
    machine.clock.advance(milliseconds: 3_600_000)
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    #expect(!log.events.contains { if case .clockJumped = $0 { true } else { false } })
    machine.clock.setWall(milliseconds: machine.clock.wallMilliseconds() + 7_200_000)
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    #expect(log.events.filter { $0 == .clockJumped(forward: .seconds(7200)) }.count == 1)
  }

  @Test func aValueGoesAtItsInstantAndNotBefore() throws {
    let store = try machine.open()
    let now = machine.clock.wallMilliseconds()
    try store.put("v", forKey: "after", expiry: .after(.milliseconds(1500)))
    try store.put("v", forKey: "at", expiry: .at(WallTime(millisecondsSince1970: now + 1500)))
    machine.clock.advance(milliseconds: 1499)
    #expect(try store.get(["after", "at"]).allSatisfy { $0 != nil })
    machine.clock.advance(milliseconds: 1)
    #expect(try store.get(["after", "at"]).allSatisfy { $0 == nil })
    #expect(try !store.contains("after"))
    #expect(try store.metadata(forKey: "after") == nil)
    #expect(try store.withValue(forKey: "after") { (_) throws(StoreError) in 1 } == nil)
    #expect(try !store.remove("after"))
    #expect(try store.count() == 0)
    #expect(try store.countExpired() == 1)
  }

  @Test(arguments: [
    Expiry.at(WallTime(millisecondsSince1970: 0)), .at(WallTime(millisecondsSince1970: .min)),
    .at(WallTime(millisecondsSince1970: -1)), .after(.zero), .after(.seconds(-1)),
    .after(Duration(secondsComponent: .min, attosecondsComponent: 0)), .after(.nanoseconds(1)),
  ])
  func anExpiryInThePastMakesTheValueInvisibleAtOnce(_ expiry: Expiry) throws {
    let store = try machine.open()
    try store.put("older", forKey: "k")
    try store.put("v", forKey: "k", expiry: expiry)
    #expect(try store.get("k") == nil)
    #expect(try store.snapshot().contents() == [:])
    #expect(try store.putIfAbsent("new", forKey: "k", expiry: expiry) != nil)
    #expect(try store.get("k") == nil)
    var machine = machine
    #expect(try machine.reopenAfterKill().get("k") == nil)
  }

  @Test(arguments: [
    Expiry.at(WallTime(millisecondsSince1970: .max)), .at(WallTime(millisecondsSince1970: .max - 1)),
    .after(.seconds(100 * 365 * 86_400)), .after(Duration(secondsComponent: .max, attosecondsComponent: 0)), .never,
  ])
  func anExpiryFarAwayKeepsTheValue(_ expiry: Expiry) throws {
    var machine = machine
    let store = try machine.open()
    try store.put("v", forKey: "k", expiry: expiry)
    machine.clock.advance(milliseconds: 90 * 365 * 86_400_000)
    #expect(try store.get("k") == bytes("v"))
    #expect(try store.touch("k", expiry: expiry) != nil)
    #expect(try machine.reopenAfterKill().get("k") == bytes("v"))
  }

  @Test func expiresInAHundredYearsAndNotLater() throws {
    let store = try machine.open()
    try store.put("v", forKey: "k", expiry: .after(.seconds(100 * 365 * 86_400)))
    machine.clock.advance(milliseconds: 100 * 365 * 86_400_000)
    #expect(try store.get("k") == nil)
  }

  @Test(arguments: [Int64.min, -1, 0, Int64.max - 1, .max])
  func aClockAtItsLimitsDoesNotTrap(_ wall: Int64) throws {
    machine.clock.setWall(milliseconds: wall)
    var machine = machine
    var store = try machine.open()
    try store.put("v", forKey: "stays")
    try store.put("v", forKey: "brief", expiry: .after(.seconds(1)))
    machine.clock.advance(milliseconds: wall > 0 ? 0 : 5000)
    _ = try store.get("brief")
    #expect(try store.get("stays") == bytes("v"))
    try store.removeExpired()
    try store.resetClock()
    store = try machine.reopenAfterKill()
    try store.close()
    store = try machine.open()
    #expect(try store.get("stays") == bytes("v"))
  }

  @Test(arguments: [false, true]) func aSweepAtTheEndOfTimeLeavesWhatNeverExpires(inAllKeyspaces: Bool) throws {
    let store = try machine.open()
    let keyspace = try store.keyspace("k")
    for keys in [store.default, keyspace] {
      try keys.put("v", forKey: "stays")
      try keys.put("v", forKey: "brief", expiry: .after(.seconds(1)))
    }
    machine.clock.setWall(milliseconds: .max)
    #expect(try (inAllKeyspaces ? store.removeAllExpired() : keyspace.removeExpired() + store.removeExpired()) == 2)
    #expect(try store.get("stays") != nil && keyspace.get("stays") != nil && store.totalCount() == 2)
  }

  @Test func aClockSetBackShowsNothingThatHadExpired() throws {
    let store = try machine.open()
    try store.put("v", forKey: "k", expiry: .after(.seconds(10)))
    machine.clock.advance(milliseconds: 10_000)
    #expect(try store.get("k") == nil)
    machine.clock.setWall(milliseconds: 1_000_000_000_000)
    #expect(try store.get("k") == nil)
    // Store time goes on with the monotonic clock meanwhile.
    try store.put("v", forKey: "k2", expiry: .after(.seconds(5)))
    machine.clock.advance(milliseconds: 4999)
    #expect(try store.get("k2") != nil)
    machine.clock.advance(milliseconds: 1)
    #expect(try store.get("k2") == nil)
    try store.close()
    let again = try machine.open()
    #expect(try again.get("k") == nil)
    #expect(try again.get("k2") == nil)
  }

  @Test func whatASessionWithoutWritesSawExpireStaysExpired() throws {
    try machine.open().put("v", forKey: "k", expiry: .after(.seconds(10)))
    do {
      let store = try machine.open()
      machine.clock.advance(milliseconds: 10_000)
      #expect(try store.get("k") == nil)
    }
    machine.clock.setWall(milliseconds: 1_000_000_000_000)
    let log = EventLog()
    let again = try machine.open { $0.onEvent = { log.record($0) } }
    #expect(try again.get("k") == nil)
    #expect(log.opening?.indexSource == .checkpoint)
  }

  @Test func readingExtendsALifeByAnEighthOrMoreAtATime() throws {
    let store = try machine.open()
    try store.put("v", forKey: "k", expiry: .after(.milliseconds(800)))
    machine.clock.advance(milliseconds: 99)
    #expect(try store.get("k", extendingBy: .milliseconds(800)) == bytes("v"))
    #expect(store.lastSequence.rawValue == 1)
    machine.clock.advance(milliseconds: 1)
    #expect(try store.get("k", extendingBy: .milliseconds(800)) == bytes("v"))
    #expect(store.lastSequence.rawValue == 2)
    machine.clock.advance(milliseconds: 799)
    #expect(try store.get("k") == bytes("v"))
    machine.clock.advance(milliseconds: 1)
    #expect(try store.get("k", extendingBy: .milliseconds(800)) == nil)
    #expect(try store.get("k") == nil)
    #expect(store.lastSequence.rawValue == 2)
  }

  @Test(arguments: [Expiry.never, .after(.seconds(60)), .at(WallTime(millisecondsSince1970: .max))])
  func readingShortensNoLife(_ expiry: Expiry) throws {
    let store = try machine.open()
    try store.put("v", forKey: "k", expiry: expiry)
    let before = try store.metadata(forKey: "k")
    for duration in [
      Duration.seconds(59), .zero, .seconds(-1), Duration(secondsComponent: .min, attosecondsComponent: 0),
    ] {
      #expect(try store.get("k", extendingBy: duration) == bytes("v"))
    }
    #expect(try store.metadata(forKey: "k") == before)
    #expect(store.lastSequence.rawValue == 1)
    #expect(try store.get("absent", extendingBy: .seconds(1)) == nil)
  }

  @Test func aReapOutlivesACloseWithoutWrites() throws {
    try machine.open().put("v", forKey: "k", expiry: .after(.seconds(10)))
    do {
      let store = try machine.open()
      machine.clock.advance(milliseconds: 10_000)
      #expect(try store.removeExpired() == 1)
      #expect(try store.removeExpired() == 0)
    }
    let log = EventLog()
    let again = try machine.open { $0.onEvent = { log.record($0) } }
    #expect(try again.count() == 0)
    #expect(log.opening?.indexSource == .checkpoint)
    #expect(try again.verify().isClean)
  }

  @Test func aSessionThatStoredNothingKeepsTheTimeToo() throws {
    let store = try machine.open()
    machine.clock.advance(milliseconds: 5_000)
    let seen = store.time.millisecondsSince1970
    try store.close()
    machine.clock.setWall(milliseconds: 1_000_000_000_000)
    #expect(try machine.open().time.millisecondsSince1970 >= seen)
  }

  @Test func aReapOutlivesAKillAndAClockSetBack() throws {
    var machine = machine
    let store = try machine.open()
    try store.put("v", forKey: "k", expiry: .after(.seconds(10)))
    machine.clock.advance(milliseconds: 10_000)
    #expect(try store.removeExpired() == 1)
    machine.clock.setWall(milliseconds: 1_000_000_000_000)
    let again = try machine.reopenAfterKill()
    #expect(try again.get("k") == nil)
    try again.removeExpired()
    #expect(try again.count() == 0)
  }

  @Test func resetClockFollowsTheWallBackOnce() throws {
    var machine = machine
    let start = machine.clock.wallMilliseconds()
    let store = try machine.open()
    // The wall clock is set wrong by ten years, and corrected.
    machine.clock.setWall(milliseconds: start + 315_360_000_000)
    try store.put("v", forKey: "seen", expiry: .after(.seconds(1)))
    machine.clock.setWall(milliseconds: start)
    try store.put("v", forKey: "at", expiry: .at(WallTime(millisecondsSince1970: start + 1000)))
    #expect(try store.get("at") == nil)
    try store.resetClock()
    #expect(try store.get("at") == bytes("v"))
    try store.put("w", forKey: "k", expiry: .after(.seconds(1)))
    machine.clock.advance(milliseconds: 999)
    #expect(try store.get("k") == bytes("w"))
    let again = try machine.reopenAfterKill()
    #expect(try again.get("k") == bytes("w"))
    machine.clock.advance(milliseconds: 1)
    #expect(try again.get("k") == nil)
  }

  @Test func removeExpiredTakesOnlyItsKeyspaceAndOnlyWhatExpired() throws {
    let store = try machine.open()
    let other = try store.keyspace("other")
    for number in 0..<100 {
      try store.put("v", forKey: "\(number)", expiry: .after(.seconds(number % 2 == 0 ? 1 : 100)))
      try other.put("v", forKey: "\(number)", expiry: .after(.seconds(1)))
    }
    try store.put("v", forKey: "never")
    machine.clock.advance(milliseconds: 1000)
    #expect(try store.countExpired() == 50)
    #expect(try store.removeExpired() == 50)
    #expect(try store.count() == 51)
    #expect(try other.count() == 0 && other.countExpired() == 100)
    #expect(try store.removeExpired() == 0)
    #expect(try store.removeAllExpired() == 100)
    #expect(try store.totalCount() == 51)
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
  }

  @Test func anExpiredValueShadowsTheOlderOneThatLivesLonger() throws {
    var machine = machine
    var store = try machine.open()
    try store.put("old", forKey: "k")
    try store.put("new", forKey: "k", expiry: .after(.seconds(1)))
    machine.clock.advance(milliseconds: 1000)
    #expect(try store.get("k") == nil)
    try store.removeExpired()
    #expect(try store.get("k") == nil)
    store = try machine.reopenAfterKill()
    #expect(try store.get("k") == nil)
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open()
    #expect(try store.get("k") == nil)
    #expect(try store.contents() == [:])
  }

  @Test func wallTimeAdvancesWithinItsLimits() {
    let time = WallTime(millisecondsSince1970: 1000)
    #expect(time.advanced(by: .milliseconds(500)).millisecondsSince1970 == 1500)
    #expect(time.advanced(by: .microseconds(1999)).millisecondsSince1970 == 1001)
    #expect(time.advanced(by: .seconds(-2)).millisecondsSince1970 == -1000)
    #expect(time.advanced(by: Duration(secondsComponent: .max, attosecondsComponent: 0)).millisecondsSince1970 == .max)
    let far = WallTime(millisecondsSince1970: .min)
    #expect(far.advanced(by: Duration(secondsComponent: .min, attosecondsComponent: 0)).millisecondsSince1970 == .min)
    #expect(Duration(secondsComponent: .max, attosecondsComponent: 0).wholeNanoseconds == .max)
    #expect(Duration.seconds(-1).wholeNanoseconds == 0)
    #expect(Duration.milliseconds(3).wholeNanoseconds == 3_000_000)
  }
}
