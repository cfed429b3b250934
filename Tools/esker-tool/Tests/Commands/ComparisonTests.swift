import Esker
import EskerCBOR
import Foundation
import Testing

/// Conditions on instants, UUIDs and numbers, which are compared as what they are and not as text.
@Suite struct ComparisonTests {
  private struct Event: Codable {
    var made: Date
    var id: UUID
    var count: Int
    var dates: [Date] = []
  }

  private static let id = "3F2504E0-4F89-11D3-9A0C-0305E82C3301"

  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let events = try store.storage("events", of: Event.self)
    let id = try #require(UUID(uuidString: Self.id))
    let day = Date(timeIntervalSince1970: 172_800)
    try events.set(Event(made: day, id: id, count: 500, dates: [day]), forKey: "day")
    try events.set(Event(made: day + 0.123_456, id: UUID(), count: 7), forKey: "fraction")
    try store.storage("dates", of: Date.self).set(day, forKey: "day")
    try store.put(#"{"made":"1970-01-03T00:00:00Z","id":"\#(Self.id)"}"#, forKey: "document")
    try store.close()
    return scratch
  }

  @Test func storedByATypedStorage() throws {
    let scratch = try filled()
    for (condition, key) in [
      ("made = 1970-01-03T00:00:00Z", "day"), ("made = 1970-01-03T00:00:00.000000Z", "day"),
      ("made = 1970-01-03T01:00:00+01:00", "day"), ("made = 1970-01-02T23:00:00.0-0100", "day"),
      ("made = 1970-01-03T02:00+02", "day"), ("made = 1970-01-03", "day"),
      ("made < 1970-01-03T00:00:00Z", ""), ("made <= 1970-01-03T00:00:00Z", "day"),
      ("made > 1970-01-03T00:00:00Z", "fraction"), ("made = 1970-01-03T00:00:00.123456Z", "fraction"),
      ("made > 1970-01-03T00:00:00.123456Z", ""), ("made != 1970-01-03T00:00:00Z", "fraction"),
      ("id = 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "day"), ("id != 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "fraction"),
      (#"count >= "500""#, "day"), (#"count = "7""#, "fraction"), (#"count < "x""#, ""),
      ("dates ~ 1970-01-03T01:00:00+01:00", "day"), ("made = yesterday", ""),
    ] {
      let result = try scratch.run("list", scratch.store, "--keyspace", "events", "--where", condition)
      #expect(result.status == 0 && result.lines == (key.isEmpty ? [] : [key]), "\(condition): \(result.lines)")
    }
  }

  @Test func inDocumentsAndAsWholeValues() throws {
    let scratch = try filled()
    for (condition, count) in [
      ("made = 1970-01-03T01:00:00+01:00", 1), ("made < 1970-01-03T00:00:00.000Z", 0), ("made > 1970-01-02", 1),
      ("id = 3f2504e0-4f89-11d3-9a0c-0305e82c3301", 1), ("made ~ 1970-01", 1), ("id ~ 4F89", 1),
    ] {
      #expect(try scratch.run("count", scratch.store, "--where", condition).text == "\(count)\n", "\(condition)")
    }
    let arguments = ["count", scratch.store, "--keyspace", "dates", "--where"]
    #expect(try scratch.run(arguments + [". = 1970-01-03T02:00:00+02:00"]).text == "1\n")
    #expect(try scratch.run(arguments + [". < 1970-01-03T00:00:00Z"]).text == "0\n")
  }
}
