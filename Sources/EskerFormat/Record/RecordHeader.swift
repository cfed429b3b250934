/// The decoded header of a record.
@frozen
public struct RecordHeader: Hashable, Sendable {
  /// The record's sequence number, at most 2^56 - 1.
  public var sequence: UInt64
  /// The hash of the key under the store's seed; 0 in a seal or a reset.
  public let keyHash: UInt64
  /// When the record expires, in milliseconds of store time; `Int64.max` means never.
  public let expiry: Int64
  /// The keyspace of the key.
  public let keyspace: KeyspaceTag
  /// The length in bytes of the value.
  public let valueLength: UInt32
  /// The length in bytes of the key.
  public let keyLength: UInt16
  /// How far the highest sequence number known to be durable was behind `sequence`; 65,535 means unknown.
  public var durableLag: UInt16
  /// The kind of record.
  public let kind: RecordKind
  /// The flags stored in the header.
  public let flags: RecordFlags

  /// Creates the header of a record with these properties.
  @inlinable
  public init(
    sequence: UInt64,
    kind: RecordKind,
    keyHash: UInt64,
    keyLength: Int,
    valueLength: Int,
    expiry: Int64 = .max,
    keyspace: KeyspaceTag = .default,
    batchContinues: Bool = false,
    durableLag: UInt16 = .max
  ) {
    self.sequence = sequence
    self.keyHash = keyHash
    self.expiry = expiry
    self.keyspace = keyspace
    self.valueLength = UInt32(truncatingIfNeeded: valueLength)
    self.keyLength = UInt16(truncatingIfNeeded: keyLength)
    self.durableLag = durableLag
    self.kind = kind
    flags = RecordFlags(rawValue: (expiry == .max ? 0 : 1) | (keyspace == .default ? 0 : 2) | (batchContinues ? 4 : 0))
  }

  /// The durable lag to store in a record with `sequence` when everything up to `durable` is known to be durable.
  @inlinable
  public static func durableLag(sequence: UInt64, durable: UInt64) -> UInt16 {
    durable > sequence ? 0 : UInt16(truncatingIfNeeded: min(sequence &- durable, 65_535))
  }

  /// The highest sequence number known to be durable when this record was written, or `nil` if unknown.
  @inlinable
  public var durableSequence: UInt64? {
    durableLag == .max || UInt64(durableLag) > sequence ? nil : sequence &- UInt64(durableLag)
  }

  /// Whether another record of the same batch follows.
  @inlinable
  public var batchContinues: Bool { flags.contains(.batchContinues) }

  /// Whether it is a mark: a filler that is no room of a record that was being replaced.
  @inlinable
  public var isMark: Bool { kind == .filler && sequence != 0 }

  /// Whether the record expires at all.
  @inlinable
  public var expires: Bool { expiry != .max }

  /// The length in bytes of everything before the body.
  @inlinable
  public var bodyOffset: Int { 32 &+ 8 &* flags.extensionWords }

  /// The length in bytes of the whole record.
  @inlinable
  public var size: Int {
    RecordLayout.size(
      keyLength: Int(keyLength),
      valueLength: Int(valueLength),
      extensionWords: flags.extensionWords
    )
  }
}
