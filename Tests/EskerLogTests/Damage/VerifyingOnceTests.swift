import EskerFormat
import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerLog

/// Large records are verified by the first read, and again after some time: damage under an open store is noticed then.
@Suite struct VerifyingOnceTests {
  private let machine = Machine()
  private let room = Room()

  /// How much memory there is for files.
  private final class Room: Sendable {
    private let bytes = Mutex<Int?>(nil)

    func set(_ value: Int?) { bytes.withLock { $0 = value } }
    func get() -> Int? { bytes.withLock { $0 } }
  }

  /// The time in which each large record is verified at least once.
  private static let round: Int64 = 68_720

  /// A value that cannot be compressed, unlike any other.
  private func value(_ number: Int, count: Int = 6_000) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(number))
    return random.bytes(count)
  }

  private func open(_ change: (inout Options) -> Void = { _ in }) throws -> LogStore {
    var host = machine.host
    host.platform.pageCacheRoom = { [room] in room.get() }
    let options = machine.options {
      $0.merge.isAutomatic = false
      change(&$0)
    }
    return try LogStore(at: machine.path, options: options, host: host)
  }

  /// Flips a bit in the middle of a value, in the store's files and so in memory; returns the value then.
  @discardableResult
  private func damage(_ value: [UInt8]) throws -> [UInt8] {
    for path in try machine.files(".segment") {
      let file = try machine.disk.open(path, .readWrite)
      let bytes = try file.bytes(in: 0..<file.status().size)
      guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: value.prefix(64)) }) else { continue }
      let middle = value.count / 2
      try file.writeAll([value[middle] ^ 1], at: start + middle)
      var damaged = value
      damaged[middle] ^= 1
      return damaged
    }
    throw StoreError.closed
  }

  /// Every way to read the key throws that it is damaged.
  private func expectDamage(_ store: LogStore, _ key: String, _ location: SourceLocation = #_sourceLocation) {
    for read in ways {
      #expect(sourceLocation: location) {
        _ = try read(store, key)
      } throws: { error in
        guard case StoreError.damaged = error else { return false }
        return true
      }
    }
  }

  /// No way to read the key notices that its value was damaged, since it was verified at the time `state` was taken.
  ///
  /// A page that another test of this process cannot read in has everything verified anew.
  private func expectTrust(
    _ store: LogStore,
    _ key: String,
    _ damaged: [UInt8],
    since state: UInt64?,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let values = ways.map { read in try? read(store, key) }
    guard store.probe.pagesState == state else { return }
    #expect(values.allSatisfy { $0 == damaged }, sourceLocation: location)
  }

  /// All ways to read the value of one key.
  private let ways: [@Sendable (LogStore, String) throws -> [UInt8]?] = [
    { store, key in try store.get(key) },
    { store, key in try store.get([key])[0] },
    { store, key in
      try store.withValue(forKey: key) { (span: RawSpan) in span.withUnsafeBytes { [UInt8]($0) } }
    },
    { store, key in
      var buffer = [UInt8](repeating: 0, count: 100_000)
      let length = try buffer.withUnsafeMutableBytes { try store.get(key, into: $0) }
      return length.map { [UInt8](buffer[..<$0]) }
    },
  ]

  @Test func theFirstReadTells() throws {
    let store = try open()
    for number in 0..<ways.count {
      try store.put(value(number), forKey: "key \(number)")
      try damage(value(number))
      #expect(throws: StoreError.self) { _ = try ways[number](store, "key \(number)") }
    }
  }

  @Test func laterReadsTellOnceTheirRoundHasEnded() throws {
    let store = try open()
    let state = store.probe.pagesState
    for number in 0..<ways.count {
      try store.put(value(number), forKey: "key \(number)")
      #expect(try ways[number](store, "key \(number)") == value(number))
    }
    for number in 0..<ways.count {
      expectTrust(store, "key \(number)", try damage(value(number)), since: state)
    }
    machine.clock.advance(milliseconds: Self.round)
    for number in 0..<ways.count { expectDamage(store, "key \(number)") }
  }

  @Test func whereReadsDoNotRememberEachOneTells() throws {
    for policy in [Options.Verification.everyRead, .openingOnly] {
      let store = try open { $0.verification = policy }
      try store.put(value(1), forKey: "key")
      for read in ways { #expect(try read(store, "key") == value(1)) }
      let damaged = try damage(value(1))
      if policy == .everyRead { expectDamage(store, "key") } else { #expect(try store.get("key") == damaged) }
      store.probe.kill()
      for path in try machine.disk.list(machine.path) { try machine.disk.remove("\(machine.path)/\(path)") }
    }
  }

  @Test func eachReadOfASmallRecordTells() throws {
    let store = try open()
    try store.put(value(1, count: 4_000), forKey: "key")
    #expect(try store.get("key") == value(1, count: 4_000))
    try damage(value(1, count: 4_000))
    expectDamage(store, "key")
  }

  @Test func beyondMemoryEachReadTells() throws {
    let store = try open()
    try store.put(value(1), forKey: "key")
    room.set(0)
    store.probe.reviewPages()
    #expect(store.probe.isBeyondMemory)
    let isRight = try store.get("key") == value(1)
    #expect(isRight)
    try damage(value(1))
    expectDamage(store, "key")
  }

  @Test func whatWasVerifiedBeforeTheStoreOutgrewMemoryCountsForNothingAfterwards() throws {
    let store = try open()
    let state = store.probe.pagesState
    try store.put(value(1), forKey: "key")
    #expect(try store.get("key") == value(1))
    expectTrust(store, "key", try damage(value(1)), since: state)
    room.set(0)
    store.probe.reviewPages()
    room.set(1 << 30)
    store.probe.reviewPages()
    #expect(!store.probe.isBeyondMemory)
    expectDamage(store, "key")
  }

  /// Both begin in the same page, and the damage makes the small one look large.
  @Test func aSmallRecordBesideALargeOneIsNotTrusted() throws {
    let store = try open()
    let small = value(1, count: 100)
    try store.put(small, forKey: "small")
    try store.put(value(2, count: 20_000), forKey: "large")
    #expect(try store.get("large") != nil)
    let segment = try #require(store.probe.segments.last.flatMap { store.probe.hold($0.id) })
    let offset = try #require(segment.offset(of: small)) - bytes("small").count - RecordLayout.headerLength
    // The second byte of the value's length: 4,096 more.
    segment.store(16, at: offset + 25)
    expectDamage(store, "small")
  }

  @Test func packedValuesThatAreStoredAsTheyAreAreVerifiedOnceToo() throws {
    let store = try open { $0.compression = .lz4 }
    for number in 0..<ways.count { try store.put(value(number), forKey: "key \(number)") }
    try store.merge()
    #expect(store.statistics.segments.contains { $0.isPacked })
    try damage(value(0))
    expectDamage(store, "key 0")
    for number in 1..<ways.count {
      let state = store.probe.pagesState
      #expect(try ways[number](store, "key \(number)") == value(number))
      expectTrust(store, "key \(number)", try damage(value(number)), since: state)
    }
    machine.clock.advance(milliseconds: Self.round)
    for number in 0..<ways.count { expectDamage(store, "key \(number)") }
  }

  @Test func whatAMergeHasCopiedIsVerifiedAnew() throws {
    let store = try open()
    try store.put(value(1), forKey: "key")
    #expect(try store.get("key") == value(1))
    try store.probe.endTail()
    let before = store.probe.segments.map(\.path)
    try store.merge(segments: store.probe.segments.map(\.id))
    store.probe.collect()
    let copy = try #require(store.probe.segments.first { !before.contains($0.path) && $0.liveRecords > 0 })
    let held = try #require(store.probe.hold(copy.id))
    #expect(held.offset(of: value(1)) != nil)
    try damage(value(1))
    expectDamage(store, "key")
  }

  @Test func eachOpeningVerifiesByItself() throws {
    let store = try open()
    try store.put(value(1), forKey: "key")
    let reader = try open { $0.readOnly = true }
    #expect(try reader.count() == 1)
    let state = store.probe.pagesState
    #expect(try store.get("key") == value(1))
    let damaged = try damage(value(1))
    expectDamage(reader, "key")
    expectTrust(store, "key", damaged, since: state)
    try reader.close()
  }

  @Test func walksVerifyAlways() throws {
    let store = try open()
    try store.put(value(1), forKey: "key")
    #expect(try store.get("key") == value(1))
    try damage(value(1))
    #expect(throws: StoreError.self) { try store.contents() }
    #expect(try !store.verify().isClean)
    try store.probe.endTail()
    #expect(throws: StoreError.self) { try store.merge(segments: store.probe.segments.map(\.id)) }
    #expect(throws: StoreError.self) { try store.backup(to: "/backup", copying: true) }
  }
}
