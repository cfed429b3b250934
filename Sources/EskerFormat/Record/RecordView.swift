public import CEskerShims

/// A record in place, for the path of a get: fields are read in place, and verified on demand.
///
/// A view guarantees only that the record's declared length is within the limit it was created with, until
/// ``damage(salt:offsetUnits:)`` has verified the rest. It borrows the memory: the creator keeps it alive and unchanged.
///
/// Safety: the creator promises `limit` bytes, and `init` checks that the record's declared size is within them. The fields,
/// the extension words, the key and the value all lie within that size, whatever they contain.
@frozen
@safe
public struct RecordView {
  @usableFromInline let base: UnsafeRawPointer
  /// Sequence, kind and flags.
  @usableFromInline let word: UInt64
  /// Value length, key length and durable lag.
  @usableFromInline let lengths: UInt64

  /// A view of the record at `place`, or `nil` if the lengths it declares exceed `limit` bytes.
  @inlinable
  @inline(__always)
  public init?(at place: UnsafeRawPointer, limit: Int) {
    guard limit >= 32 else { return nil }
    unsafe self.init(fieldsAt: place)
    guard size <= limit else { return nil }
  }

  /// A view of the first 32 bytes. The caller checks that there are more before it asks for anything after them.
  @inlinable
  @inline(__always)
  init(fieldsAt place: UnsafeRawPointer) {
    unsafe base = place
    word = unsafe place.littleEndian(at: 8)
    lengths = unsafe place.littleEndian(at: 24)
  }

  @inlinable
  @inline(__always)
  func load<I: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> I { unsafe base.littleEndian(at: offset) }

  /// The record's sequence number.
  @inlinable
  public var sequence: UInt64 { word & (1 << 56 - 1) }

  /// The kind of record, or `nil` for one that is unknown in version 1.
  @inlinable
  public var kind: RecordKind? { RecordKind(rawValue: UInt8(truncatingIfNeeded: word >> 56) & 15) }

  /// The flags.
  @inlinable
  public var flags: RecordFlags { RecordFlags(rawValue: UInt8(truncatingIfNeeded: word >> 60)) }

  /// The hash of the key.
  @inlinable
  public var keyHash: UInt64 { load(at: 16) }

  /// The length in bytes of the key.
  @inlinable
  public var keyLength: Int { Int(truncatingIfNeeded: (lengths >> 32) & 0xffff) }

  /// The length in bytes of the value.
  @inlinable
  public var valueLength: Int { Int(truncatingIfNeeded: lengths & 0xffff_ffff) }

  /// The length in bytes of everything before the key.
  @inlinable
  public var bodyOffset: Int { 32 &+ 8 &* flags.extensionWords }

  /// The length in bytes of the whole record.
  @inlinable
  public var size: Int {
    RecordLayout.size(keyLength: keyLength, valueLength: valueLength, extensionWords: flags.extensionWords)
  }

  /// When the record expires; `Int64.max` means never.
  @inlinable
  public var expiry: Int64 {
    flags.contains(.expires) ? load(at: 32) : .max
  }

  /// The keyspace of the key.
  @inlinable
  public var keyspace: KeyspaceTag {
    guard flags.contains(.keyspace) else { return .default }
    return KeyspaceTag(rawValue: load(at: 32 &+ (flags.contains(.expires) ? 8 : 0)))
  }

  /// Where the key starts.
  @inlinable
  public var keyPointer: UnsafeRawPointer { unsafe base + bodyOffset }

  /// Where the value starts.
  @inlinable
  public var valuePointer: UnsafeRawPointer { unsafe base + (bodyOffset &+ keyLength) }

  /// The key's bytes.
  @inlinable
  public var key: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: keyPointer, count: keyLength) }

  /// The value's bytes.
  @inlinable
  public var value: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: valuePointer, count: valueLength) }

  /// Whether the record is for this key in this keyspace, going by its unverified bytes.
  @inlinable
  public func isFor(hash: UInt64, key: UnsafeRawPointer, count: Int, keyspace: KeyspaceTag) -> Bool {
    guard keyHash == hash, keyLength == count, self.keyspace == keyspace else { return false }
    return unsafe keyPointer.equals(key, count: count)
  }

  /// The damage to the record, or `nil` if header and body match their checksums and are consistent.
  ///
  /// - Complexity: O(size); about 20 ns for 120 bytes of key and value.
  @inlinable
  public func damage(salt: UInt32, offsetUnits: UInt32) -> RecordDamage? {
    let words = flags.extensionWords
    let outcome = unsafe esker_record_check(salt, offsetUnits, base, UInt32(words), size &- (32 &+ 8 &* words))
    if outcome == 0, flags.rawValue & 0b1011 == 0, word >> 56 & 15 == 1, valueLength <= 1 << 30 { return nil }
    return slowDamage(outcome)
  }

  /// The rare outcomes of ``damage(salt:offsetUnits:)``, and records with other kinds or flags than a plain put.
  @usableFromInline
  func slowDamage(_ outcome: UInt32) -> RecordDamage? {
    if outcome & 1 != 0 { return .headerChecksum }
    switch RecordHeader.decode(self, limit: size) {
    case .damaged(let damage): return damage
    case .end, .record: return outcome == 0 ? nil : .bodyChecksum
    }
  }

  /// The checksum stored for the body.
  @inlinable
  public var bodyChecksum: UInt32 { load(at: 4) }

  /// The checksum stored for the header, which covers that of the body and the record's place.
  @inlinable
  public var headerChecksum: UInt32 { load(at: 0) }

  /// Whether the body matches its checksum, regardless of the rest of the header.
  @inlinable
  @inline(__always)
  public var bodyIsIntact: Bool {
    unsafe esker_crc32c(0, base + bodyOffset, size &- bodyOffset) == bodyChecksum
  }
}
