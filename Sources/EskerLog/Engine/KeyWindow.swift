internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// A group of keys that are looked up together, under one pin.
///
/// First all buckets are prefetched; then the records of keys found on their buckets' first lines, and further lines for the other
/// keys; then those keys' records. Only then are records compared, verified and delivered one by one, while the rest of each long
/// record is prefetched a few keys ahead. So the memory latencies overlap, with each other and with the work.
///
/// Plain data without reference counting: the keyspace whose functions use it keeps what it points to.
///
/// Safety: the caller holds the keyspace's core, which keeps `incarnation`, until it closes the window, exactly once. `buffer` belongs to
/// the window until then.
@usableFromInline @safe
struct KeyWindow {
  @usableFromInline static var capacity: Int { 32 }

  /// How many keys before a record's turn the rest of it is prefetched; its header has arrived by then.
  fileprivate static var lead: Int { 4 }

  fileprivate let incarnation: UnsafePointer<KeyspaceCore.Incarnation>
  fileprivate let index: HashIndex.Reader
  fileprivate let pin: EpochPin
  fileprivate var count = 0
  /// Whether what is found counts as read, where something is evicted. Scans do not.
  var notesReads = true
  /// A hash and a hint for each key. Accessed as memory: indexing a vector would copy all of it each time.
  private var words = SIMD64<UInt64>()
  /// Holds a decompressed value until the next one; freed with the window.
  fileprivate var buffer = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

  fileprivate init(incarnation: UnsafePointer<KeyspaceCore.Incarnation>, index: HashIndex.Reader, pin: EpochPin) {
    unsafe self.incarnation = incarnation
    self.index = index
    self.pin = pin
  }

  /// The hint for a key that must be looked up again.
  static let noHint = UInt64.max

  fileprivate subscript(hashOf position: Int) -> UInt64 {
    @inline(__always) mutating get { self[2 &* position] }
    @inline(__always) set { self[2 &* position] = newValue }
  }

  /// The likely address of the record of the key at a position.
  fileprivate subscript(hintFor position: Int) -> UInt64 {
    @inline(__always) mutating get { self[2 &* position &+ 1] }
    @inline(__always) set { self[2 &* position &+ 1] = newValue }
  }

  // Safety: the mask keeps each position within the vector.
  private subscript(word: Int) -> UInt64 {
    @inline(__always) mutating get {
      unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.load(fromByteOffset: (word & 63) &* 8, as: UInt64.self) }
    }
    @inline(__always) set {
      unsafe withUnsafeMutableBytes(of: &words) {
        unsafe $0.storeBytes(of: newValue, toByteOffset: (word & 63) &* 8, as: UInt64.self)
      }
    }
  }
}

// Safety: the window's pin lasts from before the first look-up until the window is closed, so records stay mapped and values
// valid. The caller keeps each key during the calls that it is passed to.
extension KeyspaceCore {
  /// Opens a window, which must be closed on the same thread.
  @usableFromInline
  func openWindow() throws(StoreError) -> KeyWindow {
    try unsafe KeyWindow(incarnation: incarnation, index: keydir.reader, pin: enter())
  }

  /// Adds the next key, and prefetches its bucket.
  @usableFromInline
  func add(_ key: UnsafeRawBufferPointer, to window: inout KeyWindow) {
    let hash = unsafe window.incarnation.pointee.hash.hash(key)
    window.index.prefetch(hash)
    window[hashOf: window.count] = hash
    window.count &+= 1
  }

  /// Prefetches the records of all keys.
  @usableFromInline
  func pageIn(_ window: inout KeyWindow) {
    let index = window.index
    let granules = keydir.granules
    var further: UInt32 = 0
    for position in 0..<window.count {
      var probe = index.probe(window[hashOf: position])
      let address = probe.nextAtHand()
      window[hintFor: position] = address ?? KeyWindow.noHint
      if let address {
        granules.prefetch(address)
      } else {
        further |= 1 &<< UInt32(truncatingIfNeeded: position)
      }
    }
    while further != 0 {
      let position = further.trailingZeroBitCount
      further &= further &- 1
      var probe = index.probe(window[hashOf: position])
      guard let address = probe.next() else { continue }
      window[hintFor: position] = address
      granules.prefetch(address)
    }
    if engine.env.pages.isBeyondMemory { fetch(&window) }
    for position in 0..<min(KeyWindow.lead, window.count) { pageInRest(position, of: &window) }
  }

  /// Begins to read all records that are not in memory, so that a device gets as many reads at a time as it can do.
  private func fetch(_ window: inout KeyWindow) {
    for position in 0..<window.count {
      let hint = window[hintFor: position]
      guard hint <= Slot.addressMask, let place = keydir.granules.place(of: hint) else { continue }
      unsafe PageCache.fetch(place.pointer, byteCount: min(place.limit, Self.likelySize))
    }
  }

  @inline(__always)
  private func pageInRest(_ position: Int, of window: inout KeyWindow) {
    let hint = window[hintFor: position]
    if hint != KeyWindow.noHint { keydir.granules.prefetchRest(hint) }
  }

  /// The value of the key that was added at a position; nil if the key is absent or expired. Valid until the next call.
  @usableFromInline
  func value(
    of key: UnsafeRawBufferPointer,
    at position: Int,
    in window: inout KeyWindow
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    if position &+ KeyWindow.lead < window.count { pageInRest(position &+ KeyWindow.lead, of: &window) }
    let hash = window[hashOf: position]
    let hint = window[hintFor: position]
    if let record = unsafe keydir.record(at: hint, for: hash, key, window.incarnation.pointee.tag) {
      if window.notesReads { noteRead(hash) }
      return unsafe record.value
    }
    return try unsafe entryWithoutHint(of: key, hash, in: &window)?.value
  }

  /// The same with what is known of the value.
  func entry(
    of key: UnsafeRawBufferPointer,
    at position: Int,
    in window: inout KeyWindow
  ) throws(StoreError) -> FoundEntry? {
    if position &+ KeyWindow.lead < window.count { pageInRest(position &+ KeyWindow.lead, of: &window) }
    let (hash, hint) = (window[hashOf: position], window[hintFor: position])
    if let record = unsafe keydir.record(at: hint, for: hash, key, window.incarnation.pointee.tag) {
      if window.notesReads { noteRead(hash) }
      return FoundEntry(record)
    }
    return try unsafe entryWithoutHint(of: key, hash, in: &window)
  }

  /// Whether the key that was added at a position has a value.
  func isThere(
    _ key: UnsafeRawBufferPointer,
    at position: Int,
    in window: inout KeyWindow
  ) throws(StoreError) -> Bool {
    if position &+ KeyWindow.lead < window.count { pageInRest(position &+ KeyWindow.lead, of: &window) }
    let (hash, hint) = (window[hashOf: position], window[hintFor: position])
    if unsafe keydir.record(at: hint, for: hash, key, window.incarnation.pointee.tag) != nil {
      if window.notesReads { noteRead(hash) }
      return true
    }
    return try unsafe metadata(key) != nil
  }

  /// Handles absent and expired keys, damage, packed values, and the few hints that lead to another key.
  @inline(never)
  private func entryWithoutHint(
    of key: UnsafeRawBufferPointer,
    _ hash: UInt64,
    in window: inout KeyWindow
  ) throws(StoreError) -> FoundEntry? {
    // It may have been closed since, or be behind its writer.
    try engine.checkBeforeRead()
    switch try unsafe lookup(hash, key, window.incarnation.pointee.tag) {
    case .plain(let record, _): return FoundEntry(record)
    case .large(let address): return try found(keydir.largeRecord(at: address)).map { FoundEntry($0) }
    case .packed(let address): return try packedEntry(at: address, in: &window)
    case nil: return nil
    }
  }

  private func packedEntry(at address: UInt64, in window: inout KeyWindow) throws(StoreError) -> FoundEntry {
    let (entry, view) = try keydir.packedEntry(at: address)
    if unsafe window.buffer.count < entry.valueLength {
      unsafe window.buffer.deallocate()
      unsafe window.buffer = .allocate(byteCount: max(4096, 2 * entry.valueLength), alignment: 8)
    }
    let value = unsafe UnsafeMutableRawBufferPointer(rebasing: window.buffer[..<entry.valueLength])
    if let found = unsafe keydir.copyValue(of: entry, in: view, at: address, into: value) {
      throw keydir.damage(at: address, found, key: entry.key)
    }
    return unsafe FoundEntry(UnsafeRawBufferPointer(value), version: entry.sequence, expiry: entry.expiry)
  }

  /// Ends the pin; values must no longer be used.
  @usableFromInline
  func close(_ window: inout KeyWindow) {
    unsafe window.buffer.deallocate()
    keydir.epochs.exit(window.pin)
  }
}

/// A value that a window found, and what is known of it.
///
/// Safety: the value is there until the next one is asked for; nobody keeps it longer.
@safe
struct FoundEntry {
  let value: UnsafeRawBufferPointer
  private let version: UInt64
  private let expiry: Int64

  init(_ value: UnsafeRawBufferPointer, version: UInt64, expiry: Int64) {
    unsafe self.value = value
    self.version = version
    self.expiry = expiry
  }

  fileprivate init(_ record: RecordView) {
    unsafe self.init(record.value, version: record.sequence, expiry: record.expiry)
  }

  var metadata: ValueMetadata { unsafe ValueMetadata(value.count, version: version, expiry: expiry) }
}
