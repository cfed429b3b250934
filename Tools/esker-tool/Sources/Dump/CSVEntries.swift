import Esker

/// Entries as comma-separated values.
struct CSVEntries: EntryFormatter {
  let namesKeyspaces: Bool
  /// The encoding of bytes; nil: what the keyspace records, and otherwise text.
  let encoding: ByteEncoding?
  /// Whether there are columns for the names of forms.
  private let namesForms: Bool

  /// Nil to write bytes.
  private var forms: EntryForms?
  private var writer = CSVWriter()

  /// - Parameter keyspaces: Those from which entries will come.
  init(namesKeyspaces: Bool, encoding: ByteEncoding?, _ forms: EntryForms?, of keyspaces: [String]) {
    var forms = forms
    self.namesKeyspaces = namesKeyspaces
    self.encoding = encoding
    namesForms = forms?.isRecorded(in: keyspaces) ?? false
    self.forms = forms
  }

  var header: [UInt8] {
    var writer = CSVWriter()
    if namesKeyspaces { writer.field("keyspace") }
    for name in ["key", "value"] {
      writer.field((encoding ?? .text).fieldName(name))
      if namesForms { writer.field(name + "Form") }
    }
    if namesForms { writer.field("valueVersion") }
    writer.field("expires")
    writer.newline()
    return writer.bytes
  }

  mutating func write(_ entry: borrowing Snapshot.Entry, to output: inout BufferedOutput) throws {
    writer.removeAll()
    if namesKeyspaces { writer.field(entry.keyspace) }
    let forms = self.forms?[entry.keyspace] ?? EntryForms.Pair()
    var unsuitable: ToolError?
    try entry.withBytes { (key, value) in
      var version: UInt16?
      var isText = add(key, forms.keys, forms.keyName, &version)
      version = nil
      isText = add(value, forms.values, forms.valueName, &version) && isText
      if !isText { unsuitable = notText(key) }
      if namesForms { writer.field(version.map { "\($0)" } ?? "") }
    }
    if let unsuitable { throw unsuitable }
    if case .at(let time) = entry.expiry { writer.field(time.description) } else { writer.field("") }
    writer.newline()
    try output.write(writer.bytes)
  }

  /// Adds the key or the value, and in a column of its own the name of the form whose text it is.
  private mutating func add(
    _ bytes: RawSpan,
    _ form: StoredForm,
    _ formName: String?,
    _ version: inout UInt16?
  ) -> Bool {
    var text: String?
    if form.isTranslated { text = form.exactText(of: [UInt8](copying: bytes), version: &version) }
    if let text {
      writer.field(text)
    } else if !add(bytes) {
      return false
    }
    if namesForms { writer.field(text != nil || !form.isTranslated ? formName ?? "" : "") }
    return true
  }

  private mutating func add(_ bytes: RawSpan) -> Bool {
    bytes.withBytes { bytes in
      guard let text = (encoding ?? .text).encode(bytes) else { return false }
      writer.field(ContiguousArray(text).span)
      return true
    }
  }
}
