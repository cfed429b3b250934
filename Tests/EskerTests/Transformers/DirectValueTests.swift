import Esker
import EskerCBOR
import Foundation
import Testing

/// Values that do without Codable's calls are kept in the form of all others.
@Suite struct DirectValueTests {
  /// Codable's own conformance fails, so whatever works takes the other way.
  private struct Direct: Codable, CBORCodable, Sendable, Equatable {
    var name: String

    init(name: String) { self.name = name }

    func encode(into writer: inout CBORWriter) throws {
      var map = try writer.beginMap()
      try writer.write(name, forKey: "name", in: &map)
      try writer.end(map)
    }

    init(from reader: inout CBORReader) throws {
      var map = try reader.beginMap()
      name = try reader.read(forKey: "name", in: &map)
      try reader.end(map)
    }

    func encode(to encoder: any Encoder) throws { throw WrongWay() }
    init(from decoder: any Decoder) throws { throw WrongWay() }
  }

  private struct Plain: Codable, Sendable, Equatable { var name: String }
  private struct WrongWay: Error {}

  /// As a program reaches it that is generic over its values.
  private func binary<Value: Codable & Sendable>(of type: Value.Type) -> Transformer<Value> { .binary }

  @Test func bothWaysShareAKeyspace() throws {
    try withTemporaryStore { store in
      let direct = try store.storage("values", of: Direct.self)
      let plain = try store.storage("values", of: Plain.self)
      try direct.set(Direct(name: "Anna"), forKey: "a")
      try plain.set(Plain(name: "Bert"), forKey: "b")
      #expect(try plain.value(forKey: "a") == Plain(name: "Anna"))
      #expect(try direct.value(forKey: "b") == Direct(name: "Bert"))
      #expect(try store.keyspace("values").valueForm == "cbor")
    }
  }

  @Test func theWayIsFoundAtRunTimeToo() throws {
    let transformer = binary(of: Direct.self)
    let bytes = try transformer.encode(Direct(name: "Anna"))
    #expect(bytes == (try Transformer<Plain>.binary.encode(Plain(name: "Anna"))))
    #expect(try transformer.decode(bytes) == Direct(name: "Anna"))
    #expect(transformer.id == Transformer<Direct>.binary.id)
    // Inside of other values, and as elements of collections.
    let list = binary(of: [String: [Direct?]].self)
    let people = ["all": [Direct(name: "Anna"), nil]]
    #expect(try list.decode(try list.encode(people)) == people)
  }

  @Test func aValueThatCannotBeReadIsReportedWithItsKey() throws {
    try withTemporaryStore { store in
      let direct = try store.storage("values", of: Direct.self)
      try store.keyspace("values").put([0xa0], forKey: "a")
      #expect {
        try direct.value(forKey: "a")
      } throws: { error in
        guard case StorageError.decoding(_, _, _, let underlying) = error,
          case DecodingError.keyNotFound(let key, _) = underlying
        else { return false }
        return key.stringValue == "name"
      }
    }
  }
}
