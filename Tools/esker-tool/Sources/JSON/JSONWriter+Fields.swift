import Esker

extension JSONWriter {
  mutating func field(_ name: String, _ text: String?) {
    self.name(name)
    if let text { value(text) } else { null() }
  }

  mutating func field(_ name: String, _ number: Int?) {
    self.name(name)
    if let number { value(number) } else { null() }
  }

  mutating func field(_ name: String, _ number: UInt64?) {
    self.name(name)
    if let number { value(number) } else { null() }
  }

  mutating func field(_ name: String, _ number: Double?) {
    self.name(name)
    if let number { value(number) } else { null() }
  }

  mutating func field(_ name: String, _ flag: Bool) {
    self.name(name)
    value(flag)
  }

  /// A field of bytes: `key` if they are text, otherwise `key64` in base 64.
  mutating func field(_ name: String, bytes: [UInt8]) {
    let encoding: ByteEncoding = UTF8Check.isValid(bytes.span) ? .text : .base64
    self.name(encoding.fieldName(name))
    if let text = encoding.encode(bytes.span) { value(utf8: text.span) } else { null() }
  }

  /// The fields that describe damage.
  mutating func fields(_ location: StoreError.Location, length: Int, reason: String) {
    field("path", location.path)
    field("segment", location.segment)
    field("offset", location.offset)
    field("length", length)
    if let key = location.key { field("key", bytes: key) }
    field("reason", reason)
  }
}
