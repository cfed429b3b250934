import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A store whose records are packed, and what it should hold.
struct PackedStore {
  typealias Key = [UInt8]

  var machine = Machine()
  let store: LogStore
  var expected: [String: [Key: [UInt8]]] = [:]
  static let spaces = ["", "other"]

  /// Fills a store with values of all sorts, of which some are overwritten or removed, and packs all of it.
  init(_ count: Int, seed: UInt64 = 5) throws {
    store = try machine.open { $0.compression = .lz4 }
    var random = SeededGenerator(seed: seed)
    for number in 0..<count {
      let space = Self.spaces[number % 5 == 0 ? 1 : 0]
      let key = bytes("key \(Int.random(in: 0..<max(1, count * 2 / 3), using: &random))")
      let keyspace = space.isEmpty ? store.default : try store.keyspace(space)
      if random.oneIn(9) {
        try keyspace.remove(key)
        expected[space]?[key] = nil
        continue
      }
      let value = Self.value(number, &random)
      try keyspace.put(value, forKey: key, expiry: random.oneIn(4) ? .after(.seconds(1_000)) : .never)
      expected[space, default: [:]][key] = value
    }
    try store.merge()
  }

  static func value(_ number: Int, _ random: inout SeededGenerator) -> [UInt8] {
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      let count = Int.random(in: 0...2_000, using: &random)
      return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    case 1...3: return bytes("tiny \(number)")
    case 4: return []
    default:
      let cast = (0..<4).map { "\"Actor \(number * 7 % (41 + $0))\"" }.joined(separator: ",")
      return bytes(
        "{\"title\":\"Film \(number)\",\"year\":\(1900 + number % 60),\"cast\":[\(cast)],\"genres\":[\"Drama\",\"Silent\"],"
          + "\"thumbnail\":\"https://upload.example.org/wikipedia/commons/\(number % 311).jpg\"}"
      )
    }
  }

  /// Segments that are packed.
  static func packed(_ store: LogStore) -> [Statistics.SegmentFigures] { store.statistics.segments.filter(\.isPacked) }

  /// Asks a store for everything, in every way.
  func check(_ store: LogStore, _ what: String) throws {
    for space in Self.spaces {
      let keyspace = try store.keyspace(space)
      let expected = expected[space] ?? [:]
      #expect(try keyspace.count() == expected.count, "\(what)")
      let keys = Array(expected.keys)
      #expect(try keyspace.get(keys) == keys.map { expected[$0] }, "\(what)")
      for (key, value) in expected {
        #expect(try keyspace.get(key) == value, "\(what)")
        #expect(try keyspace.contains(key), "\(what)")
        #expect(try keyspace.metadata(forKey: key)?.length == value.count, "\(what)")
        #expect(try keyspace.withValue(forKey: key) { $0.withUnsafeBytes { [UInt8]($0) } } == value, "\(what)")
        var buffer = [UInt8](repeating: 0, count: value.count / 2)
        let length = try buffer.withUnsafeMutableBytes { try keyspace.get(key, into: $0) }
        #expect(length == value.count && buffer == Array(value.prefix(buffer.count)), "\(what)")
        buffer = [UInt8](repeating: 0, count: value.count + 3)
        _ = try buffer.withUnsafeMutableBytes { try keyspace.get(key, into: $0) }
        #expect(Array(buffer.prefix(value.count)) == value, "\(what)")
      }
      #expect(try keyspace.get("never written") == nil)
      #expect(try store.snapshot().contents(of: space) == expected, "\(what)")
    }
    #expect(try store.verify().isClean, "\(what)")
    guard store.statistics.openSnapshots == 0 else { return }
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount, "\(what)")
  }
}
