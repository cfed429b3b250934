import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What a closed store takes on disk, and how it opens without a checkpoint.
@Suite struct SmallStoreTests {
  let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
  }

  /// Stores values of 100 bytes and closes the store.
  private func fill(_ count: Int) throws {
    let store = try LogStore(at: path)
    for number in 0..<count { try store.put([UInt8](repeating: 1, count: 100), forKey: "key \(number)") }
    try store.close()
  }

  /// Bytes of the store's files.
  private func length() throws -> Int {
    let files = OSFileSystem()
    return try files.list(path).reduce(0) { try $0 + (files.status("\(path)/\($1)")?.size ?? 0) }
  }

  /// Opens the store, counts its keys, and closes it.
  private func opening(_ count: Int) throws -> Report.Opening {
    let log = EventLog()
    var options = Options()
    options.onEvent = { log.record($0) }
    let store = try LogStore(at: path, options: options)
    #expect(try store.count() == count)
    #expect(try store.get("key \(count - 1)")?.count == 100)
    #expect(try store.contents().count == count)
    try store.close()
    return try #require(log.opening)
  }

  @Test(arguments: [(1, 13 << 10), (1000, 160_000)]) func aSmallStoreTakesLittle(_ count: Int, _ most: Int) throws {
    try fill(count)
    #expect(try length() <= most)
    for _ in 0..<2 {
      let report = try opening(count)
      #expect(report.wasClean)
      #expect(report.indexSource == .segments)
      #expect(report.replayedRecords == count)
      #expect(try length() <= most, "an opening that writes nothing adds nothing")
    }
  }

  @Test func aLargerStoreOpensFromACheckpoint() throws {
    try fill(10_000)
    #expect(try opening(10_000).indexSource == .checkpoint)
  }

  /// The records of what has expired and was removed are still in the log, and would bring it back.
  @Test func whatWasRemovedAsExpiredStaysRemoved() throws {
    let clock = FakeClock()
    func open() throws -> LogStore {
      var options = Options()
      options.clock = Options.Clock(clock)
      return try LogStore(at: path, options: options)
    }
    var store = try open()
    try store.put([1], forKey: "short", expiry: .after(.seconds(1)))
    try store.put([1], forKey: "long")
    try store.close()
    clock.advance(milliseconds: 2000)
    store = try open()
    #expect(try store.countExpired() == 1, "it was not removed yet")
    #expect(try store.removeExpired() == 1)
    try store.close()
    for _ in 0..<2 {
      store = try open()
      #expect(try store.countExpired() == 0)
      #expect(try store.removeExpired() == 0)
      try store.put([1], forKey: "another")
      try store.close()
    }
  }
}
