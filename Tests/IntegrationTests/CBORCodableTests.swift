import Esker
import EskerMacros
import Foundation
import Testing

/// What the macro writes codes as Codable does: the same bytes, values and errors.
@Suite struct CBORCodableTests {
  private let seed: UInt64
  private var random: Seeded

  init() {
    seed = UInt64.random(in: 0 ... .max)
    random = Seeded(seed)
  }

  /// Checks that documents of a shape, and whatever becomes of them when bytes change or are missing, come to the same.
  private mutating func expectSame<P: Codable, C: CBORCodable>(
    _ plain: P,
    as coded: C.Type,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let encoder = CBOREncoder(sortsKeys: true)
    let unsorted = CBOREncoder()
    // Some values are others after a round trip, such as an optional of an optional.
    let plain = try CBORDecoder().decode(P.self, from: try encoder.encode(plain))
    let bytes = try encoder.encode(plain)
    let value = try CBORDecoder().decode(coded, from: bytes)
    #expect(try encoder.encode(value) == bytes, "seed \(seed)", sourceLocation: sourceLocation)
    #expect(try unsorted.encode(value).count == bytes.count, "seed \(seed)", sourceLocation: sourceLocation)
    let throughAny: any Encodable = value
    #expect(try encoder.encode(throughAny) == bytes, "seed \(seed)", sourceLocation: sourceLocation)
    let plainAgain = try CBORDecoder().decode(P.self, from: try unsorted.encode(value))
    #expect(try encoder.encode(plainAgain) == bytes, "seed \(seed)", sourceLocation: sourceLocation)
    // Codable's own conformance is still there.
    let json = JSONEncoder()
    json.outputFormatting = .sortedKeys
    json.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "+", negativeInfinity: "-", nan: "n")
    #expect(try json.encode(value) == json.encode(plain), "seed \(seed)", sourceLocation: sourceLocation)

    for length in bytes.indices { compare(P.self, C.self, [UInt8](bytes[..<length]), sourceLocation) }
    for index in bytes.indices {
      var changed = bytes
      changed[index] = UInt8.random(in: 0 ... .max, using: &random)
      compare(P.self, C.self, changed, sourceLocation)
      changed = bytes
      changed[index] =
        [0x00, 0x40, 0x60, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xf6, 0xfb, 0xff].randomElement(using: &random) ?? 0
      compare(P.self, C.self, changed, sourceLocation)
      changed.remove(at: index)
      compare(P.self, C.self, changed, sourceLocation)
    }
  }

  private func compare<P: Codable, C: CBORCodable>(
    _ plain: P.Type,
    _ coded: C.Type,
    _ bytes: [UInt8],
    _ sourceLocation: SourceLocation
  ) {
    let expected = outcome(plain, bytes)
    let found = outcome(coded, bytes)
    if found != expected {
      #expect(found == expected, "seed \(seed), \(bytes)", sourceLocation: sourceLocation)
    }
  }

  /// What decoding comes to: the value as bytes, or the error.
  private func outcome<T: Codable>(_ type: T.Type, _ bytes: [UInt8]) -> String {
    do {
      return "\(try CBOREncoder(sortsKeys: true).encode(try CBORDecoder().decode(type, from: bytes)))"
    } catch let error as DecodingError {
      func place(_ context: DecodingError.Context) -> String {
        "at \(context.codingPath.map { "\($0.stringValue) \(String(describing: $0.intValue))" }): \(context.debugDescription)"
      }
      switch error {
      case .dataCorrupted(let context): return "dataCorrupted \(place(context))"
      case .keyNotFound(let key, let context):
        return "keyNotFound \(key.stringValue), \(String(describing: key.intValue)) \(place(context))"
      case .valueNotFound(let type, let context): return "valueNotFound \(type) \(place(context))"
      case .typeMismatch(let type, let context): return "typeMismatch \(type) \(place(context))"
      @unknown default: return "\(error)"
      }
    } catch {
      return "\(error)"
    }
  }

  // MARK: Shapes

  @Test mutating func numbers() throws {
    for _ in 0..<20 {
      let n = random.number()
      try expectSame(
        Plain.Numbers(
          int: n,
          int8: Int8(truncatingIfNeeded: n),
          int16: Int16(truncatingIfNeeded: n),
          int32: Int32(truncatingIfNeeded: n),
          int64: Int64(n),
          int128: Int128(n) &* Int128(n) &* Int128(n),
          uint: UInt(bitPattern: n),
          uint8: UInt8(truncatingIfNeeded: n),
          uint16: UInt16(truncatingIfNeeded: n),
          uint32: UInt32(truncatingIfNeeded: n),
          uint64: UInt64(bitPattern: Int64(n)),
          uint128: UInt128.max / UInt128(n.magnitude | 1),
          float: Float(bitPattern: UInt32(truncatingIfNeeded: random.number())),
          double: Double(bitPattern: UInt64(bitPattern: Int64(random.number()))),
          flag: n % 2 == 0,
          optionalInt8: n % 3 == 0 ? nil : 1,
          optionalFloat: n % 5 < 2 ? nil : -0.0,
          optionalDouble: n % 7 < 4 ? .infinity : nil
        ),
        as: Coded.Numbers.self
      )
    }
  }

  @Test mutating func valuesOfEveryKind() throws {
    for round in 0..<10 {
      let n = random.number()
      let place = Plain.Place(x: n, y: n % 2 == 0 ? nil : n)
      let values = Plain.Values(
        date: Date(timeIntervalSinceReferenceDate: Double(n % 1_000_000_000) / 8),
        data: Data(random.text().utf8),
        uuid: UUID(uuidString: "2B7E1516-28AE-D2A6-ABF7-15880000\(1000 + abs(n % 9000))") ?? UUID(),
        url: try #require(URL(string: "https://example.org/\(n)")),
        decimal: Decimal(n) / 8,
        bytes: [UInt8](random.text().utf8),
        integers: (0..<abs(n % 30)).map { $0 &* n },
        texts: (0..<3).map { _ in random.text() },
        optionalTexts: n % 3 == 0 ? nil : [nil, random.text()],
        byText: n % 2 == 0 ? [:] : [random.text() + "a": 0.5, random.text() + "b": 1e300],
        byInteger: [n: true, n &+ 1: false],
        byIdentifier: n % 2 == 0 ? [:] : [UUID(): random.text()],
        set: [Int16(truncatingIfNeeded: n)],
        twice: round % 3 == 0 ? .none : round % 3 == 1 ? .some(.none) : .some(.some(n)),
        color: n % 2 == 0 ? .red : .green,
        options: Plain.Options(rawValue: UInt8(truncatingIfNeeded: n)),
        place: place,
        places: [place, Plain.Place()],
        named: [random.text(): place],
        foreign: n % 2 == 0 ? nil : Foreign(text: random.text(), inner: [n: true]),
        unsure: n % 5 == 0 ? nil : n
      )
      try expectSame(values, as: Coded.Values.self)
    }
  }

  @Test mutating func keys() throws {
    for _ in 0..<20 {
      let n = random.number()
      try expectSame(
        Plain.Renamed(plain: n, default: random.text(), long: 1, observed: 2, hidden: n),
        as: Coded.Renamed.self
      )
      try expectSame(
        Plain.Numbered(first: n, second: n % 2 == 0 ? nil : random.text(), third: 3),
        as: Coded.Numbered.self
      )
    }
  }

  @Test mutating func nestedAndGenericTypes() throws {
    let n = random.number()
    let empty = Plain.Node(name: random.text(), children: [])
    let node = Plain.Node(name: "root", children: [empty, Plain.Node(name: "", children: [empty])])
    try expectSame(node, as: Coded.Node.self)
    try expectSame(Plain.Empty(), as: Coded.Empty.self)
    try expectSame(
      Plain.Pair(first: [node], second: Plain.Pair(first: Foreign(text: "a", inner: [1: true]), second: n)),
      as: Coded.Pair<[Coded.Node], Coded.Pair<Foreign, Int>>.self
    )
    try expectSame([Plain.Place(x: 1, y: nil)], as: [Coded.Place].self)
  }

  @Test mutating func moreFieldsThanOneByteCounts() throws {
    let n = random.number()
    try expectSame(
      Plain.Wide(
        a1: n,
        a2: 2,
        a3: 3,
        a4: 4,
        a5: 5,
        a6: 6,
        a7: 7,
        a8: 8,
        a9: 9,
        a10: 10,
        a11: 11,
        a12: 12,
        a13: 13,
        b1: nil,
        b2: 2,
        b3: 3,
        b4: 4,
        b5: 5,
        b6: 6,
        b7: 7,
        b8: 8,
        b9: 9,
        b10: 10,
        b11: 11,
        b12: 12,
        b13: 13
      ),
      as: Coded.Wide.self
    )
  }

  @Test func bytesInOrderAreThoseOfCodable() throws {
    let plain = Plain.Renamed(plain: 1, default: "d", long: 2, observed: 3, hidden: 4)
    let bytes = try CBOREncoder().encode(plain)
    let coded = try CBORDecoder().decode(Coded.Renamed.self, from: bytes)
    #expect(coded.omitted == 3 && coded.long == 2)
    #expect(try CBOREncoder().encode(coded) == bytes)
  }

  @Test func anOptionalOfAnOptionalIsNullOrMissing() throws {
    #expect(
      try CBOREncoder().encode(Coded.Twice(value: .some(nil))) == CBOREncoder().encode(Plain.Twice(value: .some(nil)))
    )
    #expect(try CBOREncoder().encode(Coded.Twice(value: nil)) == [0xa0])
  }

  // MARK: Documents of other versions of a type

  @Test func fieldsMayBeMissingUnknownOrInAnotherOrder() throws {
    struct Newer: Codable {
      var extra = ["a": [1, 2]]
      var y: Int? = 2
      var x = 1
    }
    let bytes = try CBOREncoder().encode(Newer())
    let place = try CBORDecoder().decode(Coded.Place.self, from: bytes)
    #expect(place.x == 1 && place.y == 2)
    struct Older: Codable { var x = 5 }
    #expect(try CBORDecoder().decode(Coded.Place.self, from: try CBOREncoder().encode(Older())).y == nil)
    struct Without: Codable { var y = 5 }
    #expect(throws: DecodingError.self) {
      try CBORDecoder().decode(Coded.Place.self, from: try CBOREncoder().encode(Without()))
    }
    struct Mistyped: Codable { var x = "five" }
    let mistyped = try CBOREncoder().encode(Mistyped())
    #expect(outcome(Coded.Place.self, mistyped) == outcome(Plain.Place.self, mistyped))
    #expect(outcome(Coded.Place.self, mistyped).hasPrefix("typeMismatch Int at [\"x nil\"]"))
  }

  // MARK: In a store

  @Test func aStoreKeepsWhatEitherWayWrites() throws {
    try withTemporaryPath { path in
      let store = try LogStore(at: path)
      let visible = Visible(name: "Anna", secret: 7)
      let storage = try store.storage("values", of: Visible.self)
      try storage.set(visible, forKey: "a")
      #expect(try storage.value(forKey: "a") == visible)
      struct Same: Codable, Sendable {
        var name: String
        var secret: Int
      }
      let same = try store.storage("values", of: Same.self)
      #expect(try same.value(forKey: "a")?.secret == 7)
      try same.set(Same(name: "Bert", secret: 8), forKey: "b")
      #expect(try storage.value(forKey: "b") == Visible(name: "Bert", secret: 8))
      #expect(Transformer<Visible>.binary.id == Transformer<Same>.binary.id)
      try store.close()
    }
  }
}

/// SplitMix64: the same numbers for the same seed on every system.
private struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number of any size.
  mutating func number() -> Int { Int.random(in: .min ... .max, using: &self) >> Int.random(in: 0..<64, using: &self) }

  mutating func text() -> String {
    let count = Int.random(in: 0..<40, using: &self)
    return String((0..<count).map { _ in "aß-€x🙂z".randomElement(using: &self) ?? "a" })
  }
}
