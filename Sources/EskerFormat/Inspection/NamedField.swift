/// A field of an on-disk structure, named as in the format's description.
public struct NamedField: Hashable, Sendable {
  /// A field's value.
  public enum Value: Hashable, Sendable {
    /// A number, shown in decimal.
    case number(UInt64)
    /// A checksum or a hash.
    case hash(UInt64)
    /// A number shown as a word.
    case word(String)
    /// A time, in milliseconds of store time.
    case instant(Int64)
    /// Bytes of a key, a value or a compressed block.
    case bytes
    /// Zeros up to the next boundary.
    case padding
  }

  /// The field's name.
  public var name: String
  /// Its position, counted from the start of the structure.
  public var range: Range<Int>
  /// Its value.
  public var value: Value
}

/// Builds a list of fields in order; empty fields are left out.
struct FieldList {
  private(set) var fields: [NamedField] = []
  private var offset = 0

  mutating func add(_ name: String, _ length: Int, _ value: NamedField.Value) {
    if length > 0 { fields.append(NamedField(name: name, range: offset..<offset + length, value: value)) }
    offset += length
  }

  /// Adds the rest of the structure as padding.
  mutating func pad(to end: Int) {
    add("padding", end - offset, .padding)
  }
}

extension RecordKind {
  /// The kind's name, with its flags: `put, expires, batch continues`.
  func words(_ flags: RecordFlags) -> String {
    let kind =
      switch self {
      case .put: "put"
      case .tombstone: "tombstone"
      case .seal: "seal"
      case .filler: "filler"
      case .reset: "reset"
      }
    let names: [(RecordFlags, String)] = [
      (.expires, "expires"), (.keyspace, "keyspace"), (.batchContinues, "batch continues"), (.compressed, "compressed"),
    ]
    return ([kind] + names.filter { flags.contains($0.0) }.map(\.1)).joined(separator: ", ")
  }
}
