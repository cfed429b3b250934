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
  private(set) var key: [UInt8] = []
  private(set) var value: [UInt8] = []
  private(set) var keyspace: String?
  private(set) var expiry: Expiry?
  private var hasKey = false
  private var hasValue = false
  private var hasExpiry = false
  /// Whether the key or value was given as text, which is that of its form if it names one.
  private var isKeyText = false
  private var isValueText = false
  private var keyForm: NamedForm?
  private var valueForm: NamedForm?
  /// The version before the value.
  private var valueVersion: UInt16?
  /// The forms that entries named last, as most entries name the same.
  private var lastForms: [EntryField: NamedForm] = [:]

  private struct NamedForm {
    let name: String
    let form: StoredForm
  }

  /// The forms of the entry's keyspace, as far as the entry names both.
  var forms: LoadTarget.Forms? {
    guard let keyForm, let valueForm else { return nil }
    return LoadTarget.Forms(keys: keyForm.name, values: valueForm.name)
  }

  var namesValueForm: Bool { valueForm != nil }

  /// Clears the contents but keeps the storage.
  mutating func removeAll() {
    keyspace = nil
    expiry = nil
    hasKey = false
    hasValue = false
    hasExpiry = false
    isKeyText = false
    isValueText = false
    keyForm = nil
    valueForm = nil
    valueVersion = nil
  }

  mutating func set(_ field: EntryField, _ text: Span<UInt8>) throws(EntryFault) {
    if let (isKey, encoding) = field.bytes {
      if isKey {
        guard !hasKey else { throw EntryFault(description: "there is more than one key") }
        hasKey = true
        isKeyText = encoding == .text
        try Self.decode(text, encoding, field, into: &key)
      } else {
        try beginValue()
        isValueText = encoding == .text
        try Self.decode(text, encoding, field, into: &value)
      }
      return
    }
    if field == .valueVersion {
      try setVersion(text)
    } else if field == .keyForm || field == .valueForm {
      try setForm(field, text)
    } else if field == .keyspace {
      guard keyspace == nil else { throw EntryFault(description: "there is more than one keyspace") }
      guard UTF8Check.isValid(text) else { throw EntryFault(description: "field \"keyspace\" is not valid UTF-8") }
      keyspace = text.text
    } else {
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
  mutating func beginValue() throws(EntryFault) {
    guard !hasValue else { throw EntryFault(description: "there is more than one value") }
    hasValue = true
  }

  private mutating func setVersion(_ text: Span<UInt8>) throws(EntryFault) {
    // An empty column: no version.
    guard !text.isEmpty else { return }
    guard valueVersion == nil, UTF8Check.isValid(text), let version = UInt16(text.text) else {
      throw EntryFault(description: "field \"valueVersion\" is not one number up to \(UInt16.max)")
    }
    valueVersion = version
  }

  private mutating func setForm(_ field: EntryField, _ text: Span<UInt8>) throws(EntryFault) {
    let isKey = field == .keyForm
    guard (isKey ? keyForm : valueForm) == nil else {
      throw EntryFault(description: "there is more than one \"\(field.rawValue)\"")
    }
    guard UTF8Check.isValid(text) else {
      throw EntryFault(description: "field \"\(field.rawValue)\" is not valid UTF-8")
    }
    // An empty column: no form.
    guard !text.isEmpty else { return }
    let name = text.text
    var named = NamedForm(name: name, form: .raw)
    if let last = lastForms[field], last.name == name {
      named = last
    } else {
      named = NamedForm(name: name, form: StoredForm(name, of: isKey ? .keys : .values))
      lastForms[field] = named
    }
    if isKey { keyForm = named } else { valueForm = named }
  }

  /// Sets the value to what JSON stands for in the form that the entry names.
  mutating func setValue(json: Span<UInt8>) throws(EntryFault) {
    guard let valueForm else { return }
    guard let bytes = valueForm.form.bytes(ofJSON: json) else { throw Self.notOfForm("value", valueForm) }
    value = bytes
    isValueText = false
  }

  private static func notOfForm(_ field: String, _ form: NamedForm) -> EntryFault {
    EntryFault(description: "field \"\(field)\" is not of the form \(form.name)")
  }

  /// Turns texts into the bytes of their forms. Throws unless the entry is complete.
  mutating func finish() throws(EntryFault) {
    try check()
    if isKeyText, let keyForm, keyForm.form.isTranslated {
      guard let bytes = keyForm.form.bytes(of: String(decoding: key, as: UTF8.self)) else {
        throw Self.notOfForm("key", keyForm)
      }
      key = bytes
    }
    if isValueText, let valueForm, valueForm.form.isTranslated {
      guard let bytes = valueForm.form.bytes(of: String(decoding: value, as: UTF8.self)) else {
        throw Self.notOfForm("value", valueForm)
      }
      value = bytes
    }
    if let valueVersion { value = StoredForm.mark(ofVersion: valueVersion) + value }
  }

  private func check() throws(EntryFault) {
    guard hasKey else { throw EntryFault(description: "there is no field \"key\", \"key64\" or \"keyHex\"") }
    guard hasValue else { throw EntryFault(description: "there is no field \"value\", \"value64\" or \"valueHex\"") }
  }

  private static func decode(
    _ text: Span<UInt8>,
    _ encoding: ByteEncoding,
    _ field: EntryField,
    into bytes: inout [UInt8]
  ) throws(EntryFault) {
    if encoding == .text, UTF8Check.isValid(text) {
      // Without an allocation in the usual case.
      bytes.removeAll(keepingCapacity: true)
      bytes.append(contentsOf: text)
      return
    }
    guard let decoded = encoding.decode(text) else {
      let wanted = encoding == .text ? "valid UTF-8" : encoding.rawValue
      throw EntryFault(description: "field \"\(field.rawValue)\" is not \(wanted)")
    }
    bytes = decoded
  }
}
