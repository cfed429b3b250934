import EskerCBOR
import Foundation
import Testing

@Suite struct ErrorTests {
  struct Outer: Codable {
    struct Inner: Codable { var numbers: [Int8] }
    var inner: [String: [Inner]]
  }

  private func context(_ error: any Error) -> (path: [String], text: String)? {
    let context: DecodingError.Context? =
      switch error as? DecodingError {
      case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
        .valueNotFound(_, let context):
        context
      default: nil
      }
    return context.map { ($0.codingPath.map(\.stringValue), $0.debugDescription) }
  }

  private func failure<T: Decodable>(_ type: T.Type, _ digits: String) -> (path: [String], text: String)? {
    do {
      _ = try decoded(type, digits)
      return nil
    } catch {
      return context(error)
    }
  }

  @Test func errorsNameTheCodingPathAndTheByte() throws {
    // {"inner": {"k": [{"numbers": [1, 300]}]}}
    let head = "a1" + "65696e6e6572" + "a1" + "616b" + "81" + "a1" + "676e756d62657273"
    let number = try #require(failure(Outer.self, head + "82" + "01" + "19012c"))
    #expect(number.path == ["inner", "k", "0", "numbers", "1"])
    #expect(number.text == "The number 300 does not fit in Int8. (At byte 22 of 25.)")
    let text = try #require(failure(Outer.self, head + "82" + "01" + "6178"))
    #expect(text.path == ["inner", "k", "0", "numbers", "1"])
    #expect(text.text == "Expected Int8, found a text. (At byte 22 of 24.)")
    let null = try #require(failure(Outer.self, head + "f6"))
    #expect(null.path == ["inner", "k", "0", "numbers"])
    let short = try #require(failure(Outer.self, head + "82" + "01" + "19"))
    #expect(short.path == ["inner", "k", "0", "numbers", "1"])
    #expect(short.text.contains("byte"))
    let missing = try #require(failure(Outer.self, "a1" + "65696e6e6572" + "a1" + "616b" + "81" + "a0"))
    #expect(missing.path == ["inner", "k", "0"])
    #expect(missing.text.contains("\"numbers\""))
    let trailing = try #require(failure(Int.self, "01" + "02"))
    #expect(trailing.text == "1 bytes follow the value. (At byte 1 of 2.)")
    #expect(failure(Int.self, "")?.text == "There are no bytes.")
  }

  @Test func anArrayThatEndsTooSoonSaysSo() throws {
    struct Pair: Decodable {
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        _ = try container.decode(Int.self)
        _ = try container.decode(Int.self)
      }
    }
    let error = try #require(failure(Pair.self, "8101"))
    #expect(error.path == ["1"])
    #expect(error.text == "The array has no more than 1 elements. (At byte 2 of 2.)")
  }

  struct Refusal: Error, Equatable { let path: [String] }

  /// Throws when it is asked to encode.
  struct Refuser: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode("half")
      throw Refusal(path: container.codingPath.map(\.stringValue))
    }
  }

  @Test func whatAValueThrowsReachesTheCallerWithItsPath() throws {
    let encoder = CBOREncoder()
    #expect(throws: Refusal(path: ["a", "1"])) { try encoder.encode(["a": [Refuser?.none, Refuser()]]) }
    var buffer: [UInt8] = [1]
    #expect(throws: Refusal.self) { try encoder.encode(["a": Refuser()], into: &buffer) }
    #expect(buffer == [1])
    // The encoder is as good as new.
    #expect(try encoder.encode(5) == [5])
  }

  @Test func aRefusalThatIsCaughtLeavesNothingBehind() throws {
    struct Forgiving: Encodable {
      enum CodingKeys: CodingKey { case a, b, c, d }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(1, forKey: .a)
        try? container.encode(["x": Refuser()], forKey: .b)
        var list = container.nestedUnkeyedContainer(forKey: .c)
        try? list.encode(Refuser())
        try list.encode(2)
        try container.encode(3, forKey: .d)
      }
    }
    #expect(try encoded(Forgiving()) == "a3" + "616101" + "61638102" + "616403")
  }

  @Test func containersUsedWronglyFailTheValue() throws {
    struct Mixed: Encodable {
      func encode(to encoder: any Encoder) throws {
        var keyed = encoder.container(keyedBy: Item.Key.self)
        var list = encoder.unkeyedContainer()
        try keyed.encode(1, forKey: Item.Key(stringValue: "a"))
        try list.encode(2)
      }
    }
    #expect(throws: EncodingError.self) { try CBOREncoder().encode(Mixed()) }

    struct Twice: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
        try container.encode(2)
      }
    }
    #expect(throws: EncodingError.self) { try CBOREncoder().encode([Twice()]) }
  }

  @Test func aCoderThatIsKeptDoesNothingAfterwards() throws {
    final class Keeper: Codable {
      nonisolated(unsafe) static var encoder: (any Encoder)?
      nonisolated(unsafe) static var list: (any UnkeyedEncodingContainer)?
      nonisolated(unsafe) static var decoder: (any Decoder)?
      init() {}
      init(from decoder: any Decoder) throws { Self.decoder = decoder }
      func encode(to encoder: any Encoder) throws {
        Self.encoder = encoder
        Self.list = encoder.unkeyedContainer()
      }
    }
    let encoder = CBOREncoder()
    let decoder = CBORDecoder()
    #expect(try encoder.encode(Keeper()) == [0x80])
    #expect(throws: EncodingError.self) { try Keeper.list?.encode(1) }
    #expect(throws: EncodingError.self) {
      var container = Keeper.encoder?.singleValueContainer()
      try container?.encode(1)
    }
    struct Late: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(1)
        try? Keeper.list?.encode(7)
        try container.encode(2)
      }
    }
    #expect(try encoder.encode(Late()) == [0x82, 1, 2])
    _ = try decoder.decode(Keeper.self, from: [0x05])
    #expect(try decoder.decode(Int.self, from: [0x06]) == 6)
    #expect(throws: DecodingError.self) { try Keeper.decoder?.singleValueContainer().decode(Int.self) }
    #expect(throws: DecodingError.self) { try Keeper.decoder?.unkeyedContainer() }
    struct ItemReader: Decodable {
      init(from other: any Decoder) throws {
        #expect(throws: DecodingError.self) { try Keeper.decoder?.singleValueContainer().decode(Int.self) }
      }
    }
    _ = try decoder.decode(ItemReader.self, from: [0x07])
    Keeper.encoder = nil
    Keeper.list = nil
    Keeper.decoder = nil
  }
}
