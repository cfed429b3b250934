import Esker

/// Why fields do not make an entry.
struct EntryFault: Error, Hashable {
  let description: String
}

/// A field of an entry as written by `dump`.
enum EntryField: String {
  case keyspace, key, key64, keyHex, value, value64, valueHex, expires

  /// Whether the field holds the key or the value, and its encoding; nil for other fields.
  var bytes: (isKey: Bool, encoding: ByteEncoding)? {
    switch self {
    case .key: (true, .text)
    case .key64: (true, .base64)
    case .keyHex: (true, .hex)
    case .value: (false, .text)
    case .value64: (false, .base64)
    case .valueHex: (false, .hex)
    case .keyspace, .expires: nil
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

  /// Clears the contents but keeps the storage.
  mutating func removeAll() {
    keyspace = nil
    expiry = nil
    hasKey = false
    hasValue = false
    hasExpiry = false
  }

  mutating func set(_ field: EntryField, _ text: Span<UInt8>) throws(EntryFault) {
    if let (isKey, encoding) = field.bytes {
      guard isKey ? !hasKey : !hasValue else {
        throw EntryFault(description: "there is more than one \(isKey ? "key" : "value")")
      }
      if isKey {
        hasKey = true
        try Self.decode(text, encoding, field, into: &key)
      } else {
        hasValue = true
        try Self.decode(text, encoding, field, into: &value)
      }
      return
    }
    if field == .keyspace {
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

  /// Throws unless the entry is complete.
  func check() throws(EntryFault) {
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
