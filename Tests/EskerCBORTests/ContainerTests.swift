import EskerCBOR
import Foundation
import Testing

@Suite struct ContainerTests {
  class Animal: Codable {
    var legs = 4
    init(legs: Int) { self.legs = legs }
  }

  /// Puts its superclass under a key of its own.
  final class Dog: Animal {
    var name: String
    enum CodingKeys: CodingKey { case name }
    init(name: String, legs: Int) {
      self.name = name
      super.init(legs: legs)
    }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: container.superEncoder())
      try container.encode(name, forKey: .name)
    }
  }

  /// Shares one map with its superclass.
  final class Cat: Animal {
    var lives = 9
    enum CodingKeys: CodingKey { case lives }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      try super.init(from: decoder)
      lives = try container.decode(Int.self, forKey: .lives)
    }
    override init(legs: Int) { super.init(legs: legs) }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: encoder)
      try container.encode(lives, forKey: .lives)
    }
  }

  @Test func classesComeBackWithTheirSuperclass() throws {
    let dog = try CBORDecoder().decode(Dog.self, from: CBOREncoder().encode(Dog(name: "Rex", legs: 3)))
    #expect(dog.name == "Rex")
    #expect(dog.legs == 3)
    #expect(
      try encoded(Dog(name: "Rex", legs: 3)) == "a2" + "657375706572" + "a1646c65677303" + "646e616d65" + "63526578"
    )
    #expect(try encoded(Cat(legs: 4)) == "a2" + "646c656773" + "04" + "656c69766573" + "09")
    let cat = try CBORDecoder().decode([Cat].self, from: CBOREncoder().encode([Cat(legs: 5), Cat(legs: 6)]))
    #expect(cat.map(\.legs) == [5, 6])
  }

  /// Containers inside containers, written in turns.
  struct Woven: Codable, Equatable {
    var rows = [[1, 2], [3]]
    var left = "l"
    var right = Array(0..<25)

    enum CodingKeys: CodingKey { case box, list, tail }
    enum BoxKeys: CodingKey { case left, deep }

    init() {}

    func encode(to encoder: any Encoder) throws {
      var outer = encoder.container(keyedBy: CodingKeys.self)
      var box = outer.nestedContainer(keyedBy: BoxKeys.self, forKey: .box)
      var list = outer.nestedUnkeyedContainer(forKey: .list)
      var deep = box.nestedUnkeyedContainer(forKey: .deep)
      for (index, number) in right.enumerated() {
        try deep.encode(number)
        if index < rows.count {
          var row = list.nestedUnkeyedContainer()
          for value in rows[index] { try row.encode(value) }
        }
      }
      try box.encode(left, forKey: .left)
      try outer.encode(1, forKey: .tail)
    }

    init(from decoder: any Decoder) throws {
      let outer = try decoder.container(keyedBy: CodingKeys.self)
      var list = try outer.nestedUnkeyedContainer(forKey: .list)
      let box = try outer.nestedContainer(keyedBy: BoxKeys.self, forKey: .box)
      var deep = try box.nestedUnkeyedContainer(forKey: .deep)
      rows = []
      right = []
      while !deep.isAtEnd {
        right.append(try deep.decode(Int.self))
        guard !list.isAtEnd else { continue }
        var row = try list.nestedUnkeyedContainer()
        var values: [Int] = []
        while !row.isAtEnd { values.append(try row.decode(Int.self)) }
        rows.append(values)
      }
      left = try box.decode(String.self, forKey: .left)
    }
  }

  @Test func containersMayBeWrittenAndReadInTurns() throws {
    try expectRoundTrip(Woven())
    try expectRoundTrip([Woven(), Woven()])
    try expectRoundTrip(["a": ["b": Woven()]])
    let sorted = CBOREncoder(sortsKeys: true)
    #expect(try CBORDecoder().decode(Woven.self, from: sorted.encode(Woven())) == Woven())
  }

  indirect enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case group([Shape], name: String?)
    case none
  }

  @Test func enumsWithAssociatedValuesComeBack() throws {
    try expectRoundTrip(Shape.none)
    try expectRoundTrip(Shape.group([.circle(radius: 1.5), .none, .group([], name: "x")], name: nil))
    #expect(try encoded(Shape.none) == "a1" + "646e6f6e65" + "a0")
  }

  @Test func valuesThatEncodeNothingAreEmptyMaps() throws {
    struct Empty: Codable, Equatable {}
    #expect(try encoded(Empty()) == "a0")
    try expectRoundTrip([Empty(), Empty()])
    struct Silent: Encodable {
      func encode(to encoder: any Encoder) throws {}
    }
    #expect(try encoded([Silent(), Silent()]) == "82a0a0")
  }

  @Test func nilIsNullWhereAPlaceIsNeeded() throws {
    struct Sparse: Codable, Equatable { var a: Int?, b: Int? }
    #expect(try encoded(Sparse(a: nil, b: 1)) == "a1" + "6162" + "01")
    #expect(try decoded(Sparse.self, "a1" + "6161" + "f6") == Sparse())
    #expect(try decoded(Sparse.self, "a1" + "6161" + "f7") == Sparse())
    #expect(try encoded([Int?.none, 1]) == "82f601")
    try expectRoundTrip([[Int?]?]([nil, [nil, 1]]))
  }

  @Test func fieldsAreFoundInAnyOrderAndAmongOthers() throws {
    struct Small: Codable, Equatable { var a: Int, b: String, c: [Int] }
    let expected = Small(a: 1, b: "x", c: [2])
    let entries = ["6161" + "01", "6162" + "6178", "6163" + "8102"]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let body = order.map { entries[$0] }.joined()
      #expect(try decoded(Small.self, "a3" + body) == expected)
      #expect(try decoded([Small].self, "82" + "a3" + body + "bf" + body + "ff") == [expected, expected])
      let strangers = "617a" + "a1617a9f01ff" + body + "01f6" + "4161f5"
      #expect(try decoded([Small].self, "82" + "a6" + strangers + "a6" + strangers) == [expected, expected])
    }
    // A large map, and the fields from its end to its beginning.
    let many = (0..<400).map { "19" + String(1_000 + $0, radix: 16).leading(4) + "820102" }.joined()
    for order in [[0, 1, 2], [2, 1, 0]] {
      let body = order.map { entries[$0] }.joined()
      #expect(try decoded([Small].self, "81" + "b90193" + many + body) == [expected])
      #expect(try decoded([Small].self, "81" + "b90193" + body + many) == [expected])
    }
  }

  @Test func aMapWithAKeyTwiceIsNoDictionary() throws {
    #expect(throws: DecodingError.self) { try decoded([String: Int].self, "a2616101616102") }
    #expect(throws: DecodingError.self) { try decoded([Int: Int].self, "a201010102") }
    let keys = (0..<30).map { "6161" + "0\($0 % 10)" }.joined()
    #expect(throws: DecodingError.self) { try decoded([String: Int].self, "b81e" + keys) }
  }

  @Test func userInfoReachesTheValues() throws {
    struct Told: Codable {
      static let key = CodingUserInfoKey(rawValue: "told")
      var found: String
      init() { found = "" }
      init(from decoder: any Decoder) throws {
        found = Told.key.flatMap { decoder.userInfo[$0] as? String } ?? ""
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Told.key.flatMap { encoder.userInfo[$0] as? String } ?? "")
      }
    }
    let key = try #require(Told.key)
    #expect(try hex(CBOREncoder(userInfo: [key: "a"]).encode(Told())) == "6161")
    #expect(try CBORDecoder(userInfo: [key: "b"]).decode(Told.self, from: [0x60]).found == "b")
  }

  @Test func bytesAreLentAppendedAndReadInPlace() throws {
    let encoder = CBOREncoder()
    var buffer: [UInt8] = [9]
    try encoder.encode([1, 2], into: &buffer)
    #expect(buffer == [9, 0x82, 1, 2])
    let sum = try encoder.withEncodedBytes(of: [1, 2]) { span in
      try CBORDecoder().decode([Int].self, from: span).reduce(0, +)
    }
    #expect(sum == 3)
    // A call inside a call has a session of its own.
    try encoder.withEncodedBytes(of: "outer") { outer in
      let inner = try encoder.encode("inner")
      #expect(inner == [0x65] + Array("inner".utf8))
      let text = try CBORDecoder().decode(String.self, from: outer)
      #expect(text == "outer")
    }
  }

  @Test func oneCoderServesManyThreads() async throws {
    let encoder = CBOREncoder()
    let decoder = CBORDecoder()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<500 {
            var city = TypeTests.city
            city.id = task * 1_000 + round
            let back = try decoder.decode(TypeTests.City.self, from: encoder.encode(city))
            #expect(back == city)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

extension String {
  fileprivate func leading(_ count: Int) -> String { String(repeating: "0", count: count - self.count) + self }
}
