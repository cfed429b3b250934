import Esker
import EskerSwiftLog
import Foundation
import Logging
import Testing

@Suite struct SwiftLogTests {
  @Test func openingMergingAndClosingAreLogged() throws {
    try withTemporaryPath { path in
      let book = LogBook()
      let store = try LogStore(at: path, logger: book.logger)
      for _ in 0..<100 { try store.put([UInt8](repeating: 1, count: 1000), forKey: "a") }
      try store.merge()
      try store.close()
      let opened = try #require(book.line("store opened"))
      #expect(opened.level == .info && opened.metadata["store"] == "\(path)" && opened.metadata["keys"] == "0")
      let merged = try #require(book.line("merge ended"))
      #expect(merged.level == .info && merged.metadata["segments_removed"] != nil && merged.metadata["duration"] != nil)
      #expect(book.line("store closed")?.level == .info)
    }
  }

  @Test func recoveryAfterACrashIsANotice() throws {
    try withTemporaryPath { path in
      try withTemporaryPath { copy in
        let store = try LogStore(at: path)
        try store.put("1", forKey: "a", durability: .synced)
        // What a crash would leave.
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let book = LogBook()
        let recovered = try LogStore(at: copy, logger: book.logger)
        #expect(try recovered.get("a") == [0x31])
        let line = try #require(book.line("store recovered"))
        #expect(line.level == .notice && line.metadata["replayed_records"] == "1")
        try recovered.close()
        try store.close()
      }
    }
  }

  @Test func storeThatCannotBeOpenedIsAnError() throws {
    try withTemporaryPath { path in
      try Data("not a store".utf8).write(to: URL(fileURLWithPath: path))
      let book = LogBook()
      #expect(throws: StoreError.self) { try LogStore(at: path, logger: book.logger) }
      let line = try #require(book.lines.last)
      #expect(line.level == .error && line.metadata["error"] != nil && line.metadata["store"] == "\(path)")
    }
  }

  @Test(
    arguments: [
      (.syncFailed(errno: 5), .critical, ["errno": "5"]),
      (
        .damaged(StoreError.Location(path: "/x", segment: 3, offset: 64, key: Array("k".utf8)), reason: "checksum"),
        .error,
        ["path": "/x", "segment": "3", "offset": "64", "reason": "checksum"]
      ),
      (
        .backgroundFailure(
          operation: "merge",
          .damaged(StoreError.Location(path: "/x", offset: 64, key: Array("secret".utf8)), reason: "checksum")
        ), .warning,
        ["operation": "merge", "error": "damage in /x at offset 64: checksum"]
      ),
      (
        .cut(
          Report.Cut(
            segment: 2,
            offset: 128,
            sequence: SequenceNumber(rawValue: 9),
            records: 3,
            bytes: 96,
            discardedSegments: 1
          )
        ), .warning,
        [
          "segment": "2", "offset": "128", "sequence": "9", "records": "3", "bytes": "96", "discarded_segments": "1",
        ]
      ),
      (
        .backgroundFailure(operation: "merge", .closed), .warning,
        ["operation": "merge", "error": "\(StoreError.closed)"]
      ),
      (.clockJumped(forward: .seconds(90)), .warning, ["forward": "90.0 seconds"]),
      (.segmentSealed(id: 1, bytes: 2, records: 3), .debug, ["segment": "1", "bytes": "2", "records": "3"]),
      (.mergeBegan(segments: [1, 2]), .debug, ["segments": ["1", "2"]]),
      (.evicted(records: 4, bytes: 5), .debug, ["records": "4", "bytes": "5"]),
      (
        .checkpointWritten(sequence: SequenceNumber(rawValue: 6), bytes: 7), .debug, ["sequence": "6", "bytes": "7"]
      ),
    ] as [(StoreEvent, Logger.Level, Logger.Metadata)]
  )
  func eventsHaveTheirLevelAndTheirFigures(event: StoreEvent, level: Logger.Level, metadata: Logger.Metadata) throws {
    let book = LogBook()
    let heard = LogBook()
    var options = Options()
    options.onEvent = { heard.write(LogBook.Line(level: .info, message: "\($0)", metadata: [:])) }
    options.logEvents(to: book.logger)
    options.onEvent?(event)
    let line = try #require(book.lines.first)
    #expect(line.level == level && line.metadata == metadata && !line.message.isEmpty)
    // Whoever listened before still does.
    #expect(heard.lines.count == 1 && book.lines.count == 1)
  }

  @Test func callsThatFailOrAreSlowStandOut() throws {
    let book = LogBook()
    let memory = MemoryStorage<String, Int>()
    try memory.logging(to: book.logger).set(1, forKey: "secret")
    #expect(book.lines.last?.level == .trace && book.lines.last?.metadata["call"] == "set")
    _ = try memory.logging(to: book.logger, slow: .zero).value(forKey: "secret")
    #expect(book.lines.last?.level == .warning && book.lines.last?.metadata["found"] == "true")
    let failing = CustomStorage<String, Int>(name: "remote", get: { _ in throw CancellationError() }, set: { _, _ in })
    _ = try? failing.logging(to: book.logger).value(forKey: "secret")
    #expect(book.lines.last?.level == .error && book.lines.last?.metadata["storage"] == "remote")
    #expect(!"\(book.lines)".contains("secret"))
  }

  @Test func keysAndValuesThatFailAreNotLogged() throws {
    try withTemporaryPath { path in
      let book = LogBook()
      let store = try LogStore(at: path)
      let texts = try store.storage("texts", of: String.self)
      try texts.set("secret", forKey: "secret")
      let numbers = try store.storage("texts", transformer: Transformer<Int>.json)
      #expect(throws: StorageError.self) { try numbers.logging(to: book.logger).value(forKey: "secret") }
      #expect(book.lines.last?.metadata["error"] == "texts: a value that is kept is not Int (json): DecodingError")
      let picky = texts.validate { text in throw Objection(text: text) }
      #expect(throws: StorageError.self) { try picky.logging(to: book.logger).set("secret", forKey: "secret") }
      #expect(book.lines.last?.metadata["error"] == "texts: a value was rejected: Objection")
      let damaged = StoreError.damaged(StoreError.Location(path: "/x", key: Array("secret".utf8)), reason: "checksum")
      let failing = CustomStorage<String, Int>(name: "remote", get: { _ in throw damaged }, set: { _, _ in })
      #expect(throws: StorageError.self) { try failing.logging(to: book.logger).value(forKey: "secret") }
      #expect(book.lines.last?.level == .error && !"\(book.lines)".contains("secret"))
      try store.close()
    }
  }

  private struct Objection: Error {
    let text: String
  }
}
