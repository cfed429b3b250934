internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

// Safety: the caller keeps the key, and a buffer, until the call returns. An incarnation stays allocated as long as the core. A record is
// used only under the pin that it was looked up under; a lease takes a reference to its segment under that pin. A value's length
// is within its record, which `RecordView` has checked, and no more is copied than the buffer takes.
extension KeyspaceCore {
  @usableFromInline
  func get(_ key: UnsafeRawBufferPointer) throws(StoreError) -> [UInt8]? {
    let start = engine.startOfSample()
    defer { engine.endGet(start) }
    let incarnation = unsafe incarnation
    let hash = unsafe incarnation.pointee.hash.hash(key)
    // Before the pin, whose fence takes time.
    keydir.reader.prefetch(hash)
    let pin = try enter()
    defer { keydir.epochs.exit(pin) }
    switch try unsafe lookup(hash, key, incarnation.pointee.tag) {
    case .plain(let record, _): return unsafe [UInt8](record.value)
    case .large(let address): return try found(keydir.largeValue(at: address))
    case .packed(let address): return try keydir.packedValue(at: address)
    case nil: return nil
    }
  }

  /// Copies as much of the value as fits into the caller's buffer; returns the value's full length.
  @usableFromInline
  func get(_ key: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int? {
    let start = engine.startOfSample()
    defer { engine.endGet(start) }
    let incarnation = unsafe incarnation
    let hash = unsafe incarnation.pointee.hash.hash(key)
    // Before the pin, whose fence takes time.
    keydir.reader.prefetch(hash)
    let pin = try enter()
    defer { keydir.epochs.exit(pin) }
    switch try unsafe lookup(hash, key, incarnation.pointee.tag) {
    case .plain(let record, _):
      let length = record.valueLength
      if let destination = buffer.baseAddress {
        unsafe destination.copyMemory(from: record.valuePointer, byteCount: min(length, buffer.count))
      }
      return length
    case .large(let address):
      return try found(unsafe keydir.largeValue(at: address, into: buffer))
    case .packed(let address):
      return try unsafe keydir.packedValue(at: address, into: buffer)
    case nil:
      return nil
    }
  }

  @usableFromInline
  func metadata(_ key: UnsafeRawBufferPointer) throws(StoreError) -> ValueMetadata? {
    let incarnation = unsafe incarnation
    let hash = unsafe incarnation.pointee.hash.hash(key)
    let pin = try enter()
    defer { keydir.epochs.exit(pin) }
    switch try unsafe lookup(hash, key, incarnation.pointee.tag) {
    case .plain(let record, _):
      return ValueMetadata(record.valueLength, version: record.sequence, expiry: record.expiry)
    case .large(let address):
      guard let record = try found(keydir.largeRecord(at: address)) else { return nil }
      return ValueMetadata(record.valueLength, version: record.sequence, expiry: record.expiry)
    case .packed(let address):
      let (entry, _) = try keydir.packedEntry(at: address)
      return ValueMetadata(entry.valueLength, version: entry.sequence, expiry: entry.expiry)
    case nil:
      return nil
    }
  }

  /// The value in place, kept alive by a reference instead of a pin, so that the caller may take its time; a copy if it was
  /// compressed, or fits into `room`, which the caller keeps as long as it uses the lease.
  @usableFromInline
  func lease(
    _ key: UnsafeRawBufferPointer,
    _ room: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> ValueLease? {
    let start = engine.startOfSample()
    defer { engine.endGet(start) }
    let incarnation = unsafe incarnation
    let hash = unsafe incarnation.pointee.hash.hash(key)
    // Before the pin, whose fence takes time.
    keydir.reader.prefetch(hash)
    let pin = try enter()
    defer { keydir.epochs.exit(pin) }
    switch try unsafe lookup(hash, key, incarnation.pointee.tag) {
    case .plain(let record, let address):
      if record.valueLength <= room.count { return unsafe copy(of: record, in: room) }
      return lease(of: record, at: address)
    case .large(let address):
      return try found(keydir.largeRecord(at: address)).map { lease(of: $0, at: address) }
    case .packed(let address):
      return try keydir.packedLease(at: address)
    case nil:
      return nil
    }
  }

  @inline(__always)
  private func lease(of record: RecordView, at address: UInt64) -> ValueLease {
    let segment = keydir.granules.segment(of: address)
    // At the tail, the record may be replaced once the pin has ended, unless it is too large for that.
    if engine.env.reusesSpace, segment.map({ $0.recordsEnd == nil }) == true, record.size <= RecordFiller.largest {
      return copy(of: record)
    }
    return unsafe ValueLease(
      record.value,
      version: record.sequence,
      expiry: record.expiry,
      keptAliveBy: segment
    )
  }

  /// Counting a reference to the segment takes longer than to copy few bytes, above all when several threads read from it.
  @inline(__always)
  private func copy(of record: RecordView, in room: UnsafeMutableRawBufferPointer) -> ValueLease {
    unsafe room.copyMemory(from: record.value)
    return unsafe ValueLease(
      UnsafeRawBufferPointer(rebasing: room[..<record.valueLength]),
      version: record.sequence,
      expiry: record.expiry,
      keptAliveBy: nil
    )
  }

  @inline(never)
  private func copy(of record: RecordView) -> ValueLease {
    let buffer = ValueBuffer(count: record.valueLength)
    unsafe buffer.bytes.copyMemory(from: record.value)
    return unsafe ValueLease(
      UnsafeRawBufferPointer(buffer.bytes),
      version: record.sequence,
      expiry: record.expiry,
      keptAliveBy: buffer
    )
  }
}

// Safety: the caller keeps the key until the call returns, and the record is used only under the pin that it was looked up under;
// the lease takes a reference to its segment under that pin.
extension KeyspaceCore {
  /// The same, also of a value that has expired and that nobody has removed yet.
  func leaseEvenExpired(_ key: UnsafeRawBufferPointer) throws(StoreError) -> ValueLease? {
    if let lease = try unsafe lease(key, UnsafeMutableRawBufferPointer(start: nil, count: 0)) { return lease }
    let incarnation = unsafe incarnation
    let hash = unsafe incarnation.pointee.hash.hash(key)
    let pin = try enter()
    defer { keydir.epochs.exit(pin) }
    switch unsafe keydir.expiredRecord(hash, key, incarnation.pointee.tag) {
    case .plain(let record, let address): return lease(of: record, at: address)
    case .large: return nil  // What has expired is verified whatever its size.
    case .packed(let address): return try keydir.packedLease(at: address)
    case nil: return nil
    }
  }
}

extension ValueMetadata {
  init(_ length: Int, version: UInt64, expiry: Int64) {
    self.init(length: length, version: SequenceNumber(rawValue: version), expiry: Expiry(stored: expiry))
  }
}

extension KeyspaceCore {
  /// Throws if the store is closed: for a call that reads nothing.
  @usableFromInline
  func checkReadable() throws(StoreError) { try engine.checkBeforeRead() }
}

// The pins of reads. A close marks the store, waits for the pins there are, and then unmaps the records. So a thread looks whether
// the store is open after it is pinned; if it looked before, a close might have come in between.
extension KeyspaceCore {
  /// Pins the thread, for a read: what the index leads to stays mapped until the pin ends. A read-only store first reads what the
  /// writer has logged.
  @inline(__always)
  func enter() throws(StoreError) -> EpochPin {
    if let pin = enterIfUnhindered() { return pin }
    return try enterHindered()
  }

  /// The same for a look ahead, which waits for nothing; nil if the store is closed, or a read must do more than look.
  @inline(__always)
  func enterIfUnhindered() -> EpochPin? {
    let pin = keydir.epochs.enter()
    if engine.env.isUnhindered { return pin }
    keydir.epochs.exit(pin)
    return nil
  }

  @inline(never)
  private func enterHindered() throws(StoreError) -> EpochPin {
    // Not pinned: it may wait for a lock, and calls the handler of events.
    try engine.checkBeforeRead()
    let pin = keydir.epochs.enter()
    if engine.env.isClosed {
      keydir.epochs.exit(pin)
      throw .closed
    }
    return pin
  }
}

// Safety: the caller keeps the key, and stays pinned.
extension KeyspaceCore {
  /// The newest record of a key, verified unless it is large; nil if the key is absent or expired. The caller has entered, and stays
  /// as long as it uses the record.
  @inline(__always)
  func lookup(_ hash: UInt64, _ key: UnsafeRawBufferPointer, _ tag: KeyspaceTag) throws(StoreError) -> FoundRecord? {
    if let found = try unsafe keydir.lookup(hash, key, tag) {
      noteRead(hash)
      return found
    }
    // Nothing is found in a keyspace that was removed, so only a miss pays for the check. The tag of now and not of then: the
    // entries may have been purged meanwhile.
    try checkPresent()
    return nil
  }

  /// What was found of a large record; nil if it has expired, which is a miss too.
  @inline(__always)
  func found<Value>(_ value: Value?) throws(StoreError) -> Value? {
    if value == nil { try checkPresent() }
    return value
  }
}

extension Engine {
  /// Throws if the store is closed; in a read-only store, first reads what the writer has logged meanwhile. Otherwise costs one
  /// load.
  @inline(__always)
  func checkBeforeRead() throws(StoreError) {
    if !env.isUnhindered { try checkReadable() }
  }

  @inline(never)
  private func checkReadable() throws(StoreError) {
    try env.checkOpen()
    if env.isFollowing { follower.followIfBehind() }
  }
}
