import EskerFormat
import EskerTestSupport
import Testing

@testable import EskerLog

/// Visiting in place, and reading keys alone.
@Suite struct SnapshotVisitTests {
  let machine = Machine()

  private func visited(_ snapshot: Snapshot, in keyspace: String? = nil) throws -> [String] {
    var lines: [String] = []
    try snapshot.forEachEntry(in: keyspace) { entry in
      let name = entry.keyspace
      try entry.withBytes { (key, value) throws(StoreError) in
        lines.append("\(name)/\(text(key)) = \(text(value))")
      }
      return true
    }
    return lines.sorted()
  }

  private func iterated(_ snapshot: Snapshot) throws -> [String] {
    try snapshot.map { entry in
      "\(entry.keyspace)/\(String(decoding: try entry.key(), as: UTF8.self)) = "
        + String(decoding: try entry.value(), as: UTF8.self)
    }.sorted()
  }

  private func text(_ bytes: RawSpan) -> String {
    String(decoding: bytes.withUnsafeBytes { [UInt8]($0) }, as: UTF8.self)
  }

  /// A history in which some segments have only live records, some few and some many dead ones, read at several instants, some of
  /// them kept while more is written, and again after openings with and without a checkpoint.
  @Test func visitingShowsWhatADictionaryHolds() throws {
    var random = SeededGenerator(announcedFor: "visiting")
    var store = try machine.open { $0.merge.isAutomatic = false }
    var model: [String: String] = [:]
    var kept: [(snapshot: Snapshot, model: [String: String])] = []
    var next = 0
    for round in 0..<12 {
      let name = round % 3 == 2 ? "other" : ""
      let keyspace = name.isEmpty ? store.default : try store.keyspace(name)
      // Mostly new keys, so that segments are filled with live records alone; every few rounds, older ones as well.
      for _ in 0..<400 {
        let isOld = round % 4 == 3 && next > 0 && random.next() % 4 == 0
        let number = isOld ? Int(random.next() % UInt64(next)) : next
        if !isOld { next += 1 }
        let key = "key \(number)"
        if isOld, random.next() % 3 == 0 {
          try keyspace.remove(key)
          model["\(name)/\(key)"] = nil
        } else {
          let value = "\(random.next())"
          try keyspace.put(value, forKey: key)
          model["\(name)/\(key)"] = value
        }
      }
      let lines = model.map { "\($0.key) = \($0.value)" }.sorted()
      let snapshot = try store.snapshot()
      #expect(try visited(snapshot) == lines)
      #expect(try iterated(snapshot) == lines)
      #expect(try visited(snapshot, in: "other") == lines.filter { $0.hasPrefix("other/") })
      #expect(try visited(snapshot, in: "no such").isEmpty)
      if round % 3 == 1 { kept.append((snapshot, model)) }
      for (snapshot, model) in kept {
        #expect(try visited(snapshot) == model.map { "\($0.key) = \($0.value)" }.sorted())
      }
      if round % 5 == 4 {
        kept.removeAll()
        try store.close()
        store = try machine.open { $0.merge.isAutomatic = false }
        #expect(try visited(store.snapshot()) == lines)
      }
    }
    #expect(try store.snapshot().extents.count > 3)
  }

  @Test func segmentsOfLiveRecordsAreKnownAndLosingOneIsNoticed() throws {
    let store = try machine.open()
    for number in 0..<6000 { try store.put("value \(number)", forKey: "key \(number)") }
    let before = try store.snapshot()
    #expect(before.extents.indices.allSatisfy { before.isWhole($0) })
    try store.put("changed", forKey: "key 0")
    try store.remove("key 5999")
    let after = try store.snapshot()
    #expect(!after.isWhole(0))
    #expect(!after.isWhole(after.extents.count - 1))
    #expect(after.extents.count > 3 && after.isWhole(1))
    #expect(before.extents.indices.allSatisfy { before.isWhole($0) })
    #expect(try visited(before).count == 6000)
    #expect(try visited(after).count == 5999)
  }

  @Test func visitingEndsWhereItIsTold() throws {
    let store = try machine.open()
    for number in 0..<50 { try store.put("v", forKey: "key \(number)") }
    var seen = 0
    try store.snapshot().forEachEntry { _ in
      seen += 1
      return seen < 7
    }
    #expect(seen == 7)
  }

  @Test(arguments: [true, false]) func aKeyIsReadWithoutItsValue(isKeyDamaged: Bool) throws {
    let store = try machine.open()
    try store.put("value", forKey: "the key", durability: .synced)
    let segment = try #require(StoreProbe(store).hold(1))
    let place = try #require(segment.offset(of: bytes("the keyvalue")))
    segment.store(UInt8(ascii: "?"), at: isKeyDamaged ? place : place + 7)
    let entry = try #require(Array(store.snapshot()).first)
    #expect(entry.keyLength == 7)
    #expect(throws: StoreError.self) { try entry.value() }
    if isKeyDamaged {
      #expect(throws: StoreError.self) { try entry.key() }
      #expect(throws: StoreError.self) { try entry.withKey { (key) throws(StoreError) in key.byteCount } }
    } else {
      #expect(try entry.key() == bytes("the key"))
      #expect(try entry.withKey { (key) throws(StoreError) in key.byteCount } == 7)
    }
  }
}
