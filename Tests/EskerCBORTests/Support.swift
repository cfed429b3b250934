import EskerCBOR
import Foundation
import Testing

/// The bytes that hexadecimal digits spell; spaces are ignored.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func encoded<T: Encodable>(_ value: T) throws -> String {
  hex(try CBOREncoder().encode(value))
}

func decoded<T: Decodable>(_ type: T.Type = T.self, _ digits: String) throws -> T {
  try CBORDecoder().decode(type, from: bytes(digits))
}

/// Checks that a value comes back equal, through bytes that are the same each time.
func expectRoundTrip<T: Codable & Equatable>(_ value: T, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let encoder = CBOREncoder()
  let bytes = try encoder.encode(value)
  #expect(try CBORDecoder().decode(T.self, from: bytes) == value, sourceLocation: sourceLocation)
  #expect(try encoder.encode(value) == bytes, sourceLocation: sourceLocation)
}

/// SplitMix64: the same numbers for the same seed on every system.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// Any item that has a counterpart in Codable, to look at documents without a type.
indirect enum Item: Codable, Equatable {
  case null
  case bool(Bool)
  case integer(Int128)
  case number(Double)
  case text(String)
  case bytes([UInt8])
  case array([Item])
  case map([String: Item])

  struct Key: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      var map: [String: Item] = [:]
      for key in container.allKeys { map[key.stringValue] = try container.decode(Item.self, forKey: key) }
      self = .map(map)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int128.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode(Data.self) {
      self = .bytes([UInt8](value))
    } else {
      self = .array(try container.decode([Item].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    if case .map(let map) = self {
      var container = encoder.container(keyedBy: Key.self)
      for (key, value) in map.sorted(by: { $0.key < $1.key }) {
        try container.encode(value, forKey: Key(stringValue: key))
      }
      return
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .bytes(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .map: break
    }
  }
}
