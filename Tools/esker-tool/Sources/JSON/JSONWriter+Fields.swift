import Esker

extension JSONWriter {
  /// One object and a newline.
  static func line(_ fields: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.line(fields)
    return writer.bytes
  }

  /// One object and a newline, in the place of what was written before.
  mutating func line(_ fields: (inout JSONWriter) -> Void) {
    removeAll()
    object(fields)
    newline()
  }

  mutating func object(_ fields: (inout JSONWriter) -> Void) {
    beginObject()
    fields(&self)
    endObject()
  }

  /// A field whose value is an object.
  mutating func object(_ name: String, _ fields: (inout JSONWriter) -> Void) {
    self.name(name)
    object(fields)
  }

  /// A field whose value is an object, or null.
  mutating func object<Value>(_ name: String, of value: Value?, _ fields: (inout JSONWriter, Value) -> Void) {
    self.name(name)
    guard let value else { return null() }
    object { fields(&$0, value) }
  }

  /// A field whose value is a list of objects.
  mutating func list<Elements: Collection>(
    _ name: String,
    _ elements: Elements,
    _ fields: (inout JSONWriter, Elements.Element) -> Void
  ) {
    self.name(name)
    beginArray()
    for element in elements { object { fields(&$0, element) } }
    endArray()
  }

  mutating func fields(_ figures: KeyValuePairs<String, Int>) {
    for (name, number) in figures { field(name, number) }
  }

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

  mutating func field(_ name: String, _ time: WallTime?) { field(name, time.map { $0.description }) }

  /// A field with an instant; null for never.
  mutating func field(_ name: String, _ expiry: Expiry) {
    if case .at(let time) = expiry { field(name, time) } else { field(name, String?.none) }
  }

  mutating func field(_ name: String, _ flag: Bool) {
    self.name(name)
    value(flag)
  }

  /// A field of bytes: `key` if they are text, otherwise `key64` in base 64.
  mutating func field(_ name: String, bytes: [UInt8]) {
    let encoding: ByteEncoding = UTF8Check.isValid(ContiguousArray(bytes).span) ? .text : .base64
    self.name(encoding.fieldName(name))
    if let text = encoding.encode(ContiguousArray(bytes).span) {
      value(utf8: ContiguousArray(text).span)
    } else {
      null()
    }
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
