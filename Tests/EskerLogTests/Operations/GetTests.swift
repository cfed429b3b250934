import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct GetTests {
  let store: LogStore

  init() throws {
    store = try Machine().open()
    try store.put("Vienna", forKey: "at")
    try store.put([UInt8](), forKey: "empty")
  }

  @Test func getCopiesTheValue() throws {
    #expect(try store.get("at") == bytes("Vienna"))
    #expect(try store.get("empty") == [])
    #expect(try store.get("absent") == nil)
  }

  @Test func getIntoABufferFillsItAndReturnsTheWholeLength() throws {
    var buffer = [UInt8](repeating: 0xFF, count: 8)
    #expect(try buffer.withUnsafeMutableBytes { try store.get("at", into: $0) } == 6)
    #expect(buffer == bytes("Vienna") + [0xFF, 0xFF])
    #expect(try buffer.withUnsafeMutableBytes { try store.get("absent", into: $0) } == nil)
    #expect(try buffer.withUnsafeMutableBytes { try store.get("empty", into: $0) } == 0)
    #expect(buffer == bytes("Vienna") + [0xFF, 0xFF])
  }

  @Test func getIntoAShortBufferCopiesAPartAndReturnsTheWholeLength() throws {
    var buffer = [UInt8](repeating: 0xFF, count: 4)
    let length = try buffer.withUnsafeMutableBytes { all in
      try store.get("at", into: UnsafeMutableRawBufferPointer(rebasing: all[..<3]))
    }
    #expect(length == 6)
    #expect(buffer == bytes("Vie") + [0xFF])
    #expect(try store.get("at", into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) == 6)
  }

  @Test func withValueLendsTheBytes() throws {
    let length = try store.withValue(forKey: "at") { (span) throws(StoreError) in span.byteCount }
    #expect(length == 6)
    #expect(try store.withValue(forKey: "empty") { (span) throws(StoreError) in span.byteCount } == 0)
    #expect(try store.withValue(forKey: "absent") { (span) throws(StoreError) in span.byteCount } == nil)
  }

  @Test func withEntryLendsAValueAndWhatIsKnownOfIt() throws {
    let expiry = Expiry.at(WallTime(millisecondsSince1970: 9_000_000_000_000))
    let version = try store.put("Wien", forKey: "at", expiry: expiry)
    let known = try store.withEntry(forKey: "at") { (span, known) throws(StoreError) -> ValueMetadata in
      #expect(span.byteCount == 4)
      return known
    }
    #expect(known?.length == 4 && known?.version == version && known?.expiry == expiry)
    #expect(try store.withEntry(forKey: "at") { (_, known) in known } == store.metadata(forKey: "at"))
    #expect(try store.withEntry(forKey: "absent") { (_, known) throws(StoreError) in known } == nil)
    struct Foreign: Error {}
    #expect(throws: Foreign.self) { try store.withEntry(forKey: "at") { (_, _) in throw Foreign() } }
  }

  @Test func withValuePassesOnForeignErrors() throws {
    struct Foreign: Error {}
    #expect(throws: Foreign.self) { try store.withValue(forKey: "at") { _ in throw Foreign() } }
    #expect(throws: StoreError.cancelled) {
      try store.withValue(forKey: "at") { (_) throws(StoreError) -> Int in throw .cancelled }
    }
  }

  /// Small values are copied to the stack, others are lent from where they are.
  @Test func withValueAndWithEntryLendValuesOfEachLength() throws {
    for length in [1, 511, 512, 513, 4095, 4096, 70_000] {
      let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) }
      let version = try store.put(value, forKey: "at")
      #expect(try store.withValue(forKey: "at") { $0.withUnsafeBytes { [UInt8]($0) } } == value)
      let entry = try store.withEntry(forKey: "at") { (span, known) throws(StoreError) -> [UInt8] in
        #expect(known.length == length && known.version == version)
        return span.withUnsafeBytes { [UInt8]($0) }
      }
      #expect(entry == value)
    }
  }

  @Test(arguments: [6, 512, 513, 4000])
  func withValueStaysValidWhileTheKeyIsOverwrittenRemovedAndTheLogRotates(length: Int) throws {
    let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try store.put(value, forKey: "at")
    let seen = try store.withValue(forKey: "at") { (span) throws(StoreError) -> [UInt8] in
      try store.put("Graz", forKey: "at")
      for number in 0..<100 { try store.put([UInt8](repeating: 1, count: 4000), forKey: "filler \(number % 3)") }
      // In room of its own.
      #expect(try store.withValue(forKey: "filler 0") { (other) throws(StoreError) in other.byteCount } == 4000)
      #expect(try store.withValue(forKey: "at") { (other) throws(StoreError) in other.byteCount } == 4)
      try store.remove("at")
      return span.withUnsafeBytes { [UInt8]($0) }
    }
    #expect(seen == value)
    #expect(try store.get("at") == nil)
  }

  @Test func multiGetAnswersInOrderWithDuplicatesAndAbsentKeys() throws {
    for number in 0..<50 { try store.put("value \(number)", forKey: "key \(number)") }
    var keys = (0..<70).map { "key \($0)" }
    keys += ["key 3", "key 3", "absent", "", "key 49"]
    let values = try store.get(keys)
    #expect(values.count == keys.count)
    for (key, value) in zip(keys, values) { #expect(try store.get(key) == value) }
    #expect(values[49] == bytes("value 49"))
    #expect(values[50] == nil)
    #expect(values[70] == values[71])
    #expect(try store.get([String]()) == [])
  }

  @Test func multiGetFindsValuesOfEveryLengthAmongManyKeys() throws {
    let count = 20_000
    // Full enough that many a key stands on an overflow line; values from none to several lines of the cache.
    func value(_ number: Int) -> [UInt8] {
      let length = number % 9 == 0 ? number % 1_500 : number % 70
      return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
    }
    for number in 0..<count { try store.put(value(number), forKey: "key \(number)") }
    try store.put("late", forKey: "key 5", expiry: .at(WallTime(millisecondsSince1970: 1)))
    for size in [1, 3, 31, 32, 33, 1_000] {
      for start in stride(from: 0, to: count, by: 997 * size) {
        let numbers = (0..<size).map { (start + $0 * 7_919) % (count + count / 8) }
        let values = try store.get(numbers.map { "key \($0)" })
        for (number, found) in zip(numbers, values) {
          #expect(found == (number < count && number != 5 ? value(number) : nil), "key \(number) of \(size)")
        }
      }
    }
    #expect(try store.get((0..<40).map { "key \($0)" })[5] == nil)
  }

  @Test func withValuesLetsItsBodyWrite() throws {
    let keys = (0..<100).map { "key \($0)" }
    for key in keys { try store.put("old", forKey: key) }
    try store.withValues(forKeys: keys) { (position, span) throws(StoreError) in
      var seen: [UInt8]?
      if let span { seen = span.withUnsafeBytes { [UInt8]($0) } }
      #expect(seen == bytes("old") || seen == bytes("new"))
      try store.put("new", forKey: keys[(position + 1) % 100])
      for number in 0..<4 { try store.put([UInt8](repeating: 1, count: 4000), forKey: "filler \(number)") }
    }
    #expect(try store.get(keys) == [[UInt8]?](repeating: bytes("new"), count: 100))
  }

  @Test func withValuesDeliversEachKeyOnceInOrder() throws {
    let keys = (0..<40).map { $0 % 3 == 0 ? "at" : "absent" }
    var positions: [Int] = []
    try store.withValues(forKeys: keys) { (position, span) throws(StoreError) in
      positions.append(position)
      let length = span?.byteCount
      #expect(length == (position % 3 == 0 ? 6 : nil))
    }
    #expect(positions == Array(0..<40))
  }

  @Test func withValuesStopsWhenTheBodyThrows() throws {
    var seen = 0
    #expect(throws: StoreError.cancelled) {
      try store.withValues(forKeys: ["at", "at", "at"]) { (_, _) throws(StoreError) in
        seen += 1
        if seen == 2 { throw .cancelled }
      }
    }
    #expect(seen == 2)
  }

  @Test func metadataTellsLengthVersionAndExpiry() throws {
    let version = try store.put("12345", forKey: "k", expiry: .at(WallTime(millisecondsSince1970: 4_000_000_000_000)))
    #expect(
      try store.metadata(forKey: "k")
        == ValueMetadata(
          length: 5,
          version: version,
          expiry: .at(WallTime(millisecondsSince1970: 4_000_000_000_000))
        )
    )
    #expect(try store.metadata(forKey: "at")?.expiry == .never)
    #expect(try store.metadata(forKey: "absent") == nil)
    #expect(try store.contains("k"))
    #expect(try !store.contains("absent"))
  }
}
