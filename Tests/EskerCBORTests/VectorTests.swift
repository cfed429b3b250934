import EskerCBOR
import Foundation
import Testing

/// RFC 8949, appendix A: every example. Those with a name of their own below have a counterpart that ``Item`` has not.
@Suite struct VectorTests {
  /// What decodes to the value, and the value encodes to.
  static let canonical: [(String, Item)] = [
    ("00", .integer(0)), ("01", .integer(1)), ("0a", .integer(10)), ("17", .integer(23)), ("1818", .integer(24)),
    ("1819", .integer(25)), ("1864", .integer(100)), ("1903e8", .integer(1_000)), ("1a000f4240", .integer(1_000_000)),
    ("1b000000e8d4a51000", .integer(1_000_000_000_000)), ("1bffffffffffffffff", .integer(18_446_744_073_709_551_615)),
    ("c249010000000000000000", .integer(18_446_744_073_709_551_616)),
    ("3bffffffffffffffff", .integer(-18_446_744_073_709_551_616)),
    ("c349010000000000000000", .integer(-18_446_744_073_709_551_617)),
    ("20", .integer(-1)), ("29", .integer(-10)), ("3863", .integer(-100)), ("3903e7", .integer(-1_000)),
    ("f93e00", .number(1.5)), ("fb3ff199999999999a", .number(1.1)), ("f90001", .number(5.960464477539063e-8)),
    ("f90400", .number(0.00006103515625)), ("fa7f7fffff", .number(3.4028234663852886e+38)),
    ("fbc010666666666666", .number(-4.1)), ("f97c00", .number(.infinity)), ("f9fc00", .number(-.infinity)),
    ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null),
    ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])),
    ("60", .text("")), ("6161", .text("a")), ("6449455446", .text("IETF")), ("62225c", .text("\"\\")),
    ("62c3bc", .text("\u{fc}")), ("63e6b0b4", .text("\u{6c34}")), ("64f0908591", .text("\u{10151}")),
    ("80", .array([])), ("83010203", .array([.integer(1), .integer(2), .integer(3)])),
    (
      "8301820203820405",
      .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
    ),
    (
      "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
      .array((1...25).map { .integer($0) })
    ),
    ("a0", .map([:])),
    ("a26161016162820203", .map(["a": .integer(1), "b": .array([.integer(2), .integer(3)])])),
    ("826161a161626163", .array([.text("a"), .map(["b": .text("c")])])),
    (
      "a56161614161626142616361436164614461656145",
      .map(["a": .text("A"), "b": .text("B"), "c": .text("C"), "d": .text("D"), "e": .text("E")])
    ),
  ]

  /// What decodes to the value, though we write it otherwise.
  static let accepted: [(String, Item)] = [
    // Floating-point numbers without a fraction: a type that asks for an integer gets one.
    ("f90000", .integer(0)), ("f98000", .integer(0)), ("f93c00", .integer(1)), ("f97bff", .integer(65_504)),
    ("fa47c35000", .integer(100_000)), ("f9c400", .integer(-4)), ("fb7e37e43c8800759c", .number(1.0e+300)),
    // Longer than need be.
    ("fa7f800000", .number(.infinity)), ("faff800000", .number(-.infinity)),
    ("fb7ff0000000000000", .number(.infinity)), ("fbfff0000000000000", .number(-.infinity)),
    ("f7", .null),
    // Tags.
    ("c074323031332d30332d32315432303a30343a30305a", .text("2013-03-21T20:04:00Z")),
    ("c11a514b67b0", .integer(1_363_896_240)), ("c1fb41d452d9ec200000", .number(1_363_896_240.5)),
    ("d74401020304", .bytes([1, 2, 3, 4])), ("d818456449455446", .bytes([0x64, 0x49, 0x45, 0x54, 0x46])),
    ("d82076687474703a2f2f7777772e6578616d706c652e636f6d", .text("http://www.example.com")),
    // Keys that are numbers.
    ("a201020304", .map(["1": .integer(2), "3": .integer(4)])),
    // Indefinite lengths.
    ("5f42010243030405ff", .bytes([1, 2, 3, 4, 5])), ("7f657374726561646d696e67ff", .text("streaming")),
    ("9fff", .array([])),
    (
      "9f018202039f0405ffff",
      .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
    ),
    (
      "9f01820203820405ff",
      .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
    ),
    (
      "83018202039f0405ff",
      .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
    ),
    (
      "83019f0203ff820405",
      .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
    ),
    (
      "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
      .array((1...25).map { .integer($0) })
    ),
    ("bf61610161629f0203ffff", .map(["a": .integer(1), "b": .array([.integer(2), .integer(3)])])),
    ("826161bf61626163ff", .array([.text("a"), .map(["b": .text("c")])])),
    ("bf6346756ef563416d7421ff", .map(["Fun": .bool(true), "Amt": .integer(-2)])),
  ]

  @Test func everyExampleDecodesToItsValue() throws {
    for (digits, expected) in Self.canonical + Self.accepted {
      #expect(try decoded(Item.self, digits) == expected, "\(digits)")
    }
  }

  @Test func everyExampleInPreferredFormIsWhatItsValueBecomes() throws {
    for (digits, value) in Self.canonical {
      #expect(try encoded(value) == digits)
    }
  }

  @Test func floatingPointExamplesTakeTheirShortestForm() throws {
    let examples: [(String, Double)] = [
      ("f90000", 0), ("f98000", -0.0), ("f93c00", 1), ("fb3ff199999999999a", 1.1), ("f93e00", 1.5), ("f97bff", 65_504),
      ("fa47c35000", 100_000), ("fa7f7fffff", 3.4028234663852886e+38), ("fb7e37e43c8800759c", 1.0e+300),
      ("f90001", 5.960464477539063e-8), ("f90400", 0.00006103515625), ("f9c400", -4), ("fbc010666666666666", -4.1),
      ("f97c00", .infinity), ("f97e00", .nan), ("f9fc00", -.infinity),
    ]
    for (digits, value) in examples {
      #expect(try encoded(value) == digits)
      #expect(try decoded(Double.self, digits).bitPattern == value.bitPattern)
    }
    for digits in ["fa7fc00000", "fb7ff8000000000000"] {
      #expect(try decoded(Double.self, digits).isNaN)
    }
  }

  @Test func taggedExamplesAreTheirTypes() throws {
    let date = Date(timeIntervalSince1970: 1_363_896_240)
    #expect(try decoded(Date.self, "c074323031332d30332d32315432303a30343a30305a") == date)
    #expect(try decoded(Date.self, "c11a514b67b0") == date)
    #expect(try encoded(date) == "c11a514b67b0")
    #expect(try decoded(Date.self, "c1fb41d452d9ec200000") == date + 0.5)
    #expect(try encoded(date + 0.5) == "c1fb41d452d9ec200000")
    let url = "d82076687474703a2f2f7777772e6578616d706c652e636f6d"
    #expect(try decoded(URL.self, url).absoluteString == "http://www.example.com")
    #expect(try encoded(decoded(URL.self, url)) == url)
    #expect(try decoded([Int: Int].self, "a201020304") == [1: 2, 3: 4])
    #expect(hex(try CBOREncoder(sortsKeys: true).encode([1: 2, 3: 4])) == "a201020304")
  }

  @Test func mixedExamplesDecodeElementByElement() throws {
    struct Mixed: Decodable, Equatable {
      let text: String
      let map: [String: String]
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        text = try container.decode(String.self)
        map = try container.decode([String: String].self)
      }
    }
    #expect(try decoded(Mixed.self, "826161a161626163").map == ["b": "c"])
    #expect(try decoded(Mixed.self, "826161bf61626163ff").map == ["b": "c"])
  }

  @Test func simpleValuesWithoutCounterpartAreWellFormedAndRefused() throws {
    for digits in ["f0", "f8ff"] {
      #expect(throws: DecodingError.self) { try decoded(Item.self, digits) }
      #expect(try decoded([String: Int].self, "a1" + "6161" + "01") == ["a": 1])
      // Passed over where nobody asks for it.
      struct Known: Decodable { let a: Int }
      #expect(try decoded(Known.self, "a2" + "6162" + digits + "6161" + "01").a == 1)
    }
  }
}
