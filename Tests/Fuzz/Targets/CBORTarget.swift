import EskerCBOR
import Foundation

extension FuzzTarget {
  /// CBOR, as values of several types. What can be decoded is the same when it is encoded again, and with Codable and without.
  static let cbor = FuzzTarget(
    name: "cbor",
    longest: 1024,
    samples: {
      var random = Seeded(7)
      var inputs: [String: [UInt8]] = [:]
      for number in 1...3 { inputs["sample-\(number)"] = try CBOREncoder().encode(Plain.Sample.random(&random)) }
      inputs["scalars"] = try CBOREncoder().encode(Scalars())
      return inputs
    },
    run: { input in
      let bytes = Array(input)
      let plain = Documents.again(Plain.Sample.self, bytes)
      require(plain == Documents.again(Direct.Sample.self, bytes), "a direct type reads other values than Codable does")
      Documents.again(Scalars.self, bytes)
      Documents.again(Plain.Node.self, bytes)
      Documents.again([String: [Int]].self, bytes)
      Documents.again([Int: Date].self, bytes)
      Documents.again([Decimal].self, bytes)
      Documents.again([URL?].self, bytes)
      Documents.again(Set<Int128>.self, bytes)
      Documents.again([Double].self, bytes)
      Documents.again(Data.self, bytes)
      Documents.again(String.self, bytes)
      Documents.items(bytes)
    }
  )
}

/// Values that documents are read as.
private enum Documents {
  private static let encoder = CBOREncoder(sortsKeys: true)
  private static let decoder = CBORDecoder()

  /// The bytes of the document of the value that another was read as, which is read as the same; nil if it is none. They are sorted: sets,
  /// and dictionaries whose keys are no text or numbers, have no order of their own.
  @discardableResult
  static func again<T: Codable>(_ type: T.Type, _ bytes: [UInt8]) -> [UInt8]? {
    guard let value = try? decoder.decode(type, from: bytes) else { return nil }
    return requireAccepted("an encoded \(type)") {
      let first = try encoder.encode(value)
      let second = try encoder.encode(try decoder.decode(type, from: first))
      require(first.sorted() == second.sorted(), "a \(type) became another")
      return first.sorted()
    }
  }

  /// Reads the items as the tool does, which knows no types.
  static func items(_ bytes: [UInt8]) {
    ItemReader.read(bytes) { reader in
      for offset in 0..<min(bytes.count, 32) {
        guard let head = try? reader.head(at: offset) else { continue }
        require(head.end > offset && head.end <= bytes.count, "a head ends behind the bytes")
        if let text = try? reader.text(head) { require(text.end <= bytes.count, "a text ends behind the bytes") }
        if let string = try? reader.bytes(head) { require(string.end <= bytes.count, "a string ends behind the bytes") }
        if let items = try? reader.items(head) { require(items <= bytes.count, "more items than bytes") }
      }
    }
  }
}

/// One of each sort.
private struct Scalars: Codable {
  var id = 12_345_678_901
  var byte: UInt8 = 200
  var half: Float = 1.5
  var date = Date(timeIntervalSinceReferenceDate: 785_431_122.333_333_3)
  var data = Data([1, 2, 3])
  var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  var url = URL(string: "a:b")
  var price = Decimal(sign: .minus, exponent: -2, significand: 125)
  var wide = Int128.min
  var table: [String: [Double?]] = ["k": [1.25, nil]]
  var shape = Shape.group([.circle(radius: 2)], name: "g")
}

private indirect enum Shape: Codable {
  case circle(radius: Double)
  case group([Shape], name: String)
}
