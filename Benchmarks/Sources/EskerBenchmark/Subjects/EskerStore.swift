import EskerLog

/// The calls of Esker that are measured, and nothing else: bytes come from the caller's buffers and go to the caller's buffers.
struct EskerStore {
  let store: LogStore

  init(at path: String, isMerging: Bool = true) throws {
    var options = Options()
    options.merge.isAutomatic = isMerging
    store = try LogStore(at: path, options: options)
  }

  init(at path: String, options: Options) throws {
    store = try LogStore(at: path, options: options)
  }

  @inline(__always)
  func put(_ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer) throws {
    try store.put(RawSpan(_unsafeBytes: value), forKey: RawSpan(_unsafeBytes: key))
  }

  @inline(__always)
  func putSynced(_ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer) throws {
    try store.put(RawSpan(_unsafeBytes: value), forKey: RawSpan(_unsafeBytes: key), durability: .synced)
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
  func remove(_ key: UnsafeRawBufferPointer) throws -> Bool {
    try store.remove(RawSpan(_unsafeBytes: key))
  }

  /// Copies the values of several keys out, value i to `stride * i`.
  ///
  /// - Returns: The number found and the sum of their stamps.
  func get(_ keys: [UnsafeRawBufferPointer], into buffer: UnsafeMutableRawBufferPointer, stride: Int) throws -> Tally {
    var tally = Tally()
    try store.withValues(forKeys: keys) { (index: Int, value: RawSpan?) throws(StoreError) in
      guard let value else { return }
      let place = UnsafeMutableRawBufferPointer(rebasing: buffer[(index * stride)...])
      value.withUnsafeBytes { place.copyMemory(from: $0) }
      tally.add(UnsafeRawBufferPointer(place))
    }
    return tally
  }

  /// Bytes of memory the index takes.
  var indexBytes: Int { store.statistics.indexBytes }
}
