import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct StorageKeyTests {
  private func bytes<Key: StorageKey>(_ key: Key) throws -> [UInt8] { try Key.keyTransformer.encode(key) }

  private func comesBack<Key: StorageKey>(_ key: Key) throws -> Bool {
    try Key.keyTransformer.decode(try bytes(key)) == key
  }

  @Test func integersHaveTheOrderOfTheirNumbers() throws {
    let numbers = [Int.min, -1_000_000, -256, -255, -1, 0, 1, 255, 256, 1_000_000, .max]
    for (left, right) in zip(numbers, numbers.dropFirst()) {
      #expect(try bytes(left).lexicographicallyPrecedes(try bytes(right)), "\(left) \(right)")
      #expect(try comesBack(left) && comesBack(right))
    }
    #expect(try bytes(UInt16(258)) == [1, 2])
    #expect(try bytes(Int8(-128)) == [0])
  }

  @Test func wideIntegersHaveTheOrderOfTheirNumbers() throws {
    let numbers = [Int128.min, -(1 << 100), Int128(Int64.min), -1, 0, 1, Int128(UInt64.max) + 1, .max]
    for (left, right) in zip(numbers, numbers.dropFirst()) {
      #expect(try bytes(left).lexicographicallyPrecedes(try bytes(right)), "\(left) \(right)")
      #expect(try comesBack(left) && comesBack(right))
      #expect(try bytes(left).withBytes { Int128.held(from: $0) } == left)
    }
    #expect(try bytes(UInt128(258)) == [UInt8](repeating: 0, count: 14) + [1, 2])
    #expect(try comesBack(UInt128.max))
  }

  @Test func doublesHaveTheOrderOfTheirNumbersAndBooleansTheirs() throws {
    var generator = SeededGenerator(seed: 20_261_129)
    var numbers = [-Double.infinity, -1, -Double.leastNonzeroMagnitude, 0, Double.leastNonzeroMagnitude, 1, .infinity]
    for _ in 0..<500 { numbers.append(Double.random(in: -1e11...1e11, using: &generator)) }
    for (left, right) in zip(numbers, numbers.shuffled(using: &generator)) {
      #expect(try bytes(left).lexicographicallyPrecedes(bytes(right)) == (left < right), "\(left) \(right)")
      let held = left.held(by: Double.keyTransformer)
      #expect(try bytes(left).withBytes { Double.held(from: $0) } == held)
      #expect(try comesBack(left) && Double.key(of: held, by: Double.keyTransformer) == left)
    }
    #expect(try bytes(-0.0) == bytes(0.0))
    let memory = MemoryStorage<Double, Int>()
    try memory.set(1, forKey: .nan)
    #expect(try memory.value(forKey: -.nan) == 1 && memory.value(forKey: 0) == nil)
    #expect([UInt8](repeating: 0xFF, count: 8).withBytes { Double.held(from: $0) } == nil)
    #expect(try bytes(Double.infinity).lexicographicallyPrecedes(bytes(Double.nan)))
    #expect(throws: TransformerError.self) {
      try Double.keyTransformer.decode([0x7F] + [UInt8](repeating: 0xFF, count: 7))
    }
    #expect(try bytes(false) == [0] && bytes(true) == [1])
    #expect(try comesBack(true) && [2].withBytes { Bool.held(from: $0) } == nil)
    #expect(throws: TransformerError.self) { try Bool.keyTransformer.decode([2]) }
  }

  @Test func datesHaveTheOrderOfTheirInstants() throws {
    var generator = SeededGenerator(seed: 20_261_128)
    var seconds = [-Double.infinity, -Double.greatestFiniteMagnitude, -1, -Double.leastNonzeroMagnitude, 0]
    seconds += seconds.map { -$0 }
    for _ in 0..<500 {
      seconds.append(Double.random(in: -1e11...1e11, using: &generator))
      let any = Double(bitPattern: generator.next())
      if !any.isNaN { seconds.append(any) }
    }
    for (left, right) in zip(seconds, seconds.shuffled(using: &generator)) {
      let (left, right) = (Date(timeIntervalSinceReferenceDate: left), Date(timeIntervalSinceReferenceDate: right))
      #expect(try bytes(left).lexicographicallyPrecedes(bytes(right)) == (left < right), "\(left) \(right)")
      #expect(try (bytes(left) == bytes(right)) == (left == right))
      // Memory has the same order of things, and finds by what it holds what it was given.
      let held = left.held(by: Date.keyTransformer)
      #expect(try bytes(left).withBytes { Date.held(from: $0) } == held)
      #expect(try comesBack(left) && Date.key(of: held, by: Date.keyTransformer) == left)
    }
    #expect(try bytes(Date(timeIntervalSinceReferenceDate: 1)) == [0xBF, 0xF0, 0, 0, 0, 0, 0, 0])
  }

  /// Zero has two signs and NaN has many forms, and each is one key.
  @Test func datesOfOneKeyHaveTheSameBytes() throws {
    func date(_ bits: UInt64) -> Date { Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)) }
    #expect(try bytes(date(1 << 63)) == bytes(date(0)))
    let nan = try bytes(date(Double.nan.bitPattern))
    for bits in [UInt64.max, 0x7FF0_0000_0000_0001, 0xFFF8_0000_0000_0000] { #expect(try bytes(date(bits)) == nan) }
    #expect(try bytes(date(Double.infinity.bitPattern)).lexicographicallyPrecedes(nan))
    #expect(try Date.keyTransformer.decode(nan).timeIntervalSinceReferenceDate.isNaN)
    let memory = MemoryStorage<Date, Int>()
    try memory.set(1, forKey: date(Double.nan.bitPattern))
    #expect(try memory.value(forKey: date(.max)) == 1 && memory.value(forKey: date(0)) == nil)
    // Another form of NaN, zero with a sign, and too few bytes.
    for bytes in [[UInt8](repeating: 0xFF, count: 8), [0x7F] + [UInt8](repeating: 0xFF, count: 7), [0x80]] {
      #expect(throws: TransformerError.self) { try Date.keyTransformer.decode(bytes) }
      #expect(bytes.withBytes { Date.held(from: $0) } == nil)
    }
  }

  enum Kind: String, StorageKey { case small, large }
  enum Coded: Int, Codable, StorageKey { case one = 1 }
  struct Pair: Codable, StorageKey {
    var b: Int
    var a: String
  }

  @Test func otherKeysComeBack() throws {
    #expect(try comesBack("") && comesBack("a/b\u{0}🌍"))
    #expect(try comesBack(UUID()) && comesBack(Data([1, 0])) && comesBack([0, 1] as [UInt8]))
    #expect(try bytes(Kind.large) == Array("large".utf8))
    #expect(try bytes(Coded.one) == bytes(1))
    #expect(try bytes(Pair(b: 1, a: "/")) == Array(#"{"a":"/","b":1}"#.utf8))
    #expect(try comesBack(Pair(b: 1, a: "x")))
  }

  /// `Data` hashes 80 bytes, however long it is.
  @Test func longKeysThatBeginAlikeAreToldApartByTheirHashes() throws {
    let keys = Data.keyTransformer
    let hashes = (0..<100).map { (Data(repeating: 7, count: 200) + Data([UInt8($0)])).held(by: keys).hashValue }
    #expect(Set(hashes).count > 90)
    let storage = MemoryStorage<Data, Int>()
    for number in 0..<100 { try storage.set(number, forKey: Data(repeating: 7, count: 200) + Data([UInt8(number)])) }
    // Of slices too.
    for number in 0..<100 {
      let key = (Data([1]) + Data(repeating: 7, count: 200) + Data([UInt8(number)])).dropFirst()
      #expect(try storage.value(forKey: key) == number)
    }
  }

  @Test func compositeKeysAreOrderedAndNeverSpelledAlike() throws {
    var generator = SeededGenerator(seed: 20_261_121)
    let pieces = ["", "\u{0}", "\u{0}\u{1}", "\u{1}", "a", "a\u{0}", "ab", "\u{7f}"]
    for _ in 0..<5000 {
      let left = CompositeKey(
        pieces.randomElement(using: &generator) ?? "",
        pieces.randomElement(using: &generator) ?? "",
        Int.random(in: -2...2, using: &generator)
      )
      let right = CompositeKey(
        pieces.randomElement(using: &generator) ?? "",
        pieces.randomElement(using: &generator) ?? "",
        Int.random(in: -2...2, using: &generator)
      )
      #expect(try comesBack(left))
      #expect(try (bytes(left) == bytes(right)) == (left == right))
      #expect(try bytes(left).lexicographicallyPrecedes(bytes(right)) == (left.parts < right.parts))
    }
  }

  @Test func damagedCompositeKeyIsRefused() {
    let keys = CompositeKey<String, Int>.keyTransformer
    #expect(throws: TransformerError.self) { try keys.decode([0x61]) }
    #expect(throws: TransformerError.self) { try keys.decode([0x61, 0]) }
    #expect(throws: TransformerError.self) { try keys.decode([0x61, 0, 7]) }
    #expect(throws: TransformerError.self) { try keys.decode([0x61, 0, 1, 2]) }
  }

  @Test func formsOfCompositeKeysAreToldApart() throws {
    let inner = CompositeKey("a\u{0}", "b")
    #expect(try bytes(CompositeKey(inner, "c")) != bytes(CompositeKey("a\u{0}", "b", "c")))
    let ids = [
      CompositeKey<String, String, String>.keyTransformer.id,
      CompositeKey<CompositeKey<String, String>, String>.keyTransformer.id,
      CompositeKey<String, CompositeKey<String, String>>.keyTransformer.id,
    ]
    #expect(Set(ids).count == 3)
    #expect(ids[0] == "utf8,utf8,utf8")
  }
}
