import Esker
import EskerTestSupport
import Foundation
import Testing

/// Property lists are those of other programs: what can stand alone does.
@Suite struct PropertyListTests {
  private struct Place: Codable, Equatable, Sendable {
    var name: String
    var height: Double
  }

  /// A value of any shape, as property lists have them.
  private enum Shape: Codable, Equatable, Sendable {
    case number(Int)
    case list([Int])
    case map([String: Int])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int.self) {
        self = .number(number)
      } else if let list = try? container.decode([Int].self) {
        self = .list(list)
      } else {
        self = .map(try container.decode([String: Int].self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .number(let number): try container.encode(number)
      case .list(let list): try container.encode(list)
      case .map(let map): try container.encode(map)
      }
    }
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
  func listsOfOtherProgramsAreReadAndWritten(format: PropertyListSerialization.PropertyListFormat) throws {
    func foreign(_ list: Any) throws -> [UInt8] {
      [UInt8](try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0))
    }
    let places = Transformer<Place>.propertyList(format)
    let graz = Place(name: "Graz", height: 353.5)
    #expect(try places.decode(try foreign(["name": "Graz", "height": 353.5])) == graz)
    #expect(try Transformer<[Int]>.propertyList(format).decode(try foreign([5])) == [5])
    #expect(try Transformer<[[Int]]>.propertyList(format).decode(try foreign([[5]])) == [[5]])
    #expect(try Transformer<[String: [Int]]>.propertyList(format).decode(try foreign(["a": [1]])) == ["a": [1]])
    // And other programs read what is written.
    let written = Data(try places.encode(graz))
    let read = try PropertyListSerialization.propertyList(from: written, options: [], format: nil) as? [String: Any]
    #expect(read?["name"] as? String == "Graz" && read?.count == 2)
  }

  private func comesBack<Value: Codable & Equatable & Sendable>(_ value: Value) throws -> Bool {
    for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
      let transformer = Transformer<Value>.propertyList(format)
      guard try transformer.decode(transformer.encode(value)) == value else { return false }
    }
    return true
  }

  @Test func whatCannotStandAloneComesBack() throws {
    #expect(try comesBack(5) && comesBack("text") && comesBack(true) && comesBack(1.5) && comesBack(UInt64.max))
    #expect(try comesBack(Date(timeIntervalSince1970: 1000)) && comesBack(Data([1, 2])))
    #expect(
      try comesBack(Optional(5)) && comesBack(Optional<Int>.none) && comesBack([Int]?.none) && comesBack([1] as [Int]?)
    )
    #expect(try comesBack(Data()) && comesBack([Int]()) && comesBack([String: Int]()))
  }

  @Test func noShapeIsTakenForAnother() throws {
    for shape in [Shape.number(5), .list([5]), .list([]), .map(["a": 5]), .map([:])] { #expect(try comesBack(shape)) }
    // Not even one that looks like what is kept of a number.
    let kept = Data(try Transformer<Int>.propertyList().encode(5))
    let list = try PropertyListSerialization.propertyList(from: kept, options: [], format: nil)
    let alike = try #require(list as? [String: Int])
    #expect(try comesBack(Shape.map(alike)) && comesBack(alike))
  }

  @Test func whatIsNoneIsRefused() throws {
    #expect(throws: (any Error).self) { try Transformer<Int>.propertyList().decode(Array("no list".utf8)) }
    #expect(throws: (any Error).self) {
      try Transformer<Place>.propertyList().decode(Transformer<Int>.propertyList().encode(5))
    }
    #expect(throws: EncodingError.self) { try Transformer<Broken>.propertyList().encode(Broken()) }
  }

  private struct Broken: Codable, Sendable {
    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(0, EncodingError.Context(codingPath: [], debugDescription: "broken"))
    }
  }
}
