import Esker
import EskerTools

/// What the keys or the values of a keyspace are as bytes, by the name that the keyspace records.
indirect enum StoredForm: Equatable {
  /// Whether the bytes are keys, whose integers and instants have the order of what they stand for.
  enum Place {
    case keys, values
  }

  /// Bytes, those of a form that the tool does not know, or nothing is recorded: shown and given as they are.
  case raw
  /// Text, also the addresses of URLs.
  case text
  /// Values that are the text of JSON.
  case json
  case integer(bytes: Int, isSigned: Bool, Place)
  /// IEEE 754, of 4 or 8 bytes; keys have 8, in the order of the numbers.
  case float(bytes: Int, Place)
  case bool
  /// Seconds since 2001; those of keys have the order of the instants.
  case date(Place)
  case uuid
  case cbor
  /// The parts of a composite key.
  case composite([StoredForm])
  /// Values whose bytes were turned further, first to last: compressed, or with a checksum.
  case transformed(StoredForm, [ByteStep])

  /// What is done to the bytes of a value, by the name that a form's name has after a plus sign.
  enum ByteStep: String {
    case lz4
    case checksum = "crc32c"
  }

  init(_ name: String?, of place: Place) {
    let parts = place == .keys ? (name ?? "").split(separator: ",", omittingEmptySubsequences: false) : []
    if parts.count > 1 {
      self = .composite(parts.map { StoredForm(String($0), of: place) })
      return
    }
    if place == .values, let turned = Self.transformed(name ?? "") {
      self = turned
      return
    }
    switch name {
    case "json" where place == .values: self = .json
    case "utf8", "json", "url": self = .text
    case "bool": self = .bool
    case "date": self = .date(place)
    case "uuid": self = .uuid
    case "cbor": self = .cbor
    case "float32" where place == .values: self = .float(bytes: 4, place)
    case "float64": self = .float(bytes: 8, place)
    case let name?: self = Self.integer(name, place) ?? .raw
    case nil: self = .raw
    }
  }

  /// The form of a name such as `cbor+lz4`; nil if it has no plus sign, and raw if a part of it is unknown.
  private static func transformed(_ name: String) -> StoredForm? {
    let parts = name.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 1 else { return nil }
    let inner = StoredForm(parts[0], of: .values)
    let steps = parts.dropFirst().compactMap { ByteStep(rawValue: $0) }
    guard inner != .raw, steps.count == parts.count - 1 else { return .raw }
    return .transformed(inner, steps)
  }

  private static func integer(_ name: String, _ place: Place) -> StoredForm? {
    let isSigned = name.hasPrefix("int")
    guard isSigned || name.hasPrefix("uint"), let bits = Int(name.dropFirst(isSigned ? 3 : 4)),
      [8, 16, 32, 64].contains(bits) || bits == 128 && place == .keys
    else { return nil }
    return .integer(bytes: bits / 8, isSigned: isSigned, place)
  }
}

extension StoreInspection {
  /// The form of the keys of a keyspace, as far as the manifest can be read.
  func shownKeys(ofKeyspace id: UInt32) -> StoredForm {
    StoredForm(manifest?.keyspaces.first { $0.id == id }?.keyForm, of: .keys)
  }
}

extension Cell {
  /// A key in its form, or its bytes if it has another.
  static func key(_ bytes: [UInt8], _ form: StoredForm) -> Cell {
    form.text(of: bytes).map { .text($0) } ?? .bytes(bytes)
  }
}

extension Keyspace {
  /// The form of the keys.
  var shownKeys: StoredForm { StoredForm(keyForm, of: .keys) }
  /// The form of the values.
  var shownValues: StoredForm { StoredForm(valueForm, of: .values) }
}
