import EskerTestSupport

@testable import EskerLog

// Keys in order, beside the model's keys, sorted.
extension History {
  /// Ranges around one of the keys.
  private func ranges(around key: [UInt8]) -> [KeyRange] {
    [.all, .from(key), .after(key), .upTo(key), .through(key), .prefix(key), .after(key).through(keys.last ?? [])]
  }

  func checkOrder(of space: String) throws {
    let keyspace = try keyspace(space)
    let contents = model.contents(of: space)
    // Another key each time: whatever the history, all get their turn.
    for range in ranges(around: keys[Int(model.lastSequence) % keys.count]) {
      let expected = contents.filter { range.contains($0.key) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      let found = try keyspace.entries(in: range)
      try require(found.map(\.key) == expected.map(\.key), "'\(space)' has \(found.map(\.key)) in \(range)")
      try require(found.map(\.value) == expected.map(\.value), "'\(space)' has other values in \(range)")
      let backwards = try keyspace.keys(in: range, order: .descending)
      try require(backwards == expected.map(\.key).reversed(), "'\(space)' has \(backwards) in \(range), backwards")
      try require(try keyspace.count(in: range) == expected.count, "'\(space)' does not count \(expected.count)")
      let (first, last) = (try keyspace.first(in: range), try keyspace.last(in: range))
      try require(first?.key == expected.first?.key, "the first of '\(space)' is \(String(describing: first))")
      try require(last?.value == expected.last?.value, "the last of '\(space)' is \(String(describing: last))")
    }
  }

  func checkOrder(of snapshot: Snapshot, in space: String, _ contents: [[UInt8]: [UInt8]]) throws {
    let keyspace = try keyspace(space)
    for range in ranges(around: keys[Int(model.lastSequence) % keys.count]) {
      let expected = contents.filter { range.contains($0.key) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      let found = try snapshot.entries(in: keyspace, range).map { ($0.keyspace, try $0.key(), try $0.value()) }
      try require(found.map(\.1) == expected.map(\.key), "a snapshot of '\(space)' has \(found.map(\.1)) in \(range)")
      try require(found.map(\.2) == expected.map(\.value), "a snapshot of '\(space)' has other values in \(range)")
      let backwards = try snapshot.entries(in: keyspace, range, order: .descending).map { try $0.key() }
      try require(backwards == expected.map(\.key).reversed(), "a snapshot of '\(space)' has \(backwards), backwards")
    }
  }

  mutating func removeRange() throws {
    let (key, space) = (anyKey(), anySpace())
    guard let range = ranges(around: key).randomElement(using: &generator) else { return }
    log.append("remove \(range) in '\(space)'")
    let keyspace = try keyspace(space)
    var expected = 0
    for key in keys where range.contains(key) && model.visible(key, in: space) != nil {
      model.removeInBatch(key, in: space)
      expected += 1
    }
    let removed = try keyspace.removeAll(in: range)
    try require(removed == expected, "removed \(removed), not \(expected)")
  }
}
