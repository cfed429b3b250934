import EskerCBOR
import Foundation

// Each shape twice: as Codable synthesizes it, and with a conformance to CBORCodable beside that.

enum Plain {
  struct Sample: Codable {
    var id: Int
    var name: String
    var mail: String?
    var score: Double
    var active: Bool
    var kind: Kind
    var place: Place?
    var foreign: Foreign
    var tags: [String]
    var counts: [String: Int]
    var names: [Int: String]
    var flags: [UUID: Bool]
    var kinds: [Kind: Int]
    var data: [UInt8]
    var numbers: [Int]
    var halves: [Float?]
    var places: [Place]
    var date: Date

    enum CodingKeys: String, CodingKey {
      case id, name, mail
      case score = "a key of more than sixteen bytes"
      case active = "größe"
      case kind, place, foreign, tags, counts, names, flags, kinds, data, numbers, halves, places
      case date = "fifteen bytes.."
    }
  }

  struct Place: Codable {
    var x: Int8
    var y: UInt64?

    enum CodingKeys: Int, CodingKey { case x = 1, y = -300 }
  }

  enum Kind: String, Codable, CodingKeyRepresentable { case plain, special }

  struct Node: Codable { var children: [Node] }
}

enum Direct {
  struct Sample: Codable, CBORCodable {
    var id: Int
    var name: String
    var mail: String?
    var score: Double
    var active: Bool
    var kind: Kind
    var place: Place?
    var foreign: Foreign
    var tags: [String]
    var counts: [String: Int]
    var names: [Int: String]
    var flags: [UUID: Bool]
    var kinds: [Kind: Int]
    var data: [UInt8]
    var numbers: [Int]
    var halves: [Float?]
    var places: [Place]
    var date: Date

    func encode(into writer: inout CBORWriter) throws {
      var map = try writer.beginMap()
      try writer.write(id, forKey: "id", in: &map)
      try writer.write(name, forKey: "name", in: &map)
      try writer.write(mail, forKey: "mail", in: &map)
      try writer.write(score, forKey: "a key of more than sixteen bytes", in: &map)
      try writer.write(active, forKey: "größe", in: &map)
      try writer.write(kind, forKey: "kind", in: &map)
      try writer.write(place, forKey: "place", in: &map)
      try writer.write(foreign, forKey: "foreign", in: &map)
      try writer.write(tags, forKey: "tags", in: &map)
      try writer.write(counts, forKey: "counts", in: &map)
      try writer.write(names, forKey: "names", in: &map)
      try writer.write(flags, forKey: "flags", in: &map)
      try writer.write(kinds, forKey: "kinds", in: &map)
      try writer.write(data, forKey: "data", in: &map)
      try writer.write(numbers, forKey: "numbers", in: &map)
      try writer.write(halves, forKey: "halves", in: &map)
      try writer.write(places, forKey: "places", in: &map)
      try writer.write(date, forKey: "fifteen bytes..", in: &map)
      try writer.end(map)
    }

    init(from reader: inout CBORReader) throws {
      var map = try reader.beginMap()
      id = try reader.read(forKey: "id", in: &map)
      name = try reader.read(forKey: "name", in: &map)
      mail = try reader.read(forKey: "mail", in: &map)
      score = try reader.read(forKey: "a key of more than sixteen bytes", in: &map)
      active = try reader.read(forKey: "größe", in: &map)
      kind = try reader.read(forKey: "kind", in: &map)
      place = try reader.read(forKey: "place", in: &map)
      foreign = try reader.read(forKey: "foreign", in: &map)
      tags = try reader.read(forKey: "tags", in: &map)
      counts = try reader.read(forKey: "counts", in: &map)
      names = try reader.read(forKey: "names", in: &map)
      flags = try reader.read(forKey: "flags", in: &map)
      kinds = try reader.read(forKey: "kinds", in: &map)
      data = try reader.read(forKey: "data", in: &map)
      numbers = try reader.read(forKey: "numbers", in: &map)
      halves = try reader.read(forKey: "halves", in: &map)
      places = try reader.read(forKey: "places", in: &map)
      date = try reader.read(forKey: "fifteen bytes..", in: &map)
      try reader.end(map)
    }
  }

  struct Place: Codable, CBORCodable {
    var x: Int8
    var y: UInt64?

    func encode(into writer: inout CBORWriter) throws {
      var map = try writer.beginMap()
      try writer.write(x, forKey: CBORKey(1, name: "x"), in: &map)
      try writer.write(y, forKey: CBORKey(-300, name: "y"), in: &map)
      try writer.end(map)
    }

    init(from reader: inout CBORReader) throws {
      var map = try reader.beginMap()
      x = try reader.read(forKey: CBORKey(1, name: "x"), in: &map)
      y = try reader.read(forKey: CBORKey(-300, name: "y"), in: &map)
      try reader.end(map)
    }

    // Codable's own conformance is left to Plain: whoever calls this one has not taken the direct way.
    init(from decoder: any Decoder) throws { throw WrongWay() }
    func encode(to encoder: any Encoder) throws { throw WrongWay() }
  }

  enum Kind: String, CBORCodable, CodingKeyRepresentable { case plain, special }

  struct Node: Codable, CBORCodable {
    var children: [Node]

    func encode(into writer: inout CBORWriter) throws {
      var map = try writer.beginMap()
      try writer.write(children, forKey: "children", in: &map)
      try writer.end(map)
    }

    init(from reader: inout CBORReader) throws {
      var map = try reader.beginMap()
      children = try reader.read(forKey: "children", in: &map)
      try reader.end(map)
    }

    init(children: [Node]) { self.children = children }
  }
}

struct WrongWay: Error {}

/// A type that both shapes leave to Codable.
struct Foreign: Codable {
  var text: String
  var inner: [Int: Bool]
}

extension Plain.Sample {
  /// A value that only the seed determines, but for the order of its dictionaries.
  static func random(_ random: inout Seeded) -> Plain.Sample {
    func text() -> String {
      String((0..<Int.random(in: 0..<40, using: &random)).map { _ in "aß-€x🙂z".randomElement(using: &random) ?? "a" })
    }
    func some<T>(_ make: () -> T) -> [T] { (0..<Int.random(in: 0..<4, using: &random)).map { _ in make() } }
    func integer() -> Int { Int.random(in: .min ... .max, using: &random) >> Int.random(in: 0..<64, using: &random) }
    func place() -> Plain.Place { Plain.Place(x: Int8(truncatingIfNeeded: integer()), y: UInt64(exactly: integer())) }
    func uuid() -> UUID {
      UUID(uuidString: "2B7E1516-28AE-D2A6-ABF7-15880000\(1000 + abs(integer() % 9000))") ?? UUID()
    }
    return Plain.Sample(
      id: integer(),
      name: text(),
      mail: Bool.random(using: &random) ? text() : nil,
      score: Double(integer()) / 8,
      active: Bool.random(using: &random),
      kind: Bool.random(using: &random) ? .plain : .special,
      place: Bool.random(using: &random) ? place() : nil,
      foreign: Foreign(text: text(), inner: [integer(): true]),
      tags: some(text),
      counts: Dictionary(some { (text(), integer()) }) { $1 },
      names: Dictionary(some { (integer(), text()) }) { $1 },
      flags: Dictionary(some { (uuid(), true) }) { $1 },
      kinds: [.plain: integer()],
      data: some { UInt8(truncatingIfNeeded: integer()) },
      numbers: some(integer),
      halves: some { Bool.random(using: &random) ? Float(integer()) : nil },
      places: some(place),
      date: Date(timeIntervalSinceReferenceDate: Double(integer() % 1_000_000_000) / 4)
    )
  }
}
