import Esker

/// Entries as lines of JSON.
struct JSONEntries: EntryFormatter {
  /// Whether entries of named keyspaces include the keyspace's name.
  let namesKeyspaces: Bool
  /// The encoding of bytes; nil: what the keyspace records, and otherwise text if they are valid, base 64 if not.
  let encoding: ByteEncoding?

  /// Nil to write bytes.
  var forms: EntryForms?
  /// That of the keyspace of the entry before; nil if its keys or values are not written as they are.
  private var last: (keyspace: String, frame: Frame?)?
  var writer = JSONWriter()

  init(namesKeyspaces: Bool, encoding: ByteEncoding?, _ forms: EntryForms?) {
    self.namesKeyspaces = namesKeyspaces
    self.encoding = encoding
    self.forms = forms
  }

  var header: [UInt8] { [] }

  mutating func write(_ entry: borrowing Snapshot.Entry, to output: inout BufferedOutput) throws {
    if let frame = frame(of: entry.keyspace), try frame.write(entry, to: &output) { return }
    writer.removeAll()
    writer.beginObject()
    if namesKeyspaces, !entry.keyspace.isEmpty { writer.field("keyspace", entry.keyspace) }
    let forms = self.forms?[entry.keyspace] ?? EntryForms.Pair()
    var unsuitable: ToolError?
    try entry.withBytes { (key, value) in
      let isKey = add("key", key, forms.keys, forms.keyName)
      if !add("value", value, forms.values, forms.valueName) || !isKey { unsuitable = notText(key) }
    }
    if let unsuitable { throw unsuitable }
    writer.field("expires", entry.expiry)
    writer.endObject()
    writer.newline()
    try output.write(writer.bytes)
  }

  private mutating func frame(of keyspace: String) -> Frame? {
    if let last, last.keyspace == keyspace { return last.frame }
    let pair = forms?[keyspace] ?? EntryForms.Pair()
    let isPlain = (encoding ?? .text) == .text && !pair.keys.isTranslated && !pair.values.isTranslated
    let frame = isPlain ? Frame(of: namesKeyspaces ? keyspace : "", pair) : nil
    last = (keyspace, frame)
    return frame
  }

  /// Adds the key or the value, and the name of its form if one is recorded.
  mutating func add(_ name: String, _ bytes: RawSpan, _ form: StoredForm, _ formName: String?) -> Bool {
    guard let formName else { return add(name, bytes, encoding) }
    var version: UInt16?
    if !form.isTranslated {
      _ = add(name, bytes, nil)
    } else if name == "key"
      ? !addKey([UInt8](copying: bytes), form) : !addValue([UInt8](copying: bytes), form, &version)
    {
      // Text would be taken for text of the form.
      _ = add(name, bytes, .base64)
    }
    writer.field(name + "Form", formName)
    if let version { writer.field("valueVersion", Int(version)) }
    return true
  }

  /// Adds the key, in an encoding if there is one.
  mutating func add(key: [UInt8], _ forms: EntryForms.Pair, _ encoding: ByteEncoding?) {
    key.lend(0..<key.count) { key in
      _ = encoding.map { add("key", key, $0) } ?? add("key", key, forms.keys, forms.keyName)
    }
  }

  mutating func add(value: [UInt8], _ forms: EntryForms.Pair) {
    value.lend(0..<value.count) { value in _ = add("value", value, forms.values, forms.valueName) }
  }

  private mutating func addKey(_ bytes: [UInt8], _ form: StoredForm) -> Bool {
    guard let text = form.exactText(of: bytes) else { return false }
    writer.field("key", text)
    return true
  }

  private mutating func addValue(_ bytes: [UInt8], _ form: StoredForm, _ version: inout UInt16?) -> Bool {
    if form.add(bytes, as: "value", to: &writer) { return true }
    guard let found = StoredForm.version(of: bytes), form.add(Array(bytes.dropFirst(6)), as: "value", to: &writer)
    else {
      return false
    }
    version = found
    return true
  }

  /// Adds bytes in an encoding; nil: as text if they are valid, in base 64 if not.
  mutating func add(_ name: String, _ bytes: RawSpan, _ encoding: ByteEncoding?) -> Bool {
    bytes.withBytes { bytes in
      let encoding = encoding ?? (UTF8Check.isValid(bytes) ? .text : .base64)
      if encoding == .text, UTF8Check.isValid(bytes) {
        writer.name(name)
        writer.value(utf8: bytes)
        return true
      }
      guard let text = encoding.encode(bytes) else { return false }
      writer.name(encoding.fieldName(name))
      writer.value(utf8: ContiguousArray(text).span)
      return true
    }
  }
}
