import Foundation
import Testing

@testable import EskerCBOR

/// Keyed containers are given out again, and keys are spelled once.
@Suite(.serialized) struct ReuseTests {
  struct Pair: Codable, Equatable {
    var left: Int
    var right: String
  }

  /// Keeps what it is encoded and decoded with.
  final class Keeper: Codable {
    nonisolated(unsafe) static var encoder: (any Encoder)?
    nonisolated(unsafe) static var writing: KeyedEncodingContainer<CodingKeys>?
    nonisolated(unsafe) static var reading: KeyedDecodingContainer<CodingKeys>?

    enum CodingKeys: CodingKey { case number }

    init() {}

    init(from decoder: any Decoder) throws {
      Self.reading = try decoder.container(keyedBy: CodingKeys.self)
      #expect(try Self.reading?.decode(Int.self, forKey: .number) == 1)
    }

    func encode(to encoder: any Encoder) throws {
      Self.encoder = encoder
      Self.writing = encoder.container(keyedBy: CodingKeys.self)
      try Self.writing?.encode(1, forKey: .number)
    }
  }

  /// Has keys of the same type as the keeper, and tries the containers that this one kept.
  struct Later: Codable, Equatable {
    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keeper.CodingKeys.self)
      #expect(throws: DecodingError.self) { try Keeper.reading?.decode(Int.self, forKey: .number) }
      #expect(try container.decode(Int.self, forKey: .number) == 2)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keeper.CodingKeys.self)
      #expect(throws: EncodingError.self) { try Keeper.writing?.encode(7, forKey: .number) }
      try container.encode(2, forKey: .number)
    }
  }

  @Test func codablesContainersAreOneReferenceEach() {
    #expect(EncodingSession.canReuseContainers)
    #expect(DecodingSession.canReuseContainers)
  }

  @Test func aContainerIsGivenOutAgainWhenNobodyHoldsIt() throws {
    let session = EncodingSession()
    var address: UnsafeRawPointer?
    struct Telling: Encodable {
      let body: (KeyedEncodingContainer<Keeper.CodingKeys>) -> Void
      func encode(to encoder: any Encoder) throws { body(encoder.container(keyedBy: Keeper.CodingKeys.self)) }
    }
    let isSame = Telling { container in
      #expect(unsafeBitCast(container, to: UnsafeRawPointer.self) == address)
    }
    _ = try session.encodeDocument(Telling { address = unsafeBitCast($0, to: UnsafeRawPointer.self) })
    session.reset()
    _ = try session.encodeDocument([isSame, isSame])
    session.reset()
    var held: KeyedEncodingContainer<Keeper.CodingKeys>?
    _ = try session.encodeDocument(Telling { held = $0 })
    session.reset()
    let isOther = Telling { container in
      #expect(unsafeBitCast(container, to: UnsafeRawPointer.self) != address)
    }
    _ = try session.encodeDocument(isOther)
    withExtendedLifetime(held) {}
  }

  @Test func aKeyedContainerThatIsKeptDoesNothingAfterwards() throws {
    let encoder = CBOREncoder()
    let decoder = CBORDecoder()
    for _ in 0..<3 {
      #expect(hex(try encoder.encode(Keeper())) == "a1" + "666e756d626572" + "01")
      #expect(throws: EncodingError.self) { try Keeper.writing?.encode(3, forKey: .number) }
      #expect(hex(try encoder.encode([Later(), Later()])) == "82" + "a1666e756d62657202" + "a1666e756d62657202")

      _ = try decoder.decode(Keeper.self, from: bytes("a1666e756d62657201"))
      #expect(throws: DecodingError.self) { try Keeper.reading?.decode(Int.self, forKey: .number) }
      #expect(Keeper.reading?.contains(.number) == false)
      #expect(try decoder.decode([Later].self, from: bytes("82a1666e756d62657202a1666e756d62657202")).count == 2)
    }
    Keeper.encoder = nil
    Keeper.writing = nil
    Keeper.reading = nil
  }

  @Test func containersThatAreKeptOutliveTheirCoderAndNothingElseDoes() throws {
    weak var session: EncodingSession?
    func keep() throws {
      _ = try CBOREncoder().encode(Keeper())
      session = (Keeper.encoder as? ValueEncoder)?.session
    }
    try keep()
    Keeper.encoder = nil
    #expect(session != nil)
    #expect(throws: EncodingError.self) { try Keeper.writing?.encode(1, forKey: .number) }
    Keeper.writing = nil
    #expect(session == nil)

    try keep()
    Keeper.writing = nil
    var late = Keeper.encoder?.container(keyedBy: Keeper.CodingKeys.self)
    Keeper.encoder = nil
    #expect(session != nil)
    #expect(throws: EncodingError.self) { try late?.encode(1, forKey: .number) }
    late = nil
    #expect(session == nil)

    _ = try CBORDecoder().decode(Keeper.self, from: bytes("a1666e756d62657201"))
    #expect(throws: DecodingError.self) { try Keeper.reading?.decode(Int.self, forKey: .number) }
    Keeper.reading = nil
  }

  @Test(.timeLimit(.minutes(60))) func manyContainersCanBeKeptAtOnce() {
    final class Something {}
    final class Reference {
      weak var map: Something?
      init(_ map: Something) { self.map = map }
    }
    func keep(_ count: Int) -> (containers: [Something], maps: [Reference]) {
      let containers = (0..<count).map { _ in Something() }
      let maps = containers.map { container in
        let map = Something()
        HeldContainers.keep(container, map)
        return Reference(map)
      }
      return (containers, maps)
    }
    // To compare each with all others would take minutes.
    var first: (containers: [Something], maps: [Reference])? = keep(100_000)
    let maps = first?.maps ?? []
    #expect(maps.allSatisfy { $0.map != nil })
    first = nil
    // Those that were let go of go before there are twice as many.
    let later = keep(100_001)
    #expect(maps.allSatisfy { $0.map == nil })
    #expect(later.maps.allSatisfy { $0.map != nil })
    withExtendedLifetime(later) {}
  }

  /// A value in which each contains the next, all with keys of one type.
  final class Chain: Codable, Equatable {
    var name: String
    var next: Chain?
    var last: Int

    init(_ depth: Int) {
      name = "link \(depth)"
      next = depth > 0 ? Chain(depth - 1) : nil
      last = depth
    }

    static func == (left: Chain, right: Chain) -> Bool {
      left.name == right.name && left.last == right.last && left.next == right.next
    }
  }

  @Test func valuesInsideValuesOfTheirTypeComeBack() throws {
    try expectRoundTrip(Chain(60))
    try expectRoundTrip([Chain(3), Chain(0), Chain(5)])
  }

  /// Two containers of one map at a time.
  struct Twofold: Codable, Equatable {
    var left = 1
    var right = 2

    enum CodingKeys: CodingKey { case left, right }

    init() {}

    init(from decoder: any Decoder) throws {
      let first = try decoder.container(keyedBy: CodingKeys.self)
      let second = try decoder.container(keyedBy: CodingKeys.self)
      right = try second.decode(Int.self, forKey: .right)
      left = try first.decode(Int.self, forKey: .left)
    }

    func encode(to encoder: any Encoder) throws {
      var first = encoder.container(keyedBy: CodingKeys.self)
      var second = encoder.container(keyedBy: CodingKeys.self)
      try first.encode(left, forKey: .left)
      try second.encode(right, forKey: .right)
    }
  }

  @Test func twoContainersOfOneMapWriteAndReadTheSame() throws {
    #expect(try encoded(Twofold()) == "a2" + "646c656674" + "01" + "657269676874" + "02")
    try expectRoundTrip([Twofold(), Twofold()])
  }

  /// Keys of every length around what is kept of them.
  struct Long: Codable, Equatable {
    var ab = 1
    var a345678 = 2
    var a3456789012345 = 3
    var a34567890123456 = 4
    var a345678901234567890123 = 5
    var a3456789012345678901234 = 6
    var a34567890123456789012345678 = 7
    var a345678901234567890123456789 = 8
    var a3456789012345678901234567890 = 9
    var a34567890123456789012345678901 = 11
    var größe = 10
  }

  @Test func keysOfEachLengthComeBack() throws {
    let encoder = CBOREncoder()
    let decoder = CBORDecoder()
    for number in 0..<3 {
      var value = Long()
      value.a34567890123456789012345678 = number
      let bytes = try encoder.encode(value)
      #expect(try decoder.decode(Long.self, from: bytes) == value)
      let names = try decoder.decode([String: Int].self, from: bytes)
      #expect(names.count == 11)
      #expect(names["a3456789012345"] == 3 && names["a34567890123456789012345678"] == number && names["größe"] == 10)
    }
  }

  @Test func enumsWithOneCaseAndKeysWithNumbersComeBack() throws {
    struct Single: Codable, Equatable {
      var only = 5
    }
    struct Numbered: Codable, Equatable {
      var first = 1
      var second = 2
      enum CodingKeys: Int, CodingKey { case first = 7, second = -300 }
    }
    #expect(MemoryLayout<Keeper.CodingKeys>.size == 0)
    try expectRoundTrip([Single(only: 1), Single(only: 2)])
    try expectRoundTrip([Numbered(first: 3, second: 4), Numbered()])
    #expect(try encoded([Numbered(), Numbered()]) == "82" + "a207013901" + "2b02" + "a207013901" + "2b02")
  }

  /// One byte that is no enum: each value is a key.
  struct Flag: CodingKey {
    let isOn: Bool
    var stringValue: String { isOn ? "on" : "off" }
    var intValue: Int? { nil }
    init(isOn: Bool) { self.isOn = isOn }
    init?(stringValue: String) { isOn = stringValue == "on" }
    init?(intValue: Int) { nil }
  }

  @Test func keysThatAreStructsOfOneByteComeBack() throws {
    struct Switches: Codable, Equatable {
      var on = 1
      var off = 2
      init(on: Int, off: Int) { (self.on, self.off) = (on, off) }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Flag.self)
        off = try container.decode(Int.self, forKey: Flag(isOn: false))
        on = try container.decode(Int.self, forKey: Flag(isOn: true))
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Flag.self)
        try container.encode(on, forKey: Flag(isOn: true))
        try container.encode(off, forKey: Flag(isOn: false))
      }
    }
    try expectRoundTrip([Switches(on: 1, off: 2), Switches(on: 3, off: 4)])
  }

  @Test func keysBeyondThoseThatAreKeptComeBack() throws {
    struct Wide: Codable, Equatable {
      enum CodingKeys: String, CodingKey, CaseIterable {
        case c00, c01, c02, c03, c04, c05, c06, c07, c08, c09, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19
        case c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39
      }
      var numbers: [Int]
      init(_ start: Int) { numbers = CodingKeys.allCases.indices.map { start + $0 } }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        numbers = try CodingKeys.allCases.map { try container.decode(Int.self, forKey: $0) }
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        for (key, number) in zip(CodingKeys.allCases, numbers) { try container.encode(number, forKey: key) }
      }
    }
    try expectRoundTrip([Wide(0), Wide(1_000)])
  }
}
