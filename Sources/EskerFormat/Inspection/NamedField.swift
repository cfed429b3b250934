/// One field of a structure on disk, as the format's description names it.
public struct NamedField: Hashable, Sendable {
  /// What a field says.
  public enum Value: Hashable, Sendable {
    /// A number, to be read in decimal.
    case number(UInt64)
    /// A checksum or a hash.
    case hash(UInt64)
    /// A word that stands for a number.
    case word(String)
    /// An instant, in milliseconds of store time.
    case instant(Int64)
    /// Bytes of the user's, or of a compressed block: they speak for themselves.
    case bytes
    /// Zeros up to the next boundary.
    case padding
  }

  /// The field's name.
  public var name: String
  /// Where it stands, counted from the start of the structure.
  public var range: Range<Int>
  /// What it says.
  public var value: Value
}

/// Builds a list of fields from the first to the last; those without bytes are left out.
struct FieldList {
  private(set) var fields: [NamedField] = []
  private var offset = 0

  mutating func add(_ name: String, _ length: Int, _ value: NamedField.Value) {
    if length > 0 { fields.append(NamedField(name: name, range: offset..<offset + length, value: value)) }
    offset += length
  }

  /// What is left of the structure.
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
      case .reset: "reset"
      }
    let names: [(RecordFlags, String)] = [
      (.expires, "expires"), (.keyspace, "keyspace"), (.batchContinues, "batch continues"), (.compressed, "compressed"),
    ]
    return ([kind] + names.filter { flags.contains($0.0) }.map(\.1)).joined(separator: ", ")
  }
}
