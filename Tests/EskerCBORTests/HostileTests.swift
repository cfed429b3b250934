import EskerCBOR
import Foundation
import Testing

@Suite struct HostileTests {
  struct Everything: Codable, Equatable {
    var id = 12_345_678_901
    var name = "name"
    var text = "a text of more than a few bytes, é"
    var ratio = 0.1
    var half = 1.5
    var flag = true
    var date = Date(timeIntervalSinceReferenceDate: 785_431_122.333_333_3)
    var day = Date(timeIntervalSince1970: 1_700_000_000)
    var data = Data([1, 2, 3])
    var raw: [UInt8] = [4, 5]
    var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var url = URL(string: "a:b")
    var price = Decimal(string: "-1.25")
    var wide = Int128.min
    var list = [1, -2, 300]
    var names: [String?] = ["a", nil]
    var table = ["k": [1.25]]
    var numbers = [7: "x"]
    var shape = ContainerTests.Shape.group([.circle(radius: 2)], name: "g")
    var woven = ContainerTests.Woven()
  }

  /// Whatever the bytes are: a value or an error, for types that look everywhere.
  private func decodeEveryWay(_ document: [UInt8]) {
    let decoder = CBORDecoder()
    _ = try? decoder.decode(Everything.self, from: document)
    _ = try? decoder.decode(Item.self, from: document)
    _ = try? decoder.decode([String: Item].self, from: document)
    _ = try? decoder.decode([Decimal].self, from: document)
    _ = try? decoder.decode([Int: Date].self, from: document)
  }

  /// Of the long document two bits of each byte, which others follow in other runs.
  @Test func flippedBitsAndEveryTruncationDecodeOrThrow() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("flipped bits, seed \(seed)")
    var random = Seeded(seed)
    let document = try CBOREncoder().encode(Everything())
    #expect(try CBORDecoder().decode(Everything.self, from: document) == Everything())
    for index in document.indices {
      #expect(throws: DecodingError.self) {
        try CBORDecoder().decode(Everything.self, from: Array(document[..<index]))
      }
      for bit in (0..<8).shuffled(using: &random).prefix(2) {
        var flipped = document
        flipped[index] ^= 1 << bit
        decodeEveryWay(flipped)
      }
    }
    for (digits, _) in VectorTests.canonical + VectorTests.accepted {
      let document = bytes(digits)
      for index in document.indices {
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Item.self, from: Array(document[..<index])) }
        for bit in 0..<8 {
          var flipped = document
          flipped[index] ^= 1 << bit
          decodeEveryWay(flipped)
        }
      }
    }
  }

  @Test func randomBytesDecodeOrThrow() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("random bytes, seed \(seed)")
    var random = Seeded(seed)
    // Bytes that begin something are more likely to lead somewhere than others.
    let starts: [UInt8] = [
      0x00, 0x18, 0x1b, 0x5f, 0x61, 0x7f, 0x82, 0x9f, 0xa1, 0xbf, 0xc1, 0xc2, 0xc4, 0xd9, 0xf9, 0xff,
    ]
    for _ in 0..<20_000 {
      let length = Int.random(in: 1..<40, using: &random)
      decodeEveryWay(
        (0..<length).map { _ in
          Bool.random(using: &random)
            ? starts[Int.random(in: 0..<starts.count, using: &random)] : UInt8.random(in: .min ... .max, using: &random)
        }
      )
    }
  }

  @Test func announcedLengthsAllocateNothing() throws {
    for head in ["9b", "bb", "5b", "7b"] {
      for length in ["7fffffffffffffff", "ffffffffffffffff", "00000000ffffffff", "0000000000000009"] {
        let digits = head + length + "0102030405060708"
        #expect(throws: DecodingError.self) { try decoded(Item.self, digits) }
        #expect(throws: DecodingError.self) { try decoded([Int].self, digits) }
        #expect(throws: DecodingError.self) { try decoded([UInt8].self, digits) }
        #expect(throws: DecodingError.self) { try decoded(String.self, digits) }
        #expect(throws: DecodingError.self) { try decoded([String: Int].self, digits) }
        // Passed over.
        struct Known: Decodable { let a: Int }
        #expect(throws: DecodingError.self) { try decoded(Known.self, "a26162" + digits + "616101") }
      }
    }
  }

  indirect enum Chain: Codable {
    case end
    case link(Chain)

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      self = container.isAtEnd ? .end : .link(try container.decode(Chain.self))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      if case .link(let next) = self { try container.encode(next) }
    }
  }

  @Test func deepNestingIsRefused() throws {
    for depth in [1_000, 100_000] {
      let arrays = [UInt8](repeating: 0x81, count: depth)
      let indefinite = [UInt8](repeating: 0x9f, count: depth)
      let maps = [UInt8](repeating: 0xbf, count: depth)
      for document in [arrays, indefinite, maps] {
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Chain.self, from: document + [0x80]) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Item.self, from: document + [0x80]) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Date.self, from: document + [0x80]) }
      }
      // Tags are not nesting: they are passed over.
      let tags = [UInt8](repeating: 0xc1, count: depth)
      _ = try CBORDecoder().decode(Chain.self, from: tags + [0x80])
      #expect(throws: DecodingError.self) { try CBORDecoder().decode(Date.self, from: tags + [0x80]) }
      let others = [UInt8](repeating: 0xd7, count: depth)
      #expect(try CBORDecoder().decode(Date.self, from: others + [0]) == Date(timeIntervalSinceReferenceDate: 0))
      #expect(try CBORDecoder().decode(Decimal.self, from: others + [5]) == 5)
      // Nobody asked for what is nested.
      struct Empty: Decodable {}
      _ = try CBORDecoder().decode(Empty.self, from: arrays + [0x80])
      #expect(throws: DecodingError.self) { try CBORDecoder().decode(Empty.self, from: indefinite + [0x80]) }
    }
    let chain = (0..<1_000).reduce(Chain.end) { chain, _ in .link(chain) }
    #expect(throws: EncodingError.self) { try CBOREncoder().encode(chain) }
  }

  @Test func whatEncodesAlsoDecodesOnASmallStack() async throws {
    let deepest = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
      let thread = Thread {
        continuation.resume(
          with: Result {
            var deepest = 0
            var chain = Chain.end
            while let document = try? CBOREncoder().encode(chain) {
              _ = try CBORDecoder().decode(Chain.self, from: document)
              chain = .link(chain)
              deepest += 1
            }
            return deepest
          }
        )
      }
      thread.stackSize = 512 << 10
      thread.start()
    }
    #expect(deepest == 256)
  }

  @Test func textThatIsNotUTF8IsRefused() {
    for digits in ["61ff", "62c328", "63eda080", "64f4908080", "7f61c361bcff", "a161ff01"] {
      #expect(throws: DecodingError.self) { try decoded(String.self, digits) }
      #expect(throws: DecodingError.self) { try decoded([String: Int].self, digits) }
    }
  }

  @Test func malformedItemsAreRefused() {
    let malformed = [
      "", "ff", "1c", "3d", "5e", "7c", "9e", "bc", "dd", "fc", "1f", "3f", "df", "f800", "f81f", "81ff", "a1ff",
      "a101ff",
      "bf01ff", "5f01ff", "5f6161ff", "7f4161ff", "5f5f4100ffff", "9f", "bf", "0001", "f6f6", "c1", "8201",
    ]
    for digits in malformed {
      #expect(throws: DecodingError.self, "\(digits)") { try decoded(Item.self, digits) }
      #expect(throws: DecodingError.self, "\(digits)") { try decoded(Int?.self, digits) }
    }
  }

  @Test(.timeLimit(.minutes(10))) func aHugeMapOutOfOrderIsReadInReasonableTime() throws {
    struct Reversed: Decodable {
      var sum = 0
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Item.Key.self)
        for key in container.allKeys.reversed() { sum += try container.decode(Int.self, forKey: key) }
      }
    }
    let count = 20_000
    let map = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0) })
    let reversed = try CBORDecoder().decode(Reversed.self, from: CBOREncoder().encode(map))
    #expect(reversed.sum == count * (count - 1) / 2)
  }
}
