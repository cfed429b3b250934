import Foundation

/// A value of a property list, with the type that it has there.
indirect enum PropertyListValue: Equatable {
  case flag(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case real(Double)
  case text(String)
  case date(Date)
  case data(Data)
  case list([PropertyListValue])
  case dictionary([String: PropertyListValue])

  /// How deep lists and dictionaries may be within each other.
  static let maximumDepth = 128

  /// The value of a key: text and data as they are, numbers as digits, all else as JSON.
  var bytes: [UInt8] {
    switch self {
    case .text(let text): return Array(text.utf8)
    case .data(let data): return Array(data)
    case .date(let date): return Array(instant(of: date).utf8)
    default:
      var writer = JSONWriter()
      writer.value(self)
      return writer.bytes
    }
  }
}

extension JSONWriter {
  /// Adds a value; what JSON has no type for is marked, as where a dump writes CBOR.
  mutating func value(_ value: PropertyListValue) {
    switch value {
    case .flag(let flag): self.value(flag)
    case .integer(let number): literal("\(number)")
    case .unsigned(let number): self.value(number)
    case .real(let number):
      if number.isFinite { self.value(number) } else { mark("$float", "\(number)") }
    case .text(let text): self.value(text)
    case .date(let date): mark("$date", instant(of: date))
    case .data(let data): mark("$base64", data.base64EncodedString())
    case .list(let values):
      beginArray()
      for value in values { self.value(value) }
      endArray()
    case .dictionary(let values):
      beginObject()
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        name(key)
        self.value(value)
      }
      endObject()
    }
  }

  private mutating func mark(_ name: String, _ text: String) {
    beginObject()
    field(name, text)
    endObject()
  }
}
