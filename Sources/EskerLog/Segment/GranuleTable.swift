internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Resolves addresses to memory.
///
/// The store's address space has 2^40 units of eight bytes, divided into granules of 16 MiB. A segment takes as many consecutive
/// granules as it needs, so an address is a granule number and an offset, and finding a record is one look-up in a table that
/// is small enough to stay in the CPU cache. Readers load its words without a lock; the writer sets them before an address in
/// that granule can be found, and clears them once no reader can hold one.
///
/// Safety: the memory holds `wordsPerEntry` words for each of the `capacity` granules; it is zero when it comes from the system,
/// which is what an atomic word of 0 looks like. `granule(of:)` is masked, and a segment's granules come from its lease, so each word
/// is inside. The catalog owns the table and frees it after its last user. Threads may share it: every word is atomic.
///
/// A reader is pinned before it takes an address from the index, or holds the writer's lock: until it is done, the segment
/// that the address leads to stays installed, and so mapped. Addresses before and behind a segment's bytes lead nowhere: no
/// address of a granule is below the first byte of the granule's segment, and each is compared with its limit.
@safe
struct GranuleTable: @unchecked Sendable {
  /// Binary logarithm of a granule's length in units of eight bytes.
  static let granuleShift = 21
  static let capacity = 1 << (40 - granuleShift)

  private static let wordsPerEntry = 8
  /// The entries, and a word for ``end()``.
  private static let byteCount = (capacity * wordsPerEntry + 1) * 8

  private let words: UnsafeMutablePointer<Atomic<UInt>>
  /// The large records that reads have verified.
  let verified: VerifiedRecords

  /// The positions of the words in an entry.
  private enum Word {
    /// The memory address that unit 0 of the address space would have if the segment's mapping extended down to it.
    static let base = 0
    /// The memory address after the last readable byte of the segment.
    static let limit = 1
    static let startUnits = 2
    static let salt = 3
    static let liveBytes = 4
    static let liveRecords = 5
    static let segment = 6
    /// 0, or for a packed segment one more than the length of its dictionary in bytes.
    static let packing = 7
  }

  init?() {
    guard let memory = unsafe AnonymousMemory.allocate(byteCount: Self.byteCount) else { return nil }
    guard let verified = VerifiedRecords() else {
      unsafe AnonymousMemory.free(memory, byteCount: Self.byteCount)
      return nil
    }
    unsafe words = memory.bindMemory(to: Atomic<UInt>.self, capacity: Self.byteCount / 8)
    self.verified = verified
  }

  /// Notes that all threads that found the store open are unpinned. Debug builds assert that no address is followed after that.
  func end() { unsafe word(Self.capacity, 0).pointee.store(1, ordering: .releasing) }

  private var hasEnded: Bool { unsafe word(Self.capacity, 0).pointee.load(ordering: .acquiring) != 0 }

  private static let lateness = "whoever follows an address looks first, pinned, whether the store is open"

  func deallocate() {
    verified.deallocate()
    unsafe AnonymousMemory.free(UnsafeMutableRawPointer(words), byteCount: Self.byteCount)
  }

  static func granules(for byteCount: Int) -> Int {
    (byteCount + (8 << granuleShift) - 1) / (8 << granuleShift)
  }

  @inline(__always)
  private func word(_ granule: Int, _ index: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    unsafe words + (granule &* Self.wordsPerEntry &+ index)
  }

  @inline(__always)
  static func granule(of address: UInt64) -> Int {
    Int(truncatingIfNeeded: address >> UInt64(granuleShift)) & (capacity - 1)
  }

  // MARK: Readers

  /// Where the record at an address is, and what is needed to verify it.
  @safe
  struct Place {
    let pointer: UnsafeRawPointer
    /// The number of readable bytes from there on.
    let limit: Int
    let salt: UInt32
    let offsetUnits: UInt32
    /// 0, or for a packed segment one more than the length of its dictionary in bytes.
    let packing: Int

    /// Prefetches the cache lines of a record after its first four, up to where the processor's own prefetching takes over.
    @inline(__always)
    func prefetchRest(of record: RecordView) {
      let start = unsafe UInt(bitPattern: pointer)
      let end = start &+ UInt(bitPattern: min(record.size, 1024))
      var line = (start &+ 255) & ~63
      while line < end {
        prefetchForReading(line)
        line &+= 64
      }
    }
  }

  /// The place of the record at `address`; nil if no segment is there or the address is beyond its end, as only a damaged
  /// checkpoint can cause. The caller must be pinned or hold the writer's lock.
  @inline(__always)
  func place(of address: UInt64) -> Place? {
    assert(!hasEnded, Self.lateness)
    let granule = Self.granule(of: address)
    // Acquiring: what `install` stored before the base, and the bytes up to the limit, are seen with them.
    let base = unsafe word(granule, Word.base).pointee.load(ordering: .acquiring)
    let limit = unsafe word(granule, Word.limit).pointee.load(ordering: .acquiring)
    let bits = base &+ UInt(truncatingIfNeeded: address &<< 3)
    guard limit > bits, let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
    // Relaxed: stored before the base, and never changed while the segment is installed.
    let start = unsafe word(granule, Word.startUnits).pointee.load(ordering: .relaxed)
    let salt = unsafe word(granule, Word.salt).pointee.load(ordering: .relaxed)
    let packing = unsafe word(granule, Word.packing).pointee.load(ordering: .relaxed)
    return unsafe Place(
      pointer: pointer,
      limit: Int(bitPattern: limit &- bits),
      salt: UInt32(truncatingIfNeeded: salt),
      offsetUnits: UInt32(truncatingIfNeeded: UInt(truncatingIfNeeded: address) &- start),
      packing: Int(bitPattern: packing)
    )
  }

  /// Prefetches the start of the record at `address`.
  @inline(__always)
  func prefetch(_ address: UInt64) {
    // Relaxed: a wrong address does no harm here.
    let base = unsafe word(Self.granule(of: address), Word.base).pointee.load(ordering: .relaxed)
    let start = base &+ UInt(truncatingIfNeeded: address &<< 3)
    prefetchForReading(start)
    prefetchForReading(start &+ 64)
    prefetchForReading(start &+ 128)
    prefetchForReading(start &+ 191)
  }

  /// Prefetches what ``prefetch(_:)`` left out of a longer record. Waits for the record's header. The caller must be pinned.
  @inline(__always)
  func prefetchRest(_ address: UInt64) {
    guard let place = place(of: address), let record = unsafe RecordView(at: place.pointer, limit: place.limit) else {
      return
    }
    place.prefetchRest(of: record)
  }

  /// The segment that an address is in, retained. The caller must be pinned or hold the writer's lock.
  func segment(of address: UInt64) -> Segment? {
    assert(!hasEnded, Self.lateness)
    // Acquiring: the segment was made before `install` stored it. The table has a reference of its own as long as it is installed.
    let bits = unsafe word(Self.granule(of: address), Word.segment).pointee.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
    return unsafe Unmanaged<Segment>.fromOpaque(pointer).takeUnretainedValue()
  }

  // MARK: The writer

  /// Makes a segment's addresses resolvable, and retains it.
  func install(_ segment: Segment) {
    // Relaxed, then releasing: who acquires the base finds all that was stored before it.
    segment.lease.beginResolving()
    let start = UInt(segment.startUnits)
    for granule in segment.granule..<segment.granule + segment.granuleCount {
      unsafe word(granule, Word.startUnits).pointee.store(start, ordering: .relaxed)
      unsafe word(granule, Word.salt).pointee.store(UInt(segment.salt), ordering: .relaxed)
      unsafe word(granule, Word.packing).pointee.store(UInt(segment.packing), ordering: .relaxed)
      unsafe word(granule, Word.liveBytes).pointee.store(0, ordering: .relaxed)
      unsafe word(granule, Word.liveRecords).pointee.store(0, ordering: .relaxed)
      let reference = unsafe Unmanaged.passRetained(segment).toOpaque()
      unsafe word(granule, Word.segment).pointee.store(UInt(bitPattern: reference), ordering: .releasing)
      let base = unsafe UInt(bitPattern: segment.base) &- start &* 8
      unsafe word(granule, Word.base).pointee.store(base, ordering: .releasing)
    }
    updateLimit(segment)
  }

  /// Sets the limit to the segment's readable end, higher or lower. Not while the segment may grow: see `raiseLimit`.
  func updateLimit(_ segment: Segment) {
    raiseLimit(of: segment, to: segment.readableEnd)
  }

  /// Lets readers access the first `length` bytes of a growing segment, but never more than is mapped. Called under its `growth`
  /// lock, so that calls stay in order.
  func raiseLimit(of segment: Segment, to length: Int) {
    let limit = unsafe UInt(bitPattern: segment.base) &+ UInt(max(0, min(length, segment.mapping.length)))
    for granule in segment.granule..<segment.granule + segment.granuleCount {
      // Releasing: the bytes below were mapped before.
      unsafe word(granule, Word.limit).pointee.store(limit, ordering: .releasing)
    }
  }

  /// Stops resolving a segment's addresses, and releases the references to it. No pinned reader may still hold such an address.
  ///
  /// The caller retains the segment, and thereby the lease: until this returns, no other segment gets the granules.
  func uninstall(_ segment: Segment) {
    for granule in segment.granule..<segment.granule + segment.granuleCount {
      unsafe word(granule, Word.limit).pointee.store(0, ordering: .releasing)
      // Its addresses lead to other bytes from the next segment on.
      verified.forget(UInt64(granule) << UInt64(Self.granuleShift), count: 1 << UInt64(Self.granuleShift))
      let bits = unsafe word(granule, Word.segment).pointee.exchange(0, ordering: .acquiringAndReleasing)
      guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { continue }
      let installed = unsafe Unmanaged<Segment>.fromOpaque(pointer)
      assert(unsafe installed.takeUnretainedValue() === segment, "the granules are another segment's")
      unsafe installed.release()
    }
  }

  /// Counts a record as live. Called under the writer's lock.
  @inline(__always)
  func countLive(at address: UInt64, bytes: Int) {
    add(UInt(bitPattern: bytes), 1, at: address)
  }

  /// Counts a record as dead. Called under the writer's lock.
  ///
  /// - Parameter bytes: the record's size; 0 for a damaged record of unknown size.
  @inline(__always)
  func countDead(at address: UInt64, bytes: Int) {
    add(UInt(bitPattern: -bytes), .max, at: address)
  }

  @inline(__always)
  private func add(_ bytes: UInt, _ records: UInt, at address: UInt64) {
    // Relaxed, and no single step: only the holder of the writer's lock changes these words.
    let granule = Self.granule(of: address)
    let live = unsafe word(granule, Word.liveBytes)
    unsafe live.pointee.store(live.pointee.load(ordering: .relaxed) &+ bytes, ordering: .relaxed)
    let count = unsafe word(granule, Word.liveRecords)
    unsafe count.pointee.store(count.pointee.load(ordering: .relaxed) &+ records, ordering: .relaxed)
  }

  /// Sets the live figures of a segment, as a checkpoint recorded them.
  func setLive(_ segment: Segment, bytes: Int, records: Int) {
    unsafe word(segment.granule, Word.liveBytes).pointee.store(UInt(bitPattern: bytes), ordering: .relaxed)
    unsafe word(segment.granule, Word.liveRecords).pointee.store(UInt(bitPattern: records), ordering: .relaxed)
  }

  /// The size in bytes and the number of a segment's live records.
  func live(_ segment: Segment) -> (bytes: Int, records: Int) {
    var bytes: UInt = 0
    var records: UInt = 0
    for granule in segment.granule..<segment.granule + segment.granuleCount {
      bytes = unsafe bytes &+ word(granule, Word.liveBytes).pointee.load(ordering: .relaxed)
      records = unsafe records &+ word(granule, Word.liveRecords).pointee.load(ordering: .relaxed)
    }
    return (Int(bitPattern: bytes), Int(bitPattern: records))
  }
}
