import EskerCBOR
import Foundation
import Testing

/// Types that do without Codable write what Codable would write, and accept and refuse what Codable would.
@Suite struct DirectTests {
  /// What decoding comes to: the value as bytes, or the error.
  private func outcome<T: Codable>(_ type: T.Type, _ bytes: [UInt8]) -> String {
    do {
      return hex(try CBOREncoder(sortsKeys: true).encode(try CBORDecoder().decode(type, from: bytes)))
    } catch {
      return describe(error)
    }
  }

  private func describe(_ error: any Error) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { key in key.intValue.map { "#\($0)" } ?? key.stringValue }
      return "at \(path.joined(separator: "/")): \(context.debugDescription)"
    }
    switch error as? DecodingError {
    case .dataCorrupted(let context): return "dataCorrupted \(place(context))"
    case .keyNotFound(let key, let context):
      return "keyNotFound \(key.stringValue), \(String(describing: key.intValue)) \(place(context))"
    case .valueNotFound(let type, let context): return "valueNotFound \(type) \(place(context))"
    case .typeMismatch(let type, let context): return "typeMismatch \(type) \(place(context))"
    default: return "\(error)"
    }
  }

  private func expectSameOutcome(_ bytes: [UInt8], _ comment: Comment) {
    #expect(outcome(Direct.Sample.self, bytes) == outcome(Plain.Sample.self, bytes), comment)
  }

  @Test func bytesAreThoseOfCodable() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = Seeded(seed)
    for _ in 0..<200 {
      for sortsKeys in [false, true] {
        let encoder = CBOREncoder(sortsKeys: sortsKeys)
        let bytes = try encoder.encode(try single(Plain.Sample.random(&random)))
        let direct = try CBORDecoder().decode(Direct.Sample.self, from: bytes)
        #expect(try encoder.encode(direct) == bytes, "seed \(seed)")
        #expect(try encoder.encode([direct]) == [0x81] + bytes, "seed \(seed)")
        #expect(try encoder.withEncodedBytes(of: direct) { $0.byteCount } == bytes.count, "seed \(seed)")
        expectSameOutcome(bytes, "seed \(seed)")
      }
    }
  }

  /// The value with dictionaries of at most one entry, whose order is known.
  private func single(_ value: Plain.Sample) throws -> Plain.Sample {
    var value = value
    value.counts = Dictionary(value.counts.prefix(1).map { ($0.key, $0.value) }) { $1 }
    value.names = Dictionary(value.names.prefix(1).map { ($0.key, $0.value) }) { $1 }
    value.flags = Dictionary(value.flags.prefix(1).map { ($0.key, $0.value) }) { $1 }
    return value
  }

  @Test func truncatedBytesCauseTheSameErrors() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = Seeded(seed)
    let bytes = try CBOREncoder().encode(Plain.Sample.random(&random))
    for length in bytes.indices { expectSameOutcome([UInt8](bytes[..<length]), "seed \(seed), \(length) bytes") }
  }

  @Test func changedBytesCauseTheSameValuesAndErrors() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = Seeded(seed)
    for round in 0..<10 {
      let bytes = try CBOREncoder().encode(try single(Plain.Sample.random(&random)))
      for index in bytes.indices {
        var changed = bytes
        let others: [UInt8] = [0x00, 0x1b, 0x40, 0x60, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xf6, 0xf7, 0xfb, 0xff]
        changed[index] =
          round % 2 == 0 ? UInt8.random(in: 0 ... .max, using: &random) : others.randomElement(using: &random) ?? 0
        expectSameOutcome(changed, "seed \(seed), round \(round): \(hex(changed))")
      }
    }
  }

  /// Fields in another order, left out, unknown, twice, of other kinds.
  @Test func changedFieldsCauseTheSameValuesAndErrors() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = Seeded(seed)
    for _ in 0..<5 {
      let bytes = try CBOREncoder().encode(try single(Plain.Sample.random(&random)))
      guard case .map(let map) = try CBORDecoder().decode(Item.self, from: bytes) else { throw WrongWay() }
      expectSameOutcome(try CBOREncoder().encode(Item.map(map)), "seed \(seed)")
      for key in map.keys.sorted() {
        var changed = map
        changed[key] = nil
        expectSameOutcome(try CBOREncoder().encode(Item.map(changed)), "seed \(seed), without \(key)")
        changed["unknown"] = map[key]
        expectSameOutcome(try CBOREncoder().encode(Item.map(changed)), "seed \(seed), renamed \(key)")
        let others: [Item] = [
          .null, .bool(true), .integer(-1), .integer(1 << 70), .number(1.5), .number(.nan), .text("special"),
          .text("😀"),
          .bytes([1, 2]), .array([]), .array([.integer(1), .text("a"), .null]), .map([:]),
          .map(["1": .integer(1), "b": .null]),
        ]
        for other in others {
          changed = map
          changed[key] = other
          expectSameOutcome(try CBOREncoder().encode(Item.map(changed)), "seed \(seed), \(key): \(other)")
        }
      }
    }
  }

  @Test func mapsOfOtherWritersAreRead() throws {
    let places = [
      "a20103 39012b 07", "a239012b 07 0103", "bf0103ff", "bf0103 39012bf6ff", "a1617803", "a161780361",
      "a2617803617904", "c1a10103",
      "a1c10103", "a1180103", "a2010301", "a3 01 03 01 04 39012b 05", "a2 f5 00 01 02", "a2 6079 00 01 02", "a0",
      "bfff", "a1 7f6178ff 03",
      "a101f7", "a10118ff", "b7", "a2 01 03 39012b 1bffffffffffffffff",
    ]
    for place in places {
      #expect(outcome(Direct.Place.self, bytes(place)) == plainOutcome(bytes(place)), "\(place)")
      // Inside another value.
      #expect(
        outcome([Direct.Place].self, [0x81] + bytes(place)) == outcome([Plain.Place].self, [0x81] + bytes(place)),
        "\(place)"
      )
    }
  }

  private func plainOutcome(_ bytes: [UInt8]) -> String { outcome(Plain.Place.self, bytes) }

  @Test func dictionariesAreReadAsCodableReadsThem() throws {
    for dictionary in [
      "a161610a", "a26161016161 02", "a2 01 01 6131 02", "a2 6131 01 01 02", "a1 6130 01", "a1 623031 05", "a1 61fe 01",
      "a1 f5 01", "bf 6161 01 ff",
      "a2 6161 01 f6 02", "80", "82 6161 01", "81 6161", "a1 6161 f6", "a1 6161", "b8ff 6161 01", "d9d9f7 a1 6161 01",
      "a1 3903e7 01",
    ] {
      let bytes = bytes(dictionary)
      #expect(throughCodable([String: Int8].self, bytes) == outcome([String: Int8].self, bytes), "\(dictionary)")
      #expect(throughCodable([Int: Int8].self, bytes) == outcome([Int: Int8].self, bytes), "\(dictionary)")
      #expect(throughCodable([Bool: Int8].self, bytes) == outcome([Bool: Int8].self, bytes), "\(dictionary)")
    }
  }

  /// What decoding comes to if it is left to Codable's conformance.
  private func throughCodable<T: Codable>(_ type: T.Type, _ bytes: [UInt8]) -> String {
    do {
      return hex(
        try CBOREncoder(sortsKeys: true).encode(try CBORDecoder().decode(LeftToCodable<T>.self, from: bytes).value)
      )
    } catch {
      return describe(error)
    }
  }

  @Test func valuesInsideOfCodableTypesTakeTheDirectWay() throws {
    struct Outer: Codable {
      var first: Direct.Place
      var all: [Direct.Place]
      var byName: [String: Direct.Place]
      var other: Direct.Place?
    }
    let place = try CBORDecoder().decode(Direct.Place.self, from: bytes("a20103 39012b 07"))
    let outer = Outer(first: place, all: [place, place], byName: ["a": place], other: nil)
    let encoded = try CBOREncoder().encode(outer)
    let back = try CBORDecoder().decode(Outer.self, from: encoded)
    #expect(back.first.x == 3 && back.all.map(\.y) == [7, 7] && back.byName["a"]?.x == 3 && back.other == nil)
    #expect(throws: WrongWay.self) { try JSONEncoder().encode(place) }
  }

  @Test func nestingEndsAtTheSameDepth() throws {
    func plain(_ depth: Int) -> Plain.Node {
      Plain.Node(children: depth == 0 ? [] : [plain(depth - 1)])
    }
    func direct(_ depth: Int) -> Direct.Node {
      Direct.Node(children: depth == 0 ? [] : [direct(depth - 1)])
    }
    let encoder = CBOREncoder()
    for depth in [0, 1, 100, 127] {
      let bytes = try encoder.encode(plain(depth))
      #expect(try encoder.encode(direct(depth)) == bytes)
      #expect(try encoder.encode([direct(0)]) == [0x81] + encoder.encode(plain(0)))
      #expect(outcome(Direct.Node.self, bytes) == outcome(Plain.Node.self, bytes))
    }
    #expect(throws: EncodingError.self) { try encoder.encode(plain(128)) }
    #expect(throws: EncodingError.self) { try encoder.encode(direct(128)) }
    // The session goes on.
    #expect(try encoder.encode(direct(127)) == encoder.encode(plain(127)))
    let tooDeep = [UInt8](repeating: 0xa1, count: 1) + bytes("686368696c6472656e")
    let document = (0..<200).reduce([UInt8]()) { bytes, _ in bytes + tooDeep + [0x81] } + [0xa0]
    #expect(outcome(Direct.Node.self, document) == outcome(Plain.Node.self, document))
    #expect(outcome(Direct.Node.self, document).contains("nested in more than 256"))
  }

  @Test func unfinishedValuesAreErrors() throws {
    struct Open: Codable, CBOREncodable {
      func encode(into writer: inout CBORWriter) throws { _ = try writer.beginMap() }
    }
    struct Nothing: Codable, CBOREncodable {
      func encode(into writer: inout CBORWriter) throws {}
    }
    struct Outer<Value: Codable>: Codable { var value: Value }
    let encoder = CBOREncoder()
    #expect(throws: EncodingError.self) { try encoder.encode(Open()) }
    #expect(throws: EncodingError.self) { try encoder.encode(Nothing()) }
    #expect(throws: EncodingError.self) { try encoder.encode(Outer(value: Open())) }
    #expect(throws: EncodingError.self) { try encoder.encode(Outer(value: Nothing())) }
    #expect(try encoder.encode(Outer(value: 1)) == bytes("a16576616c756501"))
  }

  @Test func errorsOfValuesInsideSayWhereTheyAre() throws {
    struct Failing: Codable {
      init() {}
      init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: ""))
      }
    }
    struct Lists: Codable, CBOREncodable {
      func encode(into writer: inout CBORWriter) throws {
        var map = try writer.beginMap()
        try writer.write(1, forKey: "first", in: &map)
        try writer.write([[], [Failing()]], forKey: "second", in: &map)
        try writer.end(map)
      }
    }
    do {
      _ = try CBOREncoder().encode(["outer": Lists()])
      Issue.record("no error")
    } catch EncodingError.invalidValue(_, let context) {
      #expect(context.codingPath.map(\.stringValue) == ["outer", "second", "1", "0"])
    }
  }

  @Test func listsAreWrittenAndRead() throws {
    struct Pair: Codable, CBORCodable, Equatable {
      var first: Int
      var second: Foreign?

      init(first: Int, second: Foreign?) { (self.first, self.second) = (first, second) }

      static func == (left: Pair, right: Pair) -> Bool {
        left.first == right.first && left.second?.text == right.second?.text
      }

      func encode(into writer: inout CBORWriter) throws {
        var list = try writer.beginList()
        try writer.write(first, in: &list)
        try writer.write(second, in: &list)
        writer.end(list)
      }

      init(from reader: inout CBORReader) throws {
        var list = try reader.beginList()
        first = try reader.read(in: &list)
        second = list.isAtEnd ? nil : try reader.read(in: &list)
        try reader.end(list)
      }
    }
    let pair = Pair(first: 1, second: Foreign(text: "a", inner: [:]))
    let encoded = try CBOREncoder().encode(pair)
    #expect(hex(encoded) == "8201a264746578746161" + "65696e6e6572a0")
    #expect(try CBORDecoder().decode(Pair.self, from: encoded) == pair)
    #expect(try CBORDecoder().decode(Pair.self, from: bytes("8101")) == Pair(first: 1, second: nil))
    #expect(try CBORDecoder().decode(Pair.self, from: bytes("9f01f60203ff")) == Pair(first: 1, second: nil))
    #expect(throws: DecodingError.self) { try CBORDecoder().decode(Pair.self, from: bytes("80")) }
    #expect(throws: DecodingError.self) { try CBORDecoder().decode(Pair.self, from: bytes("8201f600")) }
  }

  @Test func keysAreSpelledOut() throws {
    func spelled(_ key: CBORKey) throws -> String {
      struct Keyed: Codable, CBOREncodable {
        let key: CBORKey
        init(_ key: CBORKey) { self.key = key }
        init(from decoder: any Decoder) throws { throw WrongWay() }
        func encode(to encoder: any Encoder) throws { throw WrongWay() }
        func encode(into writer: inout CBORWriter) throws {
          var map = try writer.beginMap()
          try writer.write(0, forKey: key, in: &map)
          try writer.end(map)
        }
      }
      return hex(try CBOREncoder().encode(Keyed(key)))
    }
    #expect(try spelled("") == "a16000")
    #expect(try spelled("id") == "a162696400")
    #expect(try spelled(CBORKey(_low: 0x6469_62, 0, length: 3, "id")) == "a162696400")
    #expect(try spelled("sevenby") == "a167736576656e627900")
    #expect(try spelled("fifteen bytes..") == "a16f" + hex([UInt8]("fifteen bytes..".utf8)) + "00")
    #expect(try spelled("sixteen bytes...") == "a170" + hex([UInt8]("sixteen bytes...".utf8)) + "00")
    for number in [
      0, 1, 23, 24, 255, 256, 65535, 65536, 4_294_967_295, 4_294_967_296, Int.max, -1, -24, -25, -257, Int.min,
    ] {
      #expect(try spelled(CBORKey(number, name: "n")) == "a1" + (try encoded(number)) + "00")
    }
  }
}

/// Decodes a value by Codable's conformance of its type.
private struct LeftToCodable<Value: Decodable>: Decodable {
  var value: Value
  init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
}
