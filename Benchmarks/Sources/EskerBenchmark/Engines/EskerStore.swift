import EskerLog

/// Esker, with bytes in and out.
struct EskerStore: Engine, Session {
  let store: LogStore
  private let isPacked: Bool

  init(at path: String, isMerging: Bool = true, isSynced: Bool = false) throws {
    var options = Options()
    options.merge.isAutomatic = isMerging
    if isSynced { options.durability = .synced }
    try self.init(at: path, options: options)
  }

  init(at path: String, options: Options) throws {
    isPacked = (options.compression ?? .off) != .off
    store = try LogStore(at: path, options: options)
  }

  func session() -> EskerStore { self }
  func end() {}

  /// Documents to be packed are packed by a merge.
  func settle() throws {
    if isPacked { try store.merge() } else { try store.sync() }
  }

  func close() throws { try store.close() }

  @inline(__always)
  func put(_ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer) throws {
    try store.put(RawSpan(_unsafeBytes: value), forKey: RawSpan(_unsafeBytes: key))
  }

  func putSuspending(_ value: [UInt8], forKey key: [UInt8]) async throws {
    try await store.async.put(value, forKey: key, durability: .synced)
  }

  @inline(__always)
  func get(_ key: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
    try store.get(RawSpan(_unsafeBytes: key), into: buffer)
  }

  @inline(__always)
  func getArray(_ key: UnsafeRawBufferPointer) throws -> [UInt8]? {
    try store.get(RawSpan(_unsafeBytes: key))
  }

  @inline(__always)
  func remove(_ key: UnsafeRawBufferPointer) throws {
    _ = try removeFound(key)
  }

  /// Removes a key; returns whether it was there.
  @inline(__always)
  func removeFound(_ key: UnsafeRawBufferPointer) throws -> Bool {
    try store.remove(RawSpan(_unsafeBytes: key))
  }

  func get(_ window: KeyWindow, into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally {
    var tally = Tally()
    try store.withValues(forKeys: window.keys) { (index: Int, value: RawSpan?) throws(StoreError) in
      guard let value else { return }
      let place = UnsafeMutableRawBufferPointer(rebasing: buffer[(index * stride)...])
      value.withUnsafeBytes { place.copyMemory(from: $0) }
      tally.add(UnsafeRawBufferPointer(place))
    }
    return tally
  }

  func scan(_ range: ScanRange, into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally {
    let start = RawSpan(_unsafeBytes: range.start)
    let keys: KeyRange = range.isPrefix ? .prefix(start) : .from(start)
    var (tally, offset) = (Tally(), 0)
    func take(_ bytes: UnsafeRawBufferPointer) {
      let place = UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
      place.copyMemory(from: bytes)
      tally.add(UnsafeRawBufferPointer(place))
      offset += stride
      if offset == buffer.count { offset = 0 }
    }
    if range.isOfKeys {
      for key in try store.keys(in: keys, limit: range.limit) { key.withUnsafeBytes(take) }
    } else {
      try store.forEachEntry(in: keys, limit: range.limit) { (_, value) throws(StoreError) in
        value.withUnsafeBytes(take)
        return true
      }
    }
    return tally
  }

  /// On the condition that no one else has taken it, as several takers would.
  func takeFirst(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
    var (length, version) = (0, SequenceNumber?.none)
    return try withUnsafeTemporaryAllocation(byteCount: KeyBuffer.keyLength, alignment: 8) { first in
      try store.forEachEntry(limit: 1) { (key, value, metadata) throws(StoreError) in
        key.withUnsafeBytes { first.copyMemory(from: $0) }
        value.withUnsafeBytes { buffer.copyMemory(from: $0) }
        (length, version) = (value.byteCount, metadata.version)
        return true
      }
      guard let version else { return nil }
      let isRemoved = try store.remove(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(first)), ifVersion: version)
      return isRemoved ? length : try takeFirst(into: buffer)
    }
  }

  /// Has the keys kept in order from now on.
  func keepOrder() throws { _ = try store.first() }

  /// The memory used by the index, in bytes.
  var indexBytes: Int { store.statistics.indexBytes }
}
