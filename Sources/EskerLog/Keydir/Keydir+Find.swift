internal import EskerFormat
internal import EskerIndex

/// The newest record of a key, as a writer finds it.
struct CurrentRecord {
  /// 0 if there is none.
  var address: UInt64 = 0
  var sequence: UInt64 = 0
  var expiry: Int64 = .max
  var size = 0
  /// ``size``, unless the record is packed.
  var unpackedSize = 0
  /// The record cannot be read; its slot is kept until the key is written again.
  var damage: RecordDamage?

  /// The version that a reader would see at `time`; nil if none.
  func visibleVersion(at time: @autoclosure () -> Int64) -> UInt64? {
    guard address != 0, expiry == .max || expiry > time() else { return nil }
    return sequence
  }
}

extension CurrentRecord {
  @inline(__always)
  fileprivate init(_ record: RecordView, at address: UInt64) {
    let size = record.size
    self.init(
      address: address,
      sequence: record.sequence,
      expiry: record.expiry,
      size: size,
      unpackedSize: size
    )
  }
}

// Safety: an index entry leads to a segment that is installed, since a segment is uninstalled only once the index no longer
// leads there. A merge changes the index under the writer's lock, and takes it again before it gives up its inputs: so what was
// found stays mapped until the lock is released. `GranuleTable.place` bounds each record by the end of its segment, and nil for
// the address of an empty key is replaced by one that is not read from. The caller keeps the key.
extension Keydir {
  /// Finds the newest record of a key, which stays mapped until the writer's lock, held by the caller, is released.
  ///
  /// - Parameter probe: a fresh probe for the hash; left at the slot that leads to the record, or where it would be.
  @inline(__always)
  func findForWrite(
    _ hash: UInt64,
    _ key: UnsafeRawBufferPointer,
    _ tag: KeyspaceTag,
    _ probe: inout WriteProbe
  ) throws(StoreError) -> CurrentRecord {
    guard let address = probe.next() else {
      try checkAbsence(isDamaged: probe.isDamaged)
      return CurrentRecord()
    }
    if let place = granules.place(of: address), place.packing == 0,
      let record = unsafe RecordView(at: place.pointer, limit: place.limit),
      unsafe record.isFor(hash: hash, key: key.baseAddress ?? place.pointer, count: key.count, keyspace: tag)
    {
      return CurrentRecord(record, at: address)
    }
    return try unsafe findBehindAnother(hash, key, tag, &probe)
  }

  /// The rest of a search whose first candidate was another key with the same fingerprint, or damaged.
  @inline(never)
  private func findBehindAnother(
    _ hash: UInt64,
    _ key: UnsafeRawBufferPointer,
    _ tag: KeyspaceTag,
    _ probe: inout WriteProbe
  ) throws(StoreError) -> CurrentRecord {
    probe = writeProbe(hash)
    // A damaged record with this hash, or with an unknown one, is taken to be the key's if the key has no intact record:
    // writing the key again repairs it.
    var damaged: (existing: CurrentRecord, probe: WriteProbe)?
    while let address = probe.next() {
      guard let place = granules.place(of: address) else {
        damaged = (CurrentRecord(address: address, damage: .truncated), probe)
        continue
      }
      if place.packing != 0 {
        guard let existing = unsafe packedExisting(at: place, key, tag, address) else { continue }
        if existing.damage == nil { return existing }
        damaged = (existing, probe)
        continue
      }
      guard let record = unsafe RecordView(at: place.pointer, limit: place.limit) else {
        damaged = (CurrentRecord(address: address, damage: .truncated), probe)
        continue
      }
      if unsafe record.isFor(hash: hash, key: key.baseAddress ?? place.pointer, count: key.count, keyspace: tag) {
        return CurrentRecord(record, at: address)
      }
      if let found = record.damage(salt: place.salt, offsetUnits: place.offsetUnits),
        record.keyHash == hash || found == .headerChecksum
      {
        damaged = (CurrentRecord(address: address, damage: found), probe)
      }
    }
    try checkAbsence(isDamaged: probe.isDamaged)
    guard let damaged else { return CurrentRecord() }
    probe = damaged.probe
    return damaged.existing
  }

  /// The packed record at a place, if it is the key's, or too damaged to tell; nil if it is another key's.
  @inline(never)
  private func packedExisting(
    at place: GranuleTable.Place,
    _ key: UnsafeRawBufferPointer,
    _ tag: KeyspaceTag,
    _ address: UInt64
  ) -> CurrentRecord? {
    guard let (view, offset) = place.packed, let entry = view.entry(at: offset) else {
      return CurrentRecord(address: address, damage: .malformed)
    }
    if unsafe entry.isFor(key, keyspace: tag) {
      return CurrentRecord(
        address: address,
        sequence: entry.sequence,
        expiry: entry.expiry,
        size: entry.size,
        unpackedSize: entry.unpackedSize
      )
    }
    return entry.headIsIntact(salt: view.salt) ? nil : CurrentRecord(address: address, damage: .headerChecksum)
  }
}
