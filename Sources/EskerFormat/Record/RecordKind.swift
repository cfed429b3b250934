/// The kind of a record.
///
/// On disk: never renumber.
@frozen
public enum RecordKind: UInt8, Sendable, CaseIterable {
  /// A key was given a value.
  case put = 1
  /// A key was removed.
  case tombstone = 2
  /// The log continues in the next segment. No key or value; the sequence number is that of the last record before it.
  case seal = 3
  /// A keyspace was emptied; carries the incarnation that begins. No value; no key either, unless the keyspace was removed: then
  /// the key is its name.
  case reset = 4
  /// Not a record, but filler between two: a record that is being replaced, or a mark, whose `keyHash` is a sum over what precedes it; see
  /// ``ReuseWords``. The sequence number of a mark is that of the last record before it.
  case filler = 5
}

/// Flags in a record's header.
///
/// On disk: never renumber.
@frozen
public struct RecordFlags: OptionSet, Hashable, Sendable {
  /// The bits, four at most.
  public let rawValue: UInt8

  /// Creates flags with the given bits.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// An extension word holds the expiry.
  @inlinable
  public static var expires: RecordFlags { RecordFlags(rawValue: 1) }

  /// An extension word holds the keyspace and its incarnation; without it, the record is in the default keyspace.
  @inlinable
  public static var keyspace: RecordFlags { RecordFlags(rawValue: 2) }

  /// Another record of the same batch follows.
  @inlinable
  public static var batchContinues: RecordFlags { RecordFlags(rawValue: 4) }

  /// The value is compressed.
  ///
  /// Only in packed segments; elsewhere version 1 rejects such records.
  @inlinable
  public static var compressed: RecordFlags { RecordFlags(rawValue: 8) }

  /// The number of extension words that the flags imply.
  @inlinable
  public var extensionWords: Int { Int(rawValue & 1) &+ Int((rawValue >> 1) & 1) }
}
