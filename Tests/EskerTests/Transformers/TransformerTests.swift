import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct TransformerTests {
  private func comesBack<Value: Equatable>(_ value: Value, _ transformer: Transformer<Value>) throws -> Bool {
    try transformer.decode(try transformer.encode(value)) == value
  }

  @Test func integersAreLittleEndianInTheirOwnWidth() throws {
    #expect(try Transformer<Int>.littleEndian.encode(258) == [2, 1, 0, 0, 0, 0, 0, 0])
    #expect(try Transformer<Int16>.littleEndian.encode(-2) == [0xFE, 0xFF])
    #expect(try Transformer<UInt8>.littleEndian.encode(7) == [7])
    for value in [Int.min, -1, 0, 1, .max] { #expect(try comesBack(value, .littleEndian)) }
  }

  @Test func integerOfTheWrongLengthIsRefused() {
    #expect(throws: TransformerError.wrongLength(expected: 8, found: 3)) {
      try Transformer<Int>.littleEndian.decode([1, 2, 3])
    }
  }

  @Test func floatsComeBackBitForBit() throws {
    for value in [0.0, -0.0, .pi, .infinity, .leastNonzeroMagnitude, .nan] {
      let back = try Transformer<Double>.littleEndian.decode(try Transformer<Double>.littleEndian.encode(value))
      #expect(back.bitPattern == value.bitPattern)
    }
    #expect(try Transformer<Float>.littleEndian.encode(1) == [0, 0, 0x80, 0x3F])
  }

  @Test func boolIsOneByteAndNoOtherIsTaken() throws {
    #expect(try Transformer<Bool>.byte.encode(true) == [1])
    #expect(throws: TransformerError.malformed("the byte 2 is neither 0 nor 1")) {
      try Transformer<Bool>.byte.decode([2])
    }
  }

  @Test func textComesBackInItsEncoding() throws {
    for text in ["", "Wien", "naïve", "🌍\u{0}/\n", String(repeating: "x", count: 5000)] {
      #expect(try comesBack(text, .utf8))
      #expect(try comesBack(text, .text(.utf16)))
    }
    #expect(try Transformer<String>.text(.isoLatin1).encode("é") == [0xE9])
    #expect(throws: (any Error).self) { try Transformer<String>.text(.ascii).encode("é") }
  }

  @Test func bytesThatAreNotTextAreRefused() {
    #expect(throws: TransformerError.notText(encoding: "UTF-8")) { try Transformer<String>.utf8.decode([0xC3, 0x28]) }
  }

  @Test func foundationTypesComeBackWithoutLoss() throws {
    #expect(try comesBack(Date(timeIntervalSinceReferenceDate: 790_000_000.123_456_7), .exact))
    #expect(try comesBack(Date.distantFuture, .exact))
    #expect(try comesBack(UUID(), .uuid))
    #expect(try comesBack(try #require(URL(string: "https://esker.example/a?b=c#d")), .absoluteString))
    #expect(try comesBack(Data([0, 1, 255]), .data))
    #expect(try comesBack([0, 1, 255], .bytes))
  }

  enum Colour: String, Codable, Sendable { case red, green }

  @Test func rawValueStandsForItsCase() throws {
    #expect(try Transformer<Colour>.rawValue.encode(.green) == Array("green".utf8))
    #expect(throws: TransformerError.noSuchCase("blue")) {
      try Transformer<Colour>.rawValue.decode(Array("blue".utf8))
    }
  }

  struct Place: Codable, Equatable, Sendable {
    var name: String
    var height: Double
  }

  @Test func codableComesBackFromJSONAndPropertyLists() throws {
    let place = Place(name: "Großglockner", height: 3798)
    #expect(try comesBack(place, .json))
    #expect(try comesBack(place, .propertyList()))
    #expect(try comesBack(place, .propertyList(.xml)))
  }

  @Test func primitivesAtTheTopWorkWithEveryCodableTransformer() throws {
    #expect(try Transformer<Int>.json.encode(5) == Array("5".utf8))
    #expect(try comesBack("text", .json))
    #expect(try comesBack([1, 2], .json))
    #expect(try comesBack(true, .json))
    #expect(try comesBack(5, .propertyList()))
    #expect(try comesBack("text", .propertyList(.xml)))
    #expect(try comesBack(Optional(5), .json))
    #expect(try comesBack(Optional<Int>.none, .json))
  }

  @Test func codableComesBackFromItsBinaryForm() throws {
    struct Place: Codable, Equatable { var name: String, height: Double, tags: [String]? }
    #expect(try comesBack(Place(name: "Graz", height: 353.5, tags: nil), .binary))
    #expect(try comesBack(5, .binary) && comesBack("text", .binary) && comesBack([1, 2], .binary))
    #expect(try comesBack(Optional<Int>.none, .binary) && comesBack(["a": true], .binary))
    #expect(try Transformer<Double>.binary.decode(Transformer<Double>.binary.encode(.nan)).isNaN)
  }

  @Test func binaryFormIsCBOR() throws {
    struct Point: Codable, Equatable { var x: Int, y: Int }
    #expect(try Transformer<Point>.binary.encode(Point(x: 1, y: -1)) == [0xA2, 0x61, 0x78, 0x01, 0x61, 0x79, 0x20])
    #expect(try Transformer<Point>.standard.encode(Point(x: 1, y: -1)).first == 0xA2)
    #expect(try Transformer<Int>.binary.encode(5) == [5])
    #expect(throws: DecodingError.self) { try Transformer<Point>.binary.decode([0xA2, 0x61]) }
    #expect(throws: DecodingError.self) { try Transformer<Int>.binary.decode([5, 6]) }
  }

  @Test func untypedJSONComesBackAsItWas() throws {
    let value: JSONValue = ["a": [1, 2.5, nil, true, "x"], "b": [:], "big": 9_007_199_254_740_993]
    #expect(try comesBack(value, .json))
    #expect(try comesBack(["k": value], Transformer<[String: JSONValue]>.json))
    #expect(try comesBack([value, 1], Transformer<[JSONValue]>.json))
    #expect(value["a"]?[1] == 2.5)
  }

  @Test func collectionsAndOptionalsComeBack() throws {
    #expect(try comesBack([1, 2, 3], .array(.littleEndian)))
    #expect(try comesBack([String](), .array(.utf8)))
    #expect(try comesBack(["", "a", "🌍"], .array(.utf8)))
    #expect(try comesBack(Set([1, 5, 9]), .set(.littleEndian)))
    #expect(try comesBack(["a": 1, "b": 2], .dictionary(.utf8, .littleEndian)))
    #expect(try comesBack(Optional("x"), .optional(.utf8)))
    #expect(try comesBack(Optional<String>.none, .optional(.utf8)))
    #expect(try Transformer<String?>.optional(.utf8).encode("") == [1])
  }

  @Test func cutListIsRefusedAtEveryLength() throws {
    let whole = try Transformer<[String]>.array(.utf8).encode(["ab", "cde"])
    for length in 1..<whole.count where length != 6 {
      #expect(throws: TransformerError.self) {
        try Transformer<[String]>.array(.utf8).decode(Array(whole[..<length]))
      }
    }
  }

  @Test func byteTransformersAreAppliedInOrderAndUndoneInReverse() throws {
    let flip = ByteTransformer.cipher(
      id: "flip",
      encrypt: { $0.map { ~$0 } },
      decrypt: { $0.map { ~$0 } }
    )
    let text = String(repeating: "esker ", count: 200)
    let sealed = Transformer<String>.utf8.then(.lz4).then(flip).then(.checksum)
    #expect(sealed.id == "utf8+lz4+flip+crc32c")
    let bytes = try sealed.encode(text)
    #expect(bytes.count < 100)
    #expect(try sealed.decode(bytes) == text)
    var damaged = bytes
    damaged[10] ^= 1
    #expect(throws: TransformerError.checksumMismatch) { try sealed.decode(damaged) }
  }

  @Test(arguments: [0, 1, 4, 100, 70_000]) func compressionKeepsWhatDoesNotCompress(count: Int) throws {
    var generator = SeededGenerator(announcedFor: "compressionKeepsWhatDoesNotCompress")
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let transformer = Transformer<[UInt8]>.bytes.then(.lz4)
    let encoded = try transformer.encode(bytes)
    #expect(encoded.count <= count + 4)
    #expect(try transformer.decode(encoded) == bytes)
  }

  @Test func compressedBlockThatLiesAboutItsLengthIsRefused() {
    #expect(throws: TransformerError.self) {
      try Transformer<[UInt8]>.bytes.then(.lz4).decode([0xFF, 0xFF, 0xFF, 0x3F, 0x10, 0x00])
    }
  }

  @Test func versionPrecedesTheValueAndOldOnesMigrate() throws {
    let old = Transformer<Int>.json
    let first = Transformer<Int>.json.versioned(1)
    let second = Transformer<String>.json.versioned(2) { version, bytes in
      "from \(version): \(try Transformer<Int>.json.decode(bytes))"
    }
    #expect(try first.encode(7) == [0xE5, 0x6B, 0x72, 0x76, 1, 0, 0x37])
    #expect(try second.decode(try old.encode(7)) == "from 0: 7")
    #expect(try second.decode(try first.encode(7)) == "from 1: 7")
    #expect(try second.decode(try second.encode("new")) == "new")
    #expect(throws: TransformerError.unknownVersion(2, known: 1)) { try first.decode(try second.encode("new")) }
  }

  /// An old program is told what it has met, what it knows and what helps.
  @Test func aNewerVersionIsNamedWithTheOneKnown() throws {
    try withTemporaryStore { store in
      let newer = try store.storage("users", transformer: Transformer<String>.json.versioned(3))
      try newer.set("new", forKey: "a")
      let message = { (form: Transformer<String>) throws -> String in
        do {
          _ = try store.storage("users", transformer: form).value(forKey: "a")
          return ""
        } catch { return "\(error)" }
      }
      let told = "has version 3, and this program knows versions up to 2: update the program"
      let older = try message(.json.versioned(2))
      #expect(older.hasSuffix(told), "\(older)")
      // As a migration of the program's own says it.
      let migrating = Transformer<String>.json.versioned(2) { version, bytes in
        guard version < 2 else { throw TransformerError.unknownVersion(version) }
        return try Transformer<String>.json.decode(bytes)
      }
      #expect(try message(migrating).hasSuffix(told))
      let without = try message(.json.versioned(4))
      #expect(
        without.contains("it has version 3, and this program, of version 4, has no migration from it"),
        "\(without)"
      )
    }
  }

  @Test func standardFormIsTheTypesOwnAlsoInGenericCode() throws {
    func standard<Value: Codable & Sendable>(_ value: Value) throws -> [UInt8] {
      try Transformer<Value>.standard.encode(value)
    }
    #expect(try standard(1) == [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(try standard("a") == [0x61])
    #expect(try standard([UInt8(9)]) == [9])
    #expect(try standard([1]) == [0x81, 1])
  }
}
