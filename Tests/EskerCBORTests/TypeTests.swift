import EskerCBOR
import Foundation
import Testing

@Suite struct TypeTests {
  struct City: Codable, Equatable {
    var id: Int
    var name: String
    var country: String
    var latitude: Double
    var capital: Bool
    var founded: Date
    var twins: [Int]
    var nickname: String?
  }

  static let city = City(
    id: 2_988_507,
    name: "Paris",
    country: "France",
    latitude: 48.85341,
    capital: true,
    founded: Date(timeIntervalSinceReferenceDate: 785_431_122.333_333_3),
    twins: [1, 2, 300]
  )

  @Test func structsAreMapsInTheOrderOfTheirFields() throws {
    struct Point: Codable, Equatable { var y = 1, x = -2 }
    #expect(try encoded(Point()) == "a2" + "6179" + "01" + "6178" + "21")
    try expectRoundTrip(Self.city)
    try expectRoundTrip([Self.city, Self.city])
    try expectRoundTrip(["a": Self.city])
  }

  @Test func fragmentsOfEveryTypeComeBack() throws {
    try expectRoundTrip(true)
    try expectRoundTrip("π")
    try expectRoundTrip("")
    try expectRoundTrip(String(repeating: "long ", count: 20_000))
    try expectRoundTrip(Character("é").description)
    try expectRoundTrip(Int?.none)
    try expectRoundTrip(Int?.some(5))
    try expectRoundTrip([Int?.none, 3])
    try expectRoundTrip([[Int]]())
    try expectRoundTrip([1: "a", -2: "b"])
    try expectRoundTrip(Data([0, 255, 3]))
    try expectRoundTrip([UInt8](0...255))
    try expectRoundTrip(UUID())
    try expectRoundTrip(URL(string: "https://example.com/a?b=c#d"))
    try expectRoundTrip(Set([1, 2, 3]))
    try expectRoundTrip(0..<10)
    try expectRoundTrip(Array(repeating: 1.5, count: 70_000))
    try expectRoundTrip(Float(0.1))
    try expectRoundTrip([Float.infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
  }

  @Test func integersComeBackAtTheirLimits() throws {
    func check<I: FixedWidthInteger & Codable>(_ type: I.Type) throws {
      for value in [I.min, I.max, 0, 1, 23, 24, 100] { try expectRoundTrip(value) }
      try expectRoundTrip([I.min, I.max])
      try expectRoundTrip(["k": I.min])
    }
    try check(Int.self)
    try check(Int8.self)
    try check(Int16.self)
    try check(Int32.self)
    try check(Int64.self)
    try check(Int128.self)
    try check(UInt.self)
    try check(UInt8.self)
    try check(UInt16.self)
    try check(UInt32.self)
    try check(UInt64.self)
    try check(UInt128.self)
    for shift in 0..<64 {
      for value in [1 << shift, (1 << shift) &- 1, 0 &- (1 << shift)] { try expectRoundTrip(value) }
    }
  }

  @Test func numbersThatDoNotFitAreRefused() throws {
    #expect(throws: DecodingError.self) { try decoded(Int8.self, "1880") }
    #expect(throws: DecodingError.self) { try decoded(UInt.self, "20") }
    #expect(throws: DecodingError.self) { try decoded(Int.self, "1bffffffffffffffff") }
    #expect(throws: DecodingError.self) { try decoded(UInt64.self, "c249010000000000000000") }
    #expect(throws: DecodingError.self) { try decoded(Int.self, "f93e00") }
    #expect(throws: DecodingError.self) { try decoded(Int.self, "f97e00") }
    #expect(throws: DecodingError.self) { try decoded(Float.self, "fb7e37e43c8800759c") }
    #expect(throws: DecodingError.self) { try decoded(Double.self, "1bffffffffffffffff") }
  }

  @Test func doublesComeBackBitByBit() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = Seeded(seed)
    var values: [Double] = [
      0, -0.0, .infinity, -.infinity, .nan, -.nan, .signalingNaN, .leastNonzeroMagnitude, .pi, 0.1,
    ]
    for _ in 0..<20_000 {
      values.append(Double(bitPattern: random.next()))
      values.append(Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))))
      values.append(Double(Int64(bitPattern: random.next()) >> Int64(random.next() & 63)))
    }
    for value in values {
      let back = try CBORDecoder().decode(Double.self, from: try CBOREncoder().encode(value))
      #expect(back.bitPattern == value.bitPattern, "seed \(seed)")
    }
  }

  @Test func everyHalfPrecisionNumberTakesThreeBytes() throws {
    for half in UInt16.min ... .max {
      let document = [0xf9, UInt8(half >> 8), UInt8(half & 0xff)]
      let value = try CBORDecoder().decode(Double.self, from: document)
      #expect(try CBOREncoder().encode(value) == document)
      #expect(try CBOREncoder().encode(CBORDecoder().decode(Float.self, from: document)) == document)
    }
  }

  @Test func datesComeBackBitByBit() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = Seeded(seed)
    var seconds: [Double] = [
      0, -0.0, 1, -978_307_200, 0.1, -0.1, .leastNonzeroMagnitude, 1e-9, 785_431_122.123_456_7, .infinity, -.infinity,
      9e15 + 1, 9e18,
      -9e18, 1e19, .greatestFiniteMagnitude, Date.distantPast.timeIntervalSinceReferenceDate,
      Date.distantFuture.timeIntervalSinceReferenceDate, Date().timeIntervalSinceReferenceDate,
    ]
    for _ in 0..<20_000 {
      seconds.append(Double.random(in: -2e9..<2e9, using: &random))
      seconds.append(Double.random(in: 7e8..<9e8, using: &random))
      seconds.append(Double(bitPattern: random.next()))
    }
    for value in seconds {
      let date = Date(timeIntervalSinceReferenceDate: value)
      let back = try CBORDecoder().decode(Date.self, from: try CBOREncoder().encode(date))
      #expect(back.timeIntervalSinceReferenceDate.bitPattern == value.bitPattern, "seed \(seed)")
    }
  }

  @Test func datesOfTodayTakeAStandardTag() throws {
    let whole = Date(timeIntervalSince1970: 1_700_000_000)
    #expect(try encoded(whole) == "c1" + "1a6553f100")
    #expect(try encoded(whole + 0.5) == "c1" + "fb41d954fc40200000")
    // The next Double after one that fits: between two of those that count from 1970.
    let odd = Date(timeIntervalSinceReferenceDate: (whole + 0.5).timeIntervalSinceReferenceDate.nextUp)
    #expect(try encoded(odd) == "d903e9" + "a2" + "01" + "1a6553f100" + "28" + "1a1dcd6577")
    #expect(try decoded(Date.self, "d903e9" + "a1" + "01" + "1a6553f100") == whole)
    #expect(try decoded(Date.self, "f93c00") == Date(timeIntervalSinceReferenceDate: 1))
    #expect(throws: DecodingError.self) { try decoded(Date.self, "c06161") }
    #expect(throws: DecodingError.self) { try decoded(Date.self, "c16161") }
    #expect(throws: DecodingError.self) { try decoded(Date.self, "d903e9a0") }
  }

  @Test func decimalsComeBack() throws {
    let numbers = [
      "0", "1", "-1", "0.1", "-273.15", "12345678901234567890.123456789", "99999999999999999999999999999999999999",
      "-340282366920938463463374607431768211455", "1e127", "-1e-128",
    ]
    for number in numbers {
      try expectRoundTrip(try #require(Decimal(string: number)))
    }
    #expect(try CBORDecoder().decode(Decimal.self, from: CBOREncoder().encode(Decimal.nan)).isNaN)
    #expect(try encoded(Decimal(string: "273.15")) == "c4" + "82" + "21" + "196ab3")
    #expect(try decoded(Decimal.self, "c48221196ab3").description == "273.15")
    #expect(try decoded(Decimal.self, "f93e00") == 1.5)
    #expect(try decoded(Decimal.self, "20") == -1)
  }

  @Test func foundationTypesTakeTheirTags() throws {
    let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    #expect(try encoded(uuid) == "d825" + "50" + "0102030405060708090a0b0c0d0e0f10")
    #expect(try decoded(UUID.self, "50" + "0102030405060708090a0b0c0d0e0f10") == uuid)
    #expect(try CBORDecoder().decode(UUID.self, from: CBOREncoder().encode(uuid.uuidString)) == uuid)
    #expect(throws: DecodingError.self) { try decoded(UUID.self, "d825410f") }
    #expect(try encoded(Data([1, 2])) == "420102")
    #expect(try encoded([1, 2] as [UInt8]) == "420102")
    #expect(try decoded([UInt8].self, "8218fe02") == [254, 2])
    #expect(try encoded(URL(string: "a:b")) == "d820" + "63613a62")
    #expect(throws: DecodingError.self) { try decoded(URL.self, "60") }
  }

  @Test func keysAreTextUnlessTheyAreNumbersByName() throws {
    #expect(try encoded(["1": 1]) == "a1" + "6131" + "01")
    #expect(try encoded(["01": 1]) == "a1" + "623031" + "01")
    #expect(try encoded([1: 1]) == "a1" + "01" + "01")
    #expect(try encoded([-1: 1]) == "a1" + "20" + "01")
    struct Header: Codable, Equatable {
      enum CodingKeys: Int, CodingKey { case algorithm = 1, kind = -4 }
      var algorithm = 5
      var kind = "k"
    }
    #expect(try encoded(Header()) == "a2" + "01" + "05" + "23" + "616b")
    try expectRoundTrip(Header())
    // What was written by name before the keys had numbers is still read.
    #expect(try decoded(Header.self, "a2" + "69616c676f726974686d" + "05" + "646b696e64" + "616b") == Header())
    try expectRoundTrip([Int.min: 1, .max: 2])
    try expectRoundTrip(["1": 1, "01": 2, "+1": 3, "": 4])
  }

  @Test func otherKeysFollowCodable() throws {
    #expect(try encoded([UInt8(1): "a"]) == "82" + "01" + "6161")
    try expectRoundTrip([UInt8(1): "a", 2: "b"])
    try expectRoundTrip([1.5: "a"])
  }

  @Test func sortedKeysDoNotDependOnTheOrder() throws {
    let encoder = CBOREncoder(sortsKeys: true)
    let names = (0..<300).map { "key \($0)" }
    var forward: [String: [String: Int]] = [:]
    var backward: [String: [String: Int]] = [:]
    for name in names { forward[name] = ["b": 1, "aa": 2, "a": 3] }
    for name in names.reversed() { backward[name] = ["aa": 2, "a": 3, "b": 1] }
    #expect(try encoder.encode(forward) == encoder.encode(backward))
    #expect(try CBORDecoder().decode([String: [String: Int]].self, from: encoder.encode(forward)) == forward)
    #expect(try hex(encoder.encode(["b": 1, "aa": 2, "a": 3])) == "a3" + "616103" + "616201" + "62616102")
  }

  @Test func lengthsAreDefiniteAtEverySize() throws {
    for count in [0, 1, 23, 24, 255, 256, 65_535, 65_536] {
      try expectRoundTrip(Array(repeating: 7, count: count))
      try expectRoundTrip(Array(repeating: UInt8(7), count: count))
      try expectRoundTrip(String(repeating: "x", count: count))
      if count < 1_000 { try expectRoundTrip(Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", [$0]) })) }
    }
    #expect(try encoded(Array(repeating: true, count: 24)).hasPrefix("9818f5"))
  }
}
