internal import EskerFormat
internal import EskerPlatform

/// A record at an address, packed or not, for use outside the hot paths.
///
/// Safety: the caller keeps the segment mapped while it uses the record: by its pin, the writer's lock or a reference. The views
/// check everything against the place's limit. nil for the address of an empty key is replaced by one that is not read from.
@safe
enum StoredRecord {
  case plain(RecordView, GranuleTable.Place)
  case packed(PackedEntry, PackedSegmentView)

  /// The record at a place; nil if its lengths are implausible.
  init?(at place: GranuleTable.Place) {
    if let (view, offset) = place.packed {
      guard let entry = view.entry(at: offset) else { return nil }
      self = .packed(entry, view)
    } else {
      guard let record = unsafe RecordView(at: place.pointer, limit: place.limit) else { return nil }
      self = .plain(record, place)
    }
  }

  var sequence: UInt64 {
    switch self {
    case .plain(let record, _): record.sequence
    case .packed(let entry, _): entry.sequence
    }
  }

  var expiry: Int64 {
    switch self {
    case .plain(let record, _): record.expiry
    case .packed(let entry, _): entry.expiry
    }
  }

  var keyspace: KeyspaceTag {
    switch self {
    case .plain(let record, _): record.keyspace
    case .packed(let entry, _): entry.keyspace
    }
  }

  /// The length in bytes of the key.
  var keyLength: Int {
    switch self {
    case .plain(let record, _): record.keyLength
    case .packed(let entry, _): entry.keyLength
    }
  }

  /// The length in bytes of the value.
  var valueLength: Int {
    switch self {
    case .plain(let record, _): record.valueLength
    case .packed(let entry, _): entry.valueLength
    }
  }

  /// The length in bytes of the record.
  var size: Int {
    switch self {
    case .plain(let record, _): record.size
    case .packed(let entry, _): entry.size
    }
  }

  /// The length in bytes that the record has as long as it is not packed.
  var unpackedSize: Int {
    switch self {
    case .plain(let record, _): record.size
    case .packed(let entry, _): entry.unpackedSize
    }
  }

  /// A copy of the key.
  var key: [UInt8] {
    switch self {
    case .plain(let record, _): unsafe [UInt8](record.key)
    case .packed(let entry, _): entry.key
    }
  }

  func hasSameKey(as other: StoredRecord) -> Bool {
    if case .plain(let record, _) = self, case .plain(let other, _) = other {
      return unsafe record.key.elementsEqual(other.key)
    }
    return key == other.key
  }

  func isFor(_ hash: UInt64, _ key: UnsafeRawBufferPointer, _ tag: KeyspaceTag) -> Bool {
    switch self {
    case .plain(let record, let place):
      unsafe record.isFor(hash: hash, key: key.baseAddress ?? place.pointer, count: key.count, keyspace: tag)
    case .packed(let entry, _):
      unsafe entry.isFor(key, keyspace: tag)
    }
  }

  /// Whether this can be a record of a key with that hash. If a packed key is damaged, only its place in the index can tell.
  func mayHave(_ hash: UInt64, _ seed: HashSeed) -> Bool {
    switch self {
    case .plain(let record, _): record.keyHash == hash
    case .packed(let entry, let view): entry.keyHash(seed) == hash || !entry.headIsIntact(salt: view.salt)
    }
  }

  /// The damage to the record, if any.
  var damage: RecordDamage? {
    switch self {
    case .plain(let record, let place): record.damage(salt: place.salt, offsetUnits: place.offsetUnits)
    case .packed(let entry, let view): view.damage(of: entry)
    }
  }

  /// Whether lengths, sequence number and expiry are intact; reads neither key nor value of a record that is not packed.
  var lengthsAreIntact: Bool {
    switch self {
    case .plain(_, let place):
      let read = unsafe RecordHeader.read(
        at: place.pointer,
        limit: place.limit,
        salt: place.salt,
        offsetUnits: place.offsetUnits
      )
      if case .record = read { return true }
      return false
    case .packed(let entry, let view): return entry.headIsIntact(salt: view.salt)
    }
  }

  /// Whether key, sequence number and expiry are intact; does not verify a packed value.
  var headIsIntact: Bool {
    switch self {
    case .plain: damage == nil
    case .packed(let entry, let view): entry.headIsIntact(salt: view.salt)
    }
  }
}

extension Segment {
  /// The record at `offset`; nil if its lengths are implausible. The caller retains the segment.
  func storedRecord(at offset: Int) -> StoredRecord? {
    let end = readableEnd
    guard offset >= 0, offset < end, offset & 7 == 0 else { return nil }
    // Safety: the guard keeps the offset inside what is readable, and the caller holds the segment.
    let place = unsafe GranuleTable.Place(
      pointer: UnsafeRawPointer(base + offset),
      limit: end - offset,
      salt: salt,
      offsetUnits: UInt32(truncatingIfNeeded: offset >> 3),
      packing: packing
    )
    return StoredRecord(at: place)
  }
}

extension GranuleTable.Place {
  /// The packed segment that contains the place, and the offset in it; nil if the segment is not packed.
  var packed: (view: PackedSegmentView, offset: Int)? {
    guard packing != 0 else { return nil }
    let offset = Int(offsetUnits) << 3
    // Safety: the place is that many bytes behind the segment's base, and `limit` bytes before the end of what may be read.
    let view = unsafe PackedSegmentView(
      base: pointer - offset,
      end: offset + limit,
      salt: salt,
      dictionaryLength: packing - 1
    )
    return (view, offset)
  }
}
