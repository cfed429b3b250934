/// What a record says.
///
/// On disk: never renumber.
@frozen
public enum RecordKind: UInt8, Sendable, CaseIterable {
  /// A key has a value.
  case put = 1
  /// A key has none.
  case tombstone = 2
  /// The log goes on in the next segment. Neither key nor value; the sequence is that of the last record before it.
  case seal = 3
  /// A keyspace was emptied: the incarnation that begins. Neither key nor value.
  case reset = 4
}

/// What else a record's header says.
///
/// On disk: never renumber.
@frozen
public struct RecordFlags: OptionSet, Hashable, Sendable {
  /// The four bits.
  public let rawValue: UInt8

  /// The flags with the given bits.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// An extension word holds the instant of expiry.
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
  /// Reserved: version 1 refuses such records.
  @inlinable
  public static var compressed: RecordFlags { RecordFlags(rawValue: 8) }

  /// How many extension words the flags call for.
  @inlinable
  public var extensionWords: Int { Int(rawValue & 1) &+ Int((rawValue >> 1) & 1) }
}
