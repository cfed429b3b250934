import Esker

/// Formats entries one by one.
protocol EntryFormatter {
  /// The text before the first entry.
  var header: [UInt8] { get }

  /// The text of an entry, including the line feed.
  mutating func text(of entry: Snapshot.Entry) throws -> [UInt8]
}

/// Entries as lines of JSON.
struct JSONEntries: EntryFormatter {
  /// Whether entries of named keyspaces include the keyspace's name.
  let namesKeyspaces: Bool
  /// The encoding of bytes; nil: text if they are valid, base 64 otherwise.
  let encoding: ByteEncoding?

  private var writer = JSONWriter()

  init(namesKeyspaces: Bool, encoding: ByteEncoding?) {
    self.namesKeyspaces = namesKeyspaces
    self.encoding = encoding
  }

  var header: [UInt8] { [] }

  mutating func text(of entry: Snapshot.Entry) throws -> [UInt8] {
    writer.removeAll()
    writer.beginObject()
    if namesKeyspaces, !entry.keyspace.isEmpty {
      writer.name("keyspace")
      writer.value(entry.keyspace)
    }
    var unsuitable: ToolError?
    try entry.withBytes { (key, value) in
      for (name, bytes) in [("key", true), ("value", false)] {
        if !add(name, bytes ? key : value), unsuitable == nil { unsuitable = notText(key) }
      }
    }
    if let unsuitable { throw unsuitable }
    writer.name("expires")
    if case .at(let time) = entry.expiry { writer.value(timestamp(time)) } else { writer.null() }
    writer.endObject()
    writer.newline()
    return writer.bytes
  }

  private mutating func add(_ name: String, _ bytes: RawSpan) -> Bool {
    bytes.withBytes { bytes in
      let encoding = self.encoding ?? (UTF8Check.isValid(bytes) ? .text : .base64)
      if encoding == .text, UTF8Check.isValid(bytes) {
        writer.name(name)
        writer.value(utf8: bytes)
        return true
      }
      guard let text = encoding.encode(bytes) else { return false }
      writer.name(encoding.fieldName(name))
      writer.value(utf8: text.span)
      return true
    }
  }
}

/// Entries as comma-separated values.
struct CSVEntries: EntryFormatter {
  let namesKeyspaces: Bool
  let encoding: ByteEncoding

  private var writer = CSVWriter()

  init(namesKeyspaces: Bool, encoding: ByteEncoding) {
    self.namesKeyspaces = namesKeyspaces
    self.encoding = encoding
  }

  var header: [UInt8] {
    var writer = CSVWriter()
    if namesKeyspaces { writer.field("keyspace") }
    writer.field(encoding.fieldName("key"))
    writer.field(encoding.fieldName("value"))
    writer.field("expires")
    writer.newline()
    return writer.bytes
  }

  mutating func text(of entry: Snapshot.Entry) throws -> [UInt8] {
    writer.removeAll()
    if namesKeyspaces { writer.field(entry.keyspace) }
    var unsuitable: ToolError?
    try entry.withBytes { (key, value) in
      if !add(key) || !add(value) { unsuitable = notText(key) }
    }
    if let unsuitable { throw unsuitable }
    if case .at(let time) = entry.expiry { writer.field(timestamp(time)) } else { writer.field("") }
    writer.newline()
    return writer.bytes
  }

  private mutating func add(_ bytes: RawSpan) -> Bool {
    bytes.withBytes { bytes in
      guard let text = encoding.encode(bytes) else { return false }
      writer.field(text.span)
      return true
    }
  }
}

/// The error for an entry that cannot be written as text.
private func notText(_ key: RawSpan) -> ToolError {
  let name = key.withBytes { bytes -> String in
    if UTF8Check.isValid(bytes) { return "\"\(bytes.text)\"" }
    return "0x" + String(decoding: ByteEncoding.hex.encode(bytes) ?? [], as: UTF8.self)
  }
  return .notRepresentable(key: name, why: "is not text: choose --encoding hex or base64")
}
