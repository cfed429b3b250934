import Esker
import EskerCBOR
import EskerMacros
import Foundation

/// About 110 bytes as JSON.
struct User: Codable, Sendable {
  var id: Int
  var name: String
  var mail: String
  var score: Double
  var active: Bool
}

/// The same without Codable's calls: with the trait `Macros` by what the macro writes, otherwise by hand, which comes to the same.
#if Macros
  @CBORCodable
#endif
struct DirectUser: Codable, Sendable {
  var id: Int
  var name: String
  var mail: String
  var score: Double
  var active: Bool

  init(_ user: User) {
    id = user.id
    name = user.name
    mail = user.mail
    score = user.score
    active = user.active
  }
}

#if !Macros
  extension DirectUser: CBORCodable {
    func encode(into writer: inout CBORWriter) throws {
      var map = try writer.beginMap()
      try writer.write(id, forKey: CBORKey(_low: 0x6469_62, 0, length: 3, "id"), in: &map)
      try writer.write(name, forKey: CBORKey(_low: 0x65_6d61_6e64, 0, length: 5, "name"), in: &map)
      try writer.write(mail, forKey: CBORKey(_low: 0x6c_6961_6d64, 0, length: 5, "mail"), in: &map)
      try writer.write(score, forKey: CBORKey(_low: 0x6572_6f63_7365, 0, length: 6, "score"), in: &map)
      try writer.write(active, forKey: CBORKey(_low: 0x65_7669_7463_6166, 0, length: 7, "active"), in: &map)
      try writer.end(map)
    }

    init(from reader: inout CBORReader) throws {
      var map = try reader.beginMap()
      id = try reader.read(forKey: CBORKey(_low: 0x6469_62, 0, length: 3, "id"), in: &map)
      name = try reader.read(forKey: CBORKey(_low: 0x65_6d61_6e64, 0, length: 5, "name"), in: &map)
      mail = try reader.read(forKey: CBORKey(_low: 0x6c_6961_6d64, 0, length: 5, "mail"), in: &map)
      score = try reader.read(forKey: CBORKey(_low: 0x6572_6f63_7365, 0, length: 6, "score"), in: &map)
      active = try reader.read(forKey: CBORKey(_low: 0x65_7669_7463_6166, 0, length: 7, "active"), in: &map)
      try reader.end(map)
    }
  }
#endif

/// Typed set and get of a struct, against the coders alone and bytes in and out of the same store.
func measureCodecs(_ store: LogStore) throws -> Int {
  let count = 100_000
  let keys = (0..<count).map { "key-\($0 &* 2_654_435_761 % 1_000_000_007)" }
  let users = (0..<count).map {
    User(id: $0, name: "Anna Maria \($0)", mail: "anna.maria.\($0)@example.org", score: Double($0) / 8, active: true)
  }
  let raw = try store.keyspace("raw")
  let binary = try LogStorage(store, "binary", key: String.self, transformer: Transformer<User>.binary)
  let direct = try LogStorage(store, "direct", key: String.self, of: DirectUser.self)
  let directUsers = users.map(DirectUser.init)
  let json = try LogStorage(store, "json", key: String.self, transformer: Transformer<User>.json)
  let bytes = try users.map { try Transformer<User>.binary.encode($0) }
  let encoder = JSONEncoder()
  let decoder = JSONDecoder()
  let texts = try users.map { try encoder.encode($0) }
  var sum = 0
  let sets = try best(
    5,
    of: count,
    [
      { for index in 0..<count { try raw.put(bytes[index], forKey: keys[index]) } },
      { for index in 0..<count { try binary.set(users[index], forKey: keys[index]) } },
      { for index in 0..<count { try direct.set(directUsers[index], forKey: keys[index]) } },
      { for index in 0..<count { try json.set(users[index], forKey: keys[index]) } },
      { for index in 0..<count { sum &+= try encoder.encode(users[index]).count } },
    ]
  )
  let gets = try best(
    5,
    of: count,
    [
      { for index in 0..<count { sum &+= try raw.get(keys[index])?.count ?? 0 } },
      { for index in 0..<count { sum &+= try binary.value(forKey: keys[index])?.id ?? 0 } },
      { for index in 0..<count { sum &+= try direct.value(forKey: keys[index])?.id ?? 0 } },
      { for index in 0..<count { sum &+= try json.value(forKey: keys[index])?.id ?? 0 } },
      { for index in 0..<count { sum &+= try decoder.decode(User.self, from: texts[index]).id } },
    ]
  )
  for (name, times) in [("set", sets), ("get", gets)] {
    row("\(name) bytes, \(bytes[7].count) B", times[0])
    row(
      "\(name) binary",
      times[1],
      "\(text(times[0] / times[1], 2)) of bytes, \(text(times[3] / times[1], 2)) times json"
    )
    row(
      "\(name) binary without Codable",
      times[2],
      "\(text(times[0] / times[2], 2)) of bytes, \(text(times[1] / times[2], 2)) times binary"
    )
    row("\(name) json, \(texts[7].count) B", times[3], "\(text(times[4] / times[3], 2)) of the codec alone")
    row("json codec alone", times[4])
  }
  return sum
}

/// A `String` to `Int` storage against puts and gets of eight bytes.
func measureIntegers(_ store: LogStore) throws -> Int {
  let count = 100_000
  let keys = (0..<count).map { "key-\($0 &* 2_654_435_761 % 1_000_000_007)" }
  let values = try (0..<count).map { try Transformer<Int>.littleEndian.encode($0) }
  let raw = try store.keyspace("raw8")
  let typed = try LogStorage(store, "integers", key: String.self, of: Int.self)
  var sum = 0
  let times = try best(
    5,
    of: count,
    [
      { for index in 0..<count { try raw.put(values[index], forKey: keys[index]) } },
      { for index in 0..<count { try typed.set(index, forKey: keys[index]) } },
      { for index in 0..<count { sum &+= try raw.get(keys[index])?.count ?? 0 } },
      { for index in 0..<count { sum &+= try typed.value(forKey: keys[index]) ?? 0 } },
    ]
  )
  row("set bytes, 8 B", times[0])
  row("set Int", times[1], "\(text(times[0] / times[1], 2)) of bytes")
  row("get bytes, 8 B", times[2])
  row("get Int", times[3], "\(text(times[2] / times[3], 2)) of bytes")
  return sum
}
