internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// A record that a reader found, and where.
///
/// Safety: a view is valid only while the reader that found it stays pinned; nobody keeps one longer.
@safe
enum FoundRecord {
  case plain(RecordView, UInt64)
  /// A record of at least ``VerifiedRecords/leastSize`` bytes, neither verified nor known not to have expired: for
  /// ``Keydir/largeRecord(at:)`` and its like.
  case large(UInt64)
  case packed(UInt64)
}

// Safety: the caller is pinned before the index gives an address. A segment is uninstalled once the index no longer leads to it
// and the pins of that time have ended, so the record stays mapped as long as the pin. `GranuleTable.place` bounds it by the end
// of its segment, and `RecordView` checks its lengths against that. nil for the address of an empty key is replaced by one that
// is not read from. The caller keeps the key.
extension Keydir {
  /// The newest record of a key, verified unless it is large; nil if the key is absent or expired. The caller must be pinned as long
  /// as it uses the record.
  ///
  /// Optimistic: the index may change meanwhile. A hit is confirmed by its key, a miss by the bucket's version.
  @inline(__always)
  func lookup(
    _ hash: UInt64,
    _ key: UnsafeRawBufferPointer,
    _ tag: KeyspaceTag
  ) throws(StoreError) -> FoundRecord? {
    var probe = reader.probe(hash)
    while let address = probe.next() {
      guard let place = granules.place(of: address) else {
        if let other = try unsafe otherRecord(hash, key, tag, besides: address, .truncated) { return other }
        continue
      }
      if place.packing != 0 {
        switch unsafe packedMatch(at: place, key, tag) {
        case .visible: return .packed(address)
        case .expired: return nil
        case .other: break
        case .damaged(let found, isKey: true): throw unsafe damage(at: address, found, key: [UInt8](key))
        case .damaged(let found, isKey: false):
          if let other = try unsafe otherRecord(hash, key, tag, besides: address, found) { return other }
        }
        continue
      }
      // Fetches all cache lines of a small record at once instead of waiting for each.
      unsafe prefetchForReading(UInt(bitPattern: place.pointer) &+ 64)
      unsafe prefetchForReading(UInt(bitPattern: place.pointer) &+ 128)
      guard let record = unsafe RecordView(at: place.pointer, limit: place.limit) else {
        if let other = try unsafe otherRecord(hash, key, tag, besides: address, .truncated) { return other }
        continue
      }
      place.prefetchRest(of: record)
      if unsafe record.isFor(hash: hash, key: key.baseAddress ?? place.pointer, count: key.count, keyspace: tag) {
        if record.size >= VerifiedRecords.leastSize {
          return .large(address)
        }
        if verifiesReads, let found = record.damage(salt: place.salt, offsetUnits: place.offsetUnits) {
          throw unsafe damage(at: address, found, key: [UInt8](key))
        }
        let expiry = record.expiry
        guard expiry == .max || expiry > time.now else { return nil }
        return .plain(record, address)
      }
      // The fingerprint matches and the key does not. Before trusting the key, verify the record.
      if let found = record.damage(salt: place.salt, offsetUnits: place.offsetUnits),
        record.keyHash == hash || found == .headerChecksum
      {
        if let other = try unsafe otherRecord(hash, key, tag, besides: address, found) { return other }
      }
    }
    try checkAbsence(isDamaged: probe.isDamaged)
    return nil
  }

  /// The record at an address that the index returned earlier under the caller's present pin; nil unless it passes all checks
  /// of ``lookup(_:_:_:)``.
  @inline(__always)
  func record(
    at address: UInt64,
    for hash: UInt64,
    _ key: UnsafeRawBufferPointer,
    _ tag: KeyspaceTag
  ) -> RecordView? {
    guard env.isUnhindered, address <= Slot.addressMask,
      let place = granules.place(of: address), place.packing == 0,
      let record = unsafe RecordView(at: place.pointer, limit: place.limit),
      unsafe record.isFor(hash: hash, key: key.baseAddress ?? place.pointer, count: key.count, keyspace: tag)
    else { return nil }
    if record.size >= VerifiedRecords.leastSize {
      guard isIntact(large: record, at: place, address) else { return nil }
    } else {
      guard !verifiesReads || record.damage(salt: place.salt, offsetUnits: place.offsetUnits) == nil else { return nil }
    }
    let expiry = record.expiry
    guard expiry == .max || expiry > time.now else { return nil }
    return record
  }

  /// The intact record of a key that a look-up passed over because it has expired.
  func expiredRecord(_ hash: UInt64, _ key: UnsafeRawBufferPointer, _ tag: KeyspaceTag) -> FoundRecord? {
    var probe = reader.probe(hash)
    while let address = probe.next() {
      guard let place = granules.place(of: address), let record = StoredRecord(at: place),
        unsafe record.isFor(hash, key, tag), record.headIsIntact
      else { continue }
      switch record {
      case .plain(let record, _):
        return record.damage(salt: place.salt, offsetUnits: place.offsetUnits) == nil ? .plain(record, address) : nil
      case .packed: return .packed(address)
      }
    }
    return nil
  }

  /// Decides whether a damaged record is the key's: if the key has an intact record, which is returned, the damage is another
  /// key's; if not, throws the damage as this key's.
  @inline(never)
  private func otherRecord(
    _ hash: UInt64,
    _ key: UnsafeRawBufferPointer,
    _ tag: KeyspaceTag,
    besides damaged: UInt64,
    _ found: RecordDamage
  ) throws(StoreError) -> FoundRecord? {
    var probe = reader.probe(hash)
    while let address = probe.next() {
      guard address != damaged, let place = granules.place(of: address), let record = StoredRecord(at: place),
        unsafe record.isFor(hash, key, tag), record.headIsIntact
      else { continue }
      guard record.expiry == .max || record.expiry > time.now else { return nil }
      return switch record {
      case .plain(let record, _): .plain(record, address)
      case .packed: .packed(address)
      }
    }
    throw unsafe damage(at: damaged, found, key: [UInt8](key))
  }

  /// The error that names a damaged record; that the store is closed, or that the system refuses the file, if so.
  func damage(at address: UInt64, _ found: RecordDamage, key: [UInt8]?) -> StoreError {
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    guard !env.isClosed else { return .closed }
    guard let segment = granules.segment(of: address) else {
      return .damaged(
        StoreError.Location(path: env.path, key: key),
        reason: "the index points outside the log; delete the checkpoint file and reopen the store"
      )
    }
    let offset = Int(truncatingIfNeeded: (address &- segment.startUnits) &<< 3)
    return segment.damage(offset, key: key, found.reason)
  }

  func indexDamage() -> StoreError {
    .damaged(
      StoreError.Location(path: loadedCheckpoint?.path ?? env.path),
      reason: "a page of the index checkpoint does not match its checksum; delete the file and reopen the store"
    )
  }
}
