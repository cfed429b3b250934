public import CEskerShims
public import Synchronization

/// Writes records.
///
/// A record exists once its first word, with the two checksums, is published: until then the log ends before it.
/// ``bodyChecksum(key:value:)`` does not depend on the place in the log, so it is computed before one is reserved.
public enum RecordEncoder {
  /// The checksum of a body given in parts, including the padding.
  ///
  /// - Complexity: O(n); about 19 ns for 16 and 100 bytes.
  ///
  /// Safety: the caller keeps both during the call, and the C function reads as many bytes as they have.
  @inlinable
  public static func bodyChecksum(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> UInt32 {
    unsafe esker_record_body_checksum(key.baseAddress, key.count, value.baseAddress, value.count)
  }

  /// Writes a record except for its first word, and returns that word for ``publish(_:at:)``.
  ///
  /// - Parameters:
  ///   - header: The header; its lengths are those of `key` and `value`.
  ///   - bodyChecksum: The result of ``bodyChecksum(key:value:)`` for them.
  ///   - salt: The segment's salt.
  ///   - offsetUnits: The record's offset in the file, in units of eight bytes.
  ///   - place: Where to write: ``RecordHeader/size`` bytes that nothing else touches, aligned to eight.
  ///
  /// Safety: all stores lie within the header's size, which follows from the lengths that the preconditions check: the last
  /// word of a body that does not fill it, the fields and extension words before the body, and key and value, which the
  /// caller keeps during the call. No other thread looks beyond the first word until that is published.
  ///
  /// - Complexity: O(n).
  @inlinable
  public static func write(
    _ header: RecordHeader,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    bodyChecksum: UInt32,
    salt: UInt32,
    offsetUnits: UInt32,
    to place: UnsafeMutableRawPointer
  ) -> UInt64 {
    precondition(Int(header.keyLength) == key.count && Int(header.valueLength) == value.count)
    precondition(header.isWellFormed)
    let flags = header.flags
    let bodyOffset = 32 &+ 8 &* flags.extensionWords
    let bodyLength = key.count &+ value.count
    // The last word first: the part of it that the body does not cover is the padding. A body of whole words has none.
    if bodyLength & 7 != 0 {
      unsafe place.storeBytes(of: 0, toByteOffset: bodyOffset &+ (bodyLength & ~7), as: UInt64.self)
    }
    let word = header.sequence | UInt64(header.kind.rawValue) << 56 | UInt64(flags.rawValue) << 60
    let lengths = UInt64(header.valueLength) | UInt64(header.keyLength) << 32 | UInt64(header.durableLag) << 48
    unsafe place.storeBytes(of: word.littleEndian, toByteOffset: 8, as: UInt64.self)
    unsafe place.storeBytes(of: header.keyHash.littleEndian, toByteOffset: 16, as: UInt64.self)
    unsafe place.storeBytes(of: lengths.littleEndian, toByteOffset: 24, as: UInt64.self)
    if !flags.isEmpty {
      var offset = 32
      if flags.contains(.expires) {
        unsafe place.storeBytes(of: header.expiry.littleEndian, toByteOffset: offset, as: Int64.self)
        offset &+= 8
      }
      if flags.contains(.keyspace) {
        unsafe place.storeBytes(of: header.keyspace.rawValue.littleEndian, toByteOffset: offset, as: UInt64.self)
      }
    }
    if let base = key.baseAddress {
      unsafe (place + bodyOffset).copyMemory(from: base, byteCount: key.count)
    }
    if let base = value.baseAddress {
      unsafe (place + (bodyOffset &+ key.count)).copyMemory(from: base, byteCount: value.count)
    }
    return unsafe esker_record_first_word(salt, offsetUnits, bodyChecksum, place, UInt32(flags.extensionWords))
  }

  /// Publishes the record at `place`: stores its first word with release ordering, after everything else.
  @inlinable
  public static func publish(_ firstWord: UInt64, at place: UnsafeMutableRawPointer) {
    // Safety: the caller owns these eight aligned bytes; an atomic word has the representation of a plain one. Release: a
    // thread that acquires the word in ``RecordHeader/read(at:limit:salt:offsetUnits:)`` sees everything written before it.
    unsafe place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee
      .store(firstWord.littleEndian, ordering: .releasing)
  }
}
