internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

extension KeyspaceCore {
  /// The value, copied.
  @usableFromInline
  func get(_ key: UnsafeRawBufferPointer) throws(StoreError) -> [UInt8]? {
    let start = engine.startOfSample()
    defer { engine.endSample(start, engine.gets) }
    let life = unsafe life
    let hash = unsafe life.pointee.hash.hash(key)
    // Under way while the pin's fence waits.
    engine.indexReader.prefetch(hash)
    let pin = engine.epochs.enter()
    defer { engine.epochs.exit(pin) }
    guard let record = try unsafe engine.lookup(hash, key, life.pointee.tag)?.record else { return nil }
    return unsafe [UInt8](record.value)
  }

  /// The value, copied to the caller's buffer as far as it fits; its whole length.
  @usableFromInline
  func get(_ key: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int? {
    let start = engine.startOfSample()
    defer { engine.endSample(start, engine.gets) }
    let life = unsafe life
    let hash = unsafe life.pointee.hash.hash(key)
    // Under way while the pin's fence waits.
    engine.indexReader.prefetch(hash)
    let pin = engine.epochs.enter()
    defer { engine.epochs.exit(pin) }
    guard let record = try unsafe engine.lookup(hash, key, life.pointee.tag)?.record else { return nil }
    let length = record.valueLength
    if let destination = buffer.baseAddress {
      unsafe destination.copyMemory(from: record.valuePointer, byteCount: min(length, buffer.count))
    }
    return length
  }

  @usableFromInline
  func metadata(_ key: UnsafeRawBufferPointer) throws(StoreError) -> ValueMetadata? {
    let life = unsafe life
    let hash = unsafe life.pointee.hash.hash(key)
    let pin = engine.epochs.enter()
    defer { engine.epochs.exit(pin) }
    guard let record = try unsafe engine.lookup(hash, key, life.pointee.tag)?.record else { return nil }
    return ValueMetadata(
      length: record.valueLength,
      version: SequenceNumber(rawValue: record.sequence),
      expiry: record.expiry == .max ? .never : .at(WallTime(millisecondsSince1970: record.expiry))
    )
  }

  /// The value in place, kept alive by a reference instead of a pin, so that the caller may take its time.
  @usableFromInline
  func lease(_ key: UnsafeRawBufferPointer) throws(StoreError) -> ValueLease? {
    let life = unsafe life
    let hash = unsafe life.pointee.hash.hash(key)
    let pin = engine.epochs.enter()
    defer { engine.epochs.exit(pin) }
    guard let found = try unsafe engine.lookup(hash, key, life.pointee.tag) else { return nil }
    return ValueLease(found.record, keptAliveBy: engine.granules.segment(of: found.address))
  }
}
