import Esker

/// Why fields do not make an entry.
struct EntryFault: Error, Hashable {
  let description: String
}

/// A field of an entry as written by `dump`.
enum EntryField: String {
  case keyspace, key, key64, keyHex, keyForm, value, value64, valueHex, valueForm, valueVersion, expires

  /// Whether the field holds the key or the value, and its encoding; nil for other fields.
  var bytes: (isKey: Bool, encoding: ByteEncoding)? {
    switch self {
    case .key: (true, .text)
    case .key64: (true, .base64)
    case .keyHex: (true, .hex)
    case .value: (false, .text)
    case .value64: (false, .base64)
    case .valueHex: (false, .hex)
    case .keyspace, .keyForm, .valueForm, .valueVersion, .expires: nil
    }
  }
}

/// Builds an entry from the texts of its fields.
struct EntryBuilder {
  private var keyPart = EntryPart(name: "key", place: .keys)
  private var valuePart = EntryPart(name: "value", place: .values)
  private(set) var keyspace: String?
  private(set) var expiry: Expiry?
  private var hasExpiry = false
  /// The version before the value.
  private var valueVersion: UInt16?

  var key: [UInt8] { keyPart.bytes }
  var value: [UInt8] { valuePart.bytes }

  /// The forms of the entry's keyspace, as far as the entry names both.
  var forms: LoadTarget.Forms? {
    guard let keys = keyPart.form?.name, let values = valuePart.form?.name else { return nil }
    return LoadTarget.Forms(keys: keys, values: values)
  }

  var namesValueForm: Bool { valuePart.form != nil }

  /// Clears the contents but keeps the storage.
  mutating func removeAll() {
    keyPart.removeAll()
    valuePart.removeAll()
    keyspace = nil
    expiry = nil
    hasExpiry = false
    valueVersion = nil
  }

  mutating func set(_ field: EntryField, _ text: Span<UInt8>) throws(EntryFault) {
    switch field {
    case .key, .key64, .keyHex: try keyPart.set(field, text)
    case .value, .value64, .valueHex: try valuePart.set(field, text)
    case .keyForm: try keyPart.setForm(text)
    case .valueForm: try valuePart.setForm(text)
    case .valueVersion: try setVersion(text)
    case .keyspace:
      guard keyspace == nil else { throw EntryFault(description: "there is more than one keyspace") }
      guard UTF8Check.isValid(text) else { throw EntryFault(description: "field \"keyspace\" is not valid UTF-8") }
      keyspace = text.text
    case .expires:
      guard let time = parseTimestamp(text) else {
        throw EntryFault(description: "field \"expires\" is not an instant such as 2026-03-01T12:00:00.000Z")
      }
      try setExpiry(.at(time))
    }
  }

  /// Sets the expiry; throws if the entry already has one.
  mutating func setExpiry(_ expiry: Expiry) throws(EntryFault) {
    guard !hasExpiry else { throw EntryFault(description: "there is more than one \"expires\"") }
    hasExpiry = true
    self.expiry = expiry
  }

  /// Notes that the entry has a value; throws if it already has one.
  mutating func beginValue() throws(EntryFault) { try valuePart.begin() }

  private mutating func setVersion(_ text: Span<UInt8>) throws(EntryFault) {
    // An empty column: no version.
    guard !text.isEmpty else { return }
    guard valueVersion == nil, UTF8Check.isValid(text), let version = UInt16(text.text) else {
      throw EntryFault(description: "field \"valueVersion\" is not one number up to \(UInt16.max)")
    }
    valueVersion = version
  }

  /// Sets the value to what JSON stands for in the form that the entry names.
  mutating func setValue(json: Span<UInt8>) throws(EntryFault) {
    try valuePart.translate { $0.bytes(ofJSON: json) }
  }

  /// Turns texts into the bytes of their forms. Throws unless the entry is complete.
  mutating func finish() throws(EntryFault) {
    try keyPart.check()
    try valuePart.check()
    try keyPart.finish()
    try valuePart.finish()
    if let valueVersion { valuePart.bytes = StoredForm.mark(ofVersion: valueVersion) + valuePart.bytes }
  }
}

/// The key or the value of an entry.
private struct EntryPart {
  let name: String
  let place: StoredForm.Place
  var bytes: [UInt8] = []
  private(set) var form: (name: String, form: StoredForm)?
  /// The form that an entry named last, as most entries name the same.
  private var lastForm: (name: String, form: StoredForm)?
  private var isGiven = false
  /// Whether it was given as text, which is that of its form if it names one.
  private var isText = false

  init(name: String, place: StoredForm.Place) {
    (self.name, self.place) = (name, place)
  }

  mutating func removeAll() {
    form = nil
    isGiven = false
    isText = false
  }

  mutating func begin() throws(EntryFault) {
    guard !isGiven else { throw EntryFault(description: "there is more than one \(name)") }
    isGiven = true
  }

  mutating func set(_ field: EntryField, _ text: Span<UInt8>) throws(EntryFault) {
    try begin()
    let encoding = field.bytes?.encoding ?? .text
    isText = encoding == .text
    if isText, UTF8Check.isValid(text) {
      // Without an allocation in the usual case.
      bytes.removeAll(keepingCapacity: true)
      bytes.append(contentsOf: text)
      return
    }
    guard let decoded = encoding.decode(text) else {
      let wanted = isText ? "valid UTF-8" : encoding.rawValue
      throw EntryFault(description: "field \"\(field.rawValue)\" is not \(wanted)")
    }
    bytes = decoded
  }

  mutating func setForm(_ text: Span<UInt8>) throws(EntryFault) {
    guard form == nil else { throw EntryFault(description: "there is more than one \"\(name)Form\"") }
    guard UTF8Check.isValid(text) else { throw EntryFault(description: "field \"\(name)Form\" is not valid UTF-8") }
    // An empty column: no form.
    guard !text.isEmpty else { return }
    let named = text.text
    if lastForm?.name != named { lastForm = (named, StoredForm(named, of: place)) }
    form = lastForm
  }

  /// Replaces the bytes by those that something stands for in the form, if one is named.
  mutating func translate(_ encode: (StoredForm) -> [UInt8]?) throws(EntryFault) {
    guard let form else { return }
    guard let encoded = encode(form.form) else {
      throw EntryFault(description: "field \"\(name)\" is not of the form \(form.name)")
    }
    bytes = encoded
    isText = false
  }

  func check() throws(EntryFault) {
    guard !isGiven else { return }
    throw EntryFault(description: "there is no field \"\(name)\", \"\(name)64\" or \"\(name)Hex\"")
  }

  /// Turns text into the bytes of its form.
  mutating func finish() throws(EntryFault) {
    guard isText, let form, form.form.isTranslated else { return }
    let text = String(decoding: bytes, as: UTF8.self)
    try translate { $0.bytes(of: text) }
  }
}
