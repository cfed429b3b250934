import EskerMacros
import Foundation

// Each shape twice: as Codable synthesizes it, and with the macro.

enum Plain {
  struct Numbers: Codable {
    var int: Int, int8: Int8, int16: Int16, int32: Int32, int64: Int64, int128: Int128
    var uint: UInt, uint8: UInt8, uint16: UInt16, uint32: UInt32, uint64: UInt64, uint128: UInt128
    var float: Float, double: Double
    var flag: Bool
    var optionalInt8: Int8?, optionalFloat: Float?, optionalDouble: Double?
  }

  struct Values: Codable {
    var date: Date
    var data: Data
    var uuid: UUID
    var url: URL
    var decimal: Decimal
    var bytes: [UInt8]
    var integers: [Int]
    var texts: [String]
    var optionalTexts: [String?]?
    var byText: [String: Double]
    var byInteger: [Int: Bool]
    var byIdentifier: [UUID: String]
    var set: Set<Int16>
    var twice: Int??
    var color: Color
    var options: Options
    var place: Place
    var places: [Place]
    var named: [String: Place]
    var foreign: Foreign?
    var unsure: Maybe
  }

  enum Color: String, Codable { case red, green = "a green one" }
  struct Options: OptionSet, Codable { let rawValue: UInt8 }
  struct Place: Codable { var x = 0, y: Int? }
  typealias Maybe = Int?

  struct Renamed: Codable {
    var plain: Int
    var `default`: String
    var long: Int
    let constant = 7
    var omitted = 3
    var computed: Int { plain }
    static let shared = 1
    private(set) var observed: Int { didSet {} }
    fileprivate var hidden: Int

    enum CodingKeys: String, CodingKey {
      case hidden = "höher"
      case plain
      case `default` = "the \"default\" one"
      case long = "a key of more than sixteen bytes"
      case constant, observed
    }

    init(plain: Int, default: String, long: Int, observed: Int, hidden: Int) {
      (self.plain, self.default, self.long, self.observed, self.hidden) = (plain, `default`, long, observed, hidden)
    }
  }

  struct Numbered: Codable {
    var first: Int
    var second: String?
    var third: Int
    enum CodingKeys: Int, CodingKey {
      case first = 1
      case second
      case third = -300
    }
  }

  struct Pair<First: Codable, Second: Codable>: Codable {
    var first: First
    var second: Second?
  }

  struct Empty: Codable {}
  struct Twice: Codable { var value: Int?? }

  struct Node: Codable {
    var name: String
    var children: [Node]
  }

  struct Wide: Codable {
    var a1: Int, a2: Int, a3: Int, a4: Int, a5: Int, a6: Int, a7: Int, a8: Int, a9: Int, a10: Int, a11: Int, a12: Int,
      a13: Int
    var b1: Int?, b2: Int?, b3: Int, b4: Int, b5: Int, b6: Int, b7: Int, b8: Int, b9: Int, b10: Int, b11: Int, b12: Int,
      b13: Int
  }
}

enum Coded {
  @CBORCodable
  struct Numbers: Codable {
    var int: Int, int8: Int8, int16: Int16, int32: Int32, int64: Int64, int128: Int128
    var uint: UInt, uint8: UInt8, uint16: UInt16, uint32: UInt32, uint64: UInt64, uint128: UInt128
    var float: Float, double: Double
    var flag: Bool
    var optionalInt8: Int8?, optionalFloat: Float?, optionalDouble: Double?
  }

  @CBORCodable
  struct Values: Codable {
    var date: Date
    var data: Data
    var uuid: UUID
    var url: URL
    var decimal: Decimal
    var bytes: [UInt8]
    var integers: [Int]
    var texts: [String]
    var optionalTexts: [String?]?
    var byText: [String: Double]
    var byInteger: [Int: Bool]
    var byIdentifier: [UUID: String]
    var set: Set<Int16>
    var twice: Int??
    var color: Color
    var options: Options
    var place: Place
    var places: [Place]
    var named: [String: Place]
    var foreign: Foreign?
    var unsure: Maybe
  }

  @CBORCodable
  enum Color: String, Codable { case red, green = "a green one" }
  @CBORCodable
  struct Options: OptionSet, Codable { let rawValue: UInt8 }
  // Codable is implied.
  @CBORCodable
  struct Place { var x = 0, y: Int? }
  typealias Maybe = Int?

  @CBORCodable
  struct Renamed: Codable {
    var plain: Int
    var `default`: String
    var long: Int
    let constant = 7
    var omitted = 3
    var computed: Int { plain }
    static let shared = 1
    private(set) var observed: Int { didSet {} }
    fileprivate var hidden: Int

    enum CodingKeys: String, CodingKey {
      case hidden = "höher"
      case plain
      case `default` = "the \"default\" one"
      case long = "a key of more than sixteen bytes"
      case constant, observed
    }
  }

  @CBORCodable
  struct Numbered: Codable {
    var first: Int
    var second: String?
    var third: Int
    enum CodingKeys: Int, CodingKey {
      case first = 1
      case second
      case third = -300
    }
  }

  @CBORCodable
  struct Pair<First: Codable, Second: Codable>: Codable {
    var first: First
    var second: Second?
  }

  @CBORCodable
  struct Empty: Codable {}
  @CBORCodable
  struct Twice: Codable { var value: Int?? }

  @CBORCodable
  struct Node: Codable {
    var name: String
    var children: [Node]
  }

  @CBORCodable
  struct Wide: Codable {
    var a1: Int, a2: Int, a3: Int, a4: Int, a5: Int, a6: Int, a7: Int, a8: Int, a9: Int, a10: Int, a11: Int, a12: Int,
      a13: Int
    var b1: Int?, b2: Int?, b3: Int, b4: Int, b5: Int, b6: Int, b7: Int, b8: Int, b9: Int, b10: Int, b11: Int, b12: Int,
      b13: Int
  }
}

/// Left to Codable in both shapes.
struct Foreign: Codable {
  var text: String
  var inner: [Int: Bool]
  private var own = [1.5, 2]

  init(text: String, inner: [Int: Bool]) {
    self.text = text
    self.inner = inner
  }
}

/// What may be seen from other modules.
@CBORCodable
public struct Visible: Codable, Sendable, Equatable {
  /// A property that others see.
  public var name: String
  private var secret: Int

  /// A value of both properties.
  public init(name: String, secret: Int) {
    self.name = name
    self.secret = secret
  }
}

extension Coded.Pair: Equatable where First: Equatable, Second: Equatable {}
