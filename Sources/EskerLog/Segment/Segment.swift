internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// One segment file and its mapping.
///
/// The mapping exists as long as this object: lock-free readers are protected by their epoch pin, all others retain the object. The
/// address of a byte in the store's address space is `startUnits * 8` plus its offset in the file.
///
/// Safety: threads may share it. Its properties are constants, atomic, or have a lock; `file` and `mapping` are safe for many threads.
/// Whoever holds the segment may use the memory at `base`, up to what is accessible. Bytes in front of a record that was
/// published, and the record, never change, except the words in the header, and at the tail dead records that no reader with a pin
/// can be using: see `ReusableSpace`.
@safe
final class Segment: @unchecked Sendable {
  let id: UInt64
  let kind: SegmentKind
  let salt: UInt32
  let layout: SegmentLayout
  /// Bytes that the records of a packed segment would take unpacked; 0 if unknown.
  let plainBytes: Int
  /// Buffers for decompressing the values of a packed segment.
  let unpackingBuffers = UnpackingBuffers()
  let path: String
  let file: any File
  let mapping: any Mapping
  let pages: PageAdvice
  let base: UnsafeMutableRawPointer
  /// The maximum length of the file up to and including the seal.
  let capacity: Int
  /// The segment's address range.
  let lease: AddressSpace.Lease

  /// How many bytes may be read and stored to; grows. More may be allocated and mapped. Stored, releasing, after they were
  /// mapped.
  let accessible: Atomic<Int>
  /// The file's length on stable storage, as of the last sync. A shorter file was truncated.
  let durableLength = Atomic<Int>(0)
  /// True if the file was shorter than the manifest says when it was opened.
  let isShort = Atomic<Bool>(false)
  /// Where the file ends that a footer has made longer than what is mapped; 0 if none has. Relaxed: a number by itself.
  let footerEnd = Atomic<Int>(0)
  /// How many bytes were prefaulted for writing; a hint.
  let populated: Atomic<Int>
  /// The writer's offset when it last looked for room; there may be records after it.
  let reached = Atomic<Int>(0)
  /// The offset up to which pages were detached; used only by the leader of a group commit.
  private let detached = Atomic<Int>(0)
  /// Serialises growth of the file by writers and background threads.
  private let growth = Lock(.growth)

  private let guardedFacts = Guarded<SegmentFacts>(SegmentFacts(), .leaf)
  /// The facts' `recordsEnd`, 0 for none, for walks over records, which read it for each one and take no lock.
  private let knownEnd = Atomic<Int>(0)
  /// Its tombstones that hide older values, and the segments with those values.
  let hiding = Guarded<NeededTombstones>(NeededTombstones(), .leaf)
  /// Store time of creation, in milliseconds.
  let created: Int64

  init(
    id: UInt64,
    kind: SegmentKind,
    salt: UInt32,
    layout: SegmentLayout = .plain,
    plainBytes: Int = 0,
    path: String,
    file: any File,
    mapping: any Mapping,
    pages: PageAdvice,
    capacity: Int,
    lease: AddressSpace.Lease,
    created: Int64
  ) {
    self.id = id
    self.kind = kind
    self.salt = salt
    self.layout = layout
    self.plainBytes = plainBytes
    self.path = path
    self.file = file
    self.mapping = mapping
    self.pages = pages
    pages.advise(mapping)
    unsafe base = mapping.base
    self.capacity = capacity
    self.lease = lease
    self.created = created
    accessible = Atomic(mapping.length)
    populated = Atomic(0)
  }

  deinit {
    mapping.unmap()
    file.close()
  }

  /// What is known of the records.
  var facts: SegmentFacts { guardedFacts.withLock { $0 } }

  /// Where the facts change.
  func change(_ body: (inout SegmentFacts) -> Void) {
    guardedFacts.withLock { facts in
      body(&facts)
      // With release: whoever sees the end sees the records before it.
      knownEnd.store(facts.recordsEnd ?? 0, ordering: .releasing)
    }
  }

  var firstSequence: UInt64 { facts.firstSequence }
  var lastSequence: UInt64 { facts.lastSequence }
  /// The offset behind the last record; nil while it takes records, or may hold more than is known.
  var recordsEnd: Int? {
    let end = knownEnd.load(ordering: .acquiring)
    return end == 0 ? nil : end
  }
  /// Bytes of records, including the dictionary of a packed segment; 0 while it takes records.
  var recordBytes: Int { recordsEnd.map { $0 - SegmentHeader.length } ?? 0 }
  /// Whether no record stands at an offset, or behind it, and none will.
  func endsRecords(at offset: Int) -> Bool { isSealed && recordsEnd.map { offset >= $0 } ?? false }
  var isSealed: Bool { facts.isSealed }
  var isSettled: Bool { facts.isSettled }

  /// The length of the file; of one that takes records, as long as it may become.
  var extent: Int {
    let facts = facts
    let length = max(mapping.length, facts.footer.offset + facts.footer.length, footerEnd.load(ordering: .relaxed))
    return facts.isSealed || facts.firstSequence == 0 ? length : max(length, capacity)
  }

  /// Bytes kept free after the last record: for the seal, and the zero word that ends the log.
  static let tailReserve = 40
  /// The length in bytes of a mark, for which there has to be room too where records replace others.
  static let markLength = 32

  /// The first granule of the segment's address range, and the number of granules.
  var granule: Int { lease.granules.lowerBound }
  var granuleCount: Int { lease.granules.count }

  /// The address of the file's first byte, in units of eight bytes.
  var startUnits: UInt64 { UInt64(granule) << GranuleTable.granuleShift }

  /// The end of the readable bytes: the records' end once it is settled; before, the end of what is accessible.
  var readableEnd: Int {
    // Acquiring: the records before the end were written, and the bytes mapped, before these were stored.
    let end = recordsEnd
    let mapped = accessible.load(ordering: .acquiring)
    return end.map { min($0, mapped) } ?? mapped
  }

  // Readers of a segment pass the end of its records according to a manifest, a footer, a checkpoint or a snapshot. The file may be
  // shorter, so all reading goes through these functions, which stop at the end of what is accessible.

  /// A claimed end, limited to what is accessible.
  @inline(__always)
  func reach(_ end: Int) -> Int { min(end, accessible.load(ordering: .acquiring)) }

  /// Prefetches the lines that begin in a range, which may be beyond the end.
  @inline(__always)
  func prefetch(_ range: Range<Int>) {
    // Safety: only addresses are computed, and prefetching one does not read it.
    let start = unsafe UInt(bitPattern: base)
    var line = (start &+ UInt(bitPattern: range.lowerBound) &+ 63) & ~63
    while line < start &+ UInt(bitPattern: range.upperBound) {
      prefetchForReading(line)
      line &+= 64
    }
  }

  /// Reads the header of the record at `offset`, up to `end` or the end of the file.
  func readRecord(at offset: Int, end: Int) -> RecordRead {
    let end = reach(end)
    // Records are aligned to eight bytes, and their first word is loaded as one.
    guard offset >= 0, offset <= end, offset & 7 == 0 else { return .end }
    // Safety: the offset is aligned, and the limit ends where the accessible bytes do.
    return unsafe RecordHeader.read(
      at: UnsafeRawPointer(base + offset),
      limit: end - offset,
      salt: salt,
      offsetUnits: UInt32(truncatingIfNeeded: offset >> 3)
    )
  }

  /// A view of the record at `offset`; nil if its lengths exceed `end` or the end of the file.
  @inline(__always)
  func view(at offset: Int, end: Int) -> RecordView? {
    let end = reach(end)
    guard offset >= 0, offset < end else { return nil }
    // Safety: the limit ends where the accessible bytes do.
    return unsafe RecordView(at: UnsafeRawPointer(base + offset), limit: end - offset)
  }

  /// 0, or for a packed segment one more than the length of its dictionary in bytes.
  var packing: Int { layout.isPacked ? 1 + layout.dictionaryLength : 0 }

  /// The records of a packed segment, up to `end` or the end of the file; nil if it is not packed.
  func packedView(end: Int) -> PackedSegmentView? {
    guard layout.isPacked else { return nil }
    // Safety: the view ends where the accessible bytes do.
    return unsafe PackedSegmentView(
      base: UnsafeRawPointer(base),
      end: reach(end),
      salt: salt,
      dictionaryLength: layout.dictionaryLength
    )
  }

  /// Makes the first `length` bytes of the file accessible: allocated, mapped, and resolved by `granules`. Does nothing once the
  /// segment is sealed.
  ///
  /// - Parameters:
  ///   - reservation: The length to allocate, if greater.
  ///   - zeroing: Whether to write zeros to the new bytes. That puts many pages into the page cache at a time, at an eighth of the
  ///     cost of faulting them in one by one through the mapping.
  func grow(
    to length: Int,
    reserving reservation: Int = 0,
    zeroing: Bool = false,
    in granules: GranuleTable
  ) throws(PlatformError) {
    guard waitToGrow(to: length) else { return }
    defer { growth.unlock() }
    // There may be a footer where the zeros would go.
    guard !isSealed else { return }
    var start = accessible.load(ordering: .relaxed)
    guard length > start else { return }
    if length > mapping.length {
      let wanted = max(length, reservation)
      try file.reserve(wanted)
      try mapping.extend(to: wanted)
    }
    while start < length {
      let end = zeroing ? min(length, (start / Self.zeroStep + 1) * Self.zeroStep) : length
      if zeroing { try file.writeZeros(start..<end) }
      // Readers first: as soon as the bytes are accessible, there may be a record.
      granules.raiseLimit(of: self, to: end)
      accessible.store(end, ordering: .releasing)
      start = end
    }
  }

  /// Waits for growth in progress. Once the segment is sealed, none begins.
  func awaitGrowth() { growth.withLock {} }

  /// Locks `growth`; false if another thread makes `length` bytes accessible meanwhile. Spins first, as that takes little time.
  private func waitToGrow(to length: Int) -> Bool {
    var turns = 0
    while !growth.tryLock() {
      guard length > accessible.load(ordering: .acquiring) else { return false }
      turns += 1
      if turns > 256 {
        growth.lock()
        return true
      }
      Platform.yieldThread()
    }
    return true
  }

  /// How many bytes are zeroed before waiting threads may continue.
  private static let zeroStep = 64 << 10

  /// Syncs the file, including its length.
  func sync() throws(PlatformError) {
    let length = mapping.length
    try file.sync()
    durableLength.max(length, ordering: .relaxed)
  }

  /// The bytes in a range, or as many of them as the file has.
  ///
  /// A resting file may be inaccessible: removed by a merge while the segment is in use, or closed with no descriptor left to
  /// reopen it. Mapped bytes are still available then.
  func bytes(in range: Range<Int>) throws(PlatformError) -> [UInt8] {
    do throws(PlatformError) {
      // Limited to the file's size, so that a damaged range does not allocate excessive memory.
      return try file.bytes(in: range.clamped(to: 0..<file.status().size))
    } catch {
      guard error.isGone || error.isOutOfDescriptors, range.upperBound <= mapping.length else { throw error }
      // Safety: the range begins in the file, and ends within the mapping.
      let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
      if mapping.isFaulted { throw PlatformError("read", path: path, code: PlatformError.inputOutput) }
      return bytes
    }
  }

  /// Before a sync of the records below `end`, unmaps all pages stored to since the last sync at once.
  ///
  /// The sync would write-protect them one by one, interrupting the other processors each time. The next access maps them again.
  func detachUnsynced(below end: Int) {
    let start = detached.exchange(end, ordering: .relaxed)
    if start < end { mapping.detach(start..<end) }
  }

  /// Follows growth of the file by another process.
  func growToFile() throws(PlatformError) {
    let size = try file.status().size
    try growth.withLock { () throws(PlatformError) in
      // The footer may exceed the reserved address space; the records never do.
      let length = min(size, capacity)
      guard length > accessible.load(ordering: .relaxed) else { return }
      try mapping.extend(to: length)
      accessible.store(mapping.length, ordering: .releasing)
    }
  }

  /// The description of a file that ends before its records.
  func cutShort(_ end: Int) -> String { "the segment is truncated: its records should end at \(end)" }

  /// The key of a record whose header is intact; nil if it cannot be read, or is not what was written.
  func intactKey(of header: RecordHeader, at offset: Int, _ seed: HashSeed) -> [UInt8]? {
    guard let view = view(at: offset, end: readableEnd) else { return nil }
    let hash = KeyHash(seed: seed, keyspace: header.keyspace)
    return unsafe hash.hash(view.key) == header.keyHash ? unsafe [UInt8](view.key) : nil
  }

  func location(_ offset: Int? = nil, key: [UInt8]? = nil) -> StoreError.Location {
    StoreError.Location(path: path, segment: id, offset: offset, key: key)
  }
}

/// The tombstones of a segment that are still needed.
struct NeededTombstones: Sendable {
  /// Bytes of the tombstones that were needed when last checked.
  var bytes = 0
  /// The segments that held older values of their keys then.
  var blockers: [UInt64] = []
}

extension Segment {
  /// Notes that tombstones must be kept as long as those segments exist.
  func wait(for blockers: [UInt64], bytes: Int) {
    hiding.withLock { $0 = NeededTombstones(bytes: bytes, blockers: blockers) }
  }

  /// Bytes of tombstones assumed to be needed, until half of the segments that they wait for are gone.
  func hidingBytes(among listed: Set<UInt64>) -> Int {
    hiding.withLock { hiding in
      let present = hiding.blockers.count { listed.contains($0) }
      return present * 2 > hiding.blockers.count ? hiding.bytes : 0
    }
  }
}
