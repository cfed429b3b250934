internal import EskerFormat
internal import EskerPlatform

/// A value in place, valid as long as this object.
///
/// Safety: `owner` keeps the bytes, and nothing changes them: a record in a segment that is not the tail never changes, nor does one that
/// is too large for others to take its room, and a buffer is filled before it is leased. Use `withBytes`, which keeps the owner until the body returns.
/// Without an owner, whoever asked for the lease keeps the memory that it was copied to.
@usableFromInline @safe
struct ValueLease {
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline let version: SequenceNumber
  @usableFromInline let expiry: Expiry
  /// The segment, or the memory that a value was decompressed into; nil if it is in memory of the caller's.
  @usableFromInline let owner: AnyObject?

  init(_ bytes: UnsafeRawBufferPointer, version: UInt64, expiry: Int64, keptAliveBy owner: AnyObject?) {
    unsafe self.bytes = bytes
    self.version = SequenceNumber(rawValue: version)
    self.expiry = Expiry(stored: expiry)
    self.owner = owner
  }

  /// A copy of the value.
  var copy: [UInt8] { withExtendedLifetime(owner) { unsafe [UInt8](bytes) } }

  func isEqual(to other: RawSpan) -> Bool {
    // Safety: both are lent during the call, and no more is read than their common count.
    unsafe other.withUnsafeBytes { other in
      guard unsafe bytes.count == other.count else { return false }
      guard let base = unsafe bytes.baseAddress, let otherBase = other.baseAddress else { return true }
      return withExtendedLifetime(owner) { unsafe base.equals(otherBase, count: other.count) }
    }
  }

  @inlinable @inline(__always)
  func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try withExtendedLifetime(owner) { () throws(E) -> R in try unsafe body(bytes.bytes) }
  }

  @inlinable
  var metadata: ValueMetadata { unsafe ValueMetadata(length: bytes.count, version: version, expiry: expiry) }
}

/// Memory for a decompressed value.
///
/// Safety: it owns the memory until `deinit`.
@safe
final class ValueBuffer {
  let bytes: UnsafeMutableRawBufferPointer

  init(count: Int) {
    unsafe bytes = .allocate(byteCount: count, alignment: 8)
  }

  deinit { unsafe bytes.deallocate() }
}

extension Keydir {
  /// The value at an address that a look-up returned: in place if it is stored uncompressed, otherwise a copy.
  ///
  /// Safety: the caller is pinned, so the segment is installed and `segment(of:)` returns the reference that keeps the value.
  /// `copyValue` fills the whole buffer, or reports damage.
  @inline(never)
  func packedLease(at address: UInt64) throws(StoreError) -> ValueLease {
    let (entry, view) = try packedEntry(at: address)
    if let stored = unsafe view.storedValue(of: entry) {
      pageInWhole(address, size: entry.size)
      let isLarge = stored.count >= VerifiedRecords.leastSize
      func found(_ isVerified: Bool) -> RecordDamage? {
        isVerified && !view.storedValueIsIntact(entry) ? .bodyChecksum : nil
      }
      let damage =
        isLarge
        ? unsafe verifyingOnce(entry.headChecksum, at: address, lending: stored, found) : found(verifiesReads)
      if let damage { throw self.damage(at: address, damage, key: entry.key) }
      return unsafe ValueLease(
        stored,
        version: entry.sequence,
        expiry: entry.expiry,
        keptAliveBy: granules.segment(of: address)
      )
    }
    let buffer = ValueBuffer(count: entry.valueLength)
    if let found = unsafe copyValue(of: entry, in: view, at: address, into: buffer.bytes) {
      throw damage(at: address, found, key: entry.key)
    }
    return unsafe ValueLease(
      UnsafeRawBufferPointer(buffer.bytes),
      version: entry.sequence,
      expiry: entry.expiry,
      keptAliveBy: buffer
    )
  }
}
