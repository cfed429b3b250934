internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// One segment file and its mapping.
///
/// The mapping lives as long as this object: readers that take no lock are protected by their epoch pin, all others hold a
/// reference. The address of a byte in the store's address space is `startUnits * 8` plus its offset in the file.
///
/// Safety: threads may share it. Its properties are constants, atomic, or have a lock; `file` and `mapping` are safe for many threads.
/// Whoever holds the segment may use the memory at `base`, up to what is accessible. Bytes in front of a record that was
/// published, and the record, never change.
@safe
final class Segment: @unchecked Sendable {
  let id: UInt64
  let kind: SegmentKind
  let salt: UInt32
  let layout: SegmentLayout
  /// Bytes that the records of a packed segment would take in another one; 0 when that is not known.
  let plainBytes: Int
  /// Where the values of a packed segment are decompressed.
  let rooms = UnpackingRooms()
  let path: String
  let file: any File
  let mapping: any Mapping
  let base: UnsafeMutableRawPointer
  /// The most bytes of records, seal included, that the file may take.
  let capacity: Int
  /// The segment's address range.
  let lease: AddressSpace.Lease

  /// Bytes that may be read and stored to; grows. More may be allocated and mapped. Released after the bytes were mapped.
  let accessible: Atomic<Int>
  /// Bytes that the file has on stable storage, whatever happens: it was that long when it was last synced. A shorter file was
  /// cut short by somebody.
  let durableLength = Atomic<Int>(0)
  /// True when the file was found to be shorter than that.
  let isShort = Atomic<Bool>(false)
  /// Bytes whose pages were brought in for writing; a hint.
  let populated: Atomic<Int>
  /// Where the writer was when it last looked for room; records may go on behind it.
  let reached = Atomic<Int>(0)
  /// Up to where `detach` was called; the leader's.
  private let detached = Atomic<Int>(0)
  /// Serialises growing the file, which the writer and the background both do.
  private let growth = Lock(.growth)

  private let guardedFacts = Guarded<SegmentFacts>(SegmentFacts(), .leaf)
  /// The facts' `recordsEnd`, for those who walk records: they look at it for each, and take no lock.
  private let knownEnd = Atomic<Int>(0)
  /// Tombstones in it that hide older values, and the segments that hold those.
  let hiding = Guarded<Hiding>(Hiding(), .leaf)
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
      knownEnd.store(facts.recordsEnd, ordering: .releasing)
    }
  }

  var firstSequence: UInt64 { facts.firstSequence }
  var lastSequence: UInt64 { facts.lastSequence }
  var recordsEnd: Int { knownEnd.load(ordering: .acquiring) }
  var isSealed: Bool { facts.isSealed }
  var isSettled: Bool { facts.isSettled }

  /// Bytes kept free behind the last record: the seal, and the zero word that ends the log.
  static let tailReserve = 40

  /// The first granule of the segment's address range, and how many it has.
  var granule: Int { lease.granules.lowerBound }
  var granuleCount: Int { lease.granules.count }

  /// The address of the file's first byte, in units of eight bytes.
  var startUnits: UInt64 { UInt64(granule) << GranuleTable.granuleShift }

  /// The end of what may be read: the records' end once it is settled, what is mapped before.
  var readableEnd: Int {
    // Acquiring: the records before the end were written, and the bytes mapped, before these were stored.
    let end = recordsEnd
    let mapped = accessible.load(ordering: .acquiring)
    return end == 0 ? mapped : min(end, mapped)
  }

  // Whoever reads a segment says how far: to where a manifest, a footer, a checkpoint or a snapshot says that its records end.
  // That is a claim. The file may be shorter, so all reading goes through these functions, and no further than the mapping.

  /// As much of a claimed end as there is.
  @inline(__always)
  func reach(_ end: Int) -> Int { min(end, accessible.load(ordering: .acquiring)) }

  /// Reads the header of what stands at `offset`; the end is at `end`, or where the file ends.
  func readRecord(at offset: Int, end: Int) -> RecordRead {
    let end = reach(end)
    // Records stand at multiples of eight bytes, and their first word is read as one.
    guard offset >= 0, offset <= end, offset & 7 == 0 else { return .end }
    // Safety: the offset is aligned, and the limit ends where the accessible bytes do.
    return unsafe RecordHeader.read(
      at: UnsafeRawPointer(base + offset),
      limit: end - offset,
      salt: salt,
      offsetUnits: UInt32(truncatingIfNeeded: offset >> 3)
    )
  }

  /// A view of the record at `offset`; nil when its lengths reach beyond `end`, or the end of the file.
  @inline(__always)
  func view(at offset: Int, end: Int) -> RecordView? {
    let end = reach(end)
    guard offset >= 0, offset < end else { return nil }
    // Safety: the limit ends where the accessible bytes do.
    return unsafe RecordView(at: UnsafeRawPointer(base + offset), limit: end - offset)
  }

  /// 0, or for a packed segment one more than the bytes of its dictionary.
  var packing: Int { layout.isPacked ? 1 + layout.dictionaryLength : 0 }

  /// The records, if the segment is packed, up to `end`, or the end of the file.
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
  ///   - reservation: Bytes to allocate, if more.
  ///   - zeroing: Writes zeros where nobody could store before. That puts pages into the page cache, many at a time, at an
  ///     eighth of what it costs to bring in one after the other through the mapping.
  func grow(
    to length: Int,
    reserving reservation: Int = 0,
    zeroing: Bool = false,
    in granules: GranuleTable
  ) throws(PlatformError) {
    guard waitToGrow(to: length) else { return }
    defer { growth.unlock() }
    // A footer may stand where the zeros would go.
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
      // First for readers: as soon as it is accessible, a record may be there.
      granules.raiseLimit(of: self, to: end)
      accessible.store(end, ordering: .releasing)
      start = end
    }
  }

  /// Waits for whoever is growing the segment. Once it is sealed nobody begins to.
  func awaitGrowth() { growth.withLock {} }

  /// Takes `growth`; false when somebody else meanwhile made `length` bytes accessible, which is not worth falling asleep for.
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

  /// How much is zeroed before those who wait for it go on.
  private static let zeroStep = 64 << 10

  /// Syncs the file, its length too.
  func sync() throws(PlatformError) {
    let length = mapping.length
    try file.sync()
    durableLength.max(length, ordering: .relaxed)
  }

  /// The bytes of a range, or as many of them as the file has.
  ///
  /// A file that rests may be out of reach: removed by a merge, while somebody holds the segment, or closed and no descriptor
  /// left to open it with. What is mapped is there all the same.
  func bytes(in range: Range<Int>) throws(PlatformError) -> [UInt8] {
    do throws(PlatformError) {
      // As much as there is: memory is not asked for on the word of who wants it.
      return try file.bytes(in: range.clamped(to: 0..<file.status().size))
    } catch {
      guard error.isGone || error.isOutOfDescriptors, range.upperBound <= mapping.length else { throw error }
      // Safety: the range begins in the file, and ends within the mapping.
      let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
      if mapping.isFaulted { throw PlatformError("read", path: path, code: PlatformError.inputOutput) }
      return bytes
    }
  }

  /// Before a sync of the records below `end`: unmaps the pages stored to since the last one, all at once.
  ///
  /// The sync would write-protect them one by one, and interrupt the other processors for each. The next reader or writer maps
  /// them again.
  func detachUnsynced(below end: Int) {
    let start = detached.exchange(end, ordering: .relaxed)
    if start < end { mapping.detach(start..<end) }
  }

  /// Follows growth that another process made.
  func growToFile() throws(PlatformError) {
    let size = try file.status().size
    try growth.withLock { () throws(PlatformError) in
      // The footer may stand behind what there is address space for; the records never do.
      let length = min(size, capacity)
      guard length > accessible.load(ordering: .relaxed) else { return }
      try mapping.extend(to: length)
      accessible.store(mapping.length, ordering: .releasing)
    }
  }

  /// What is wrong with a file that ends before its records.
  func cutShort(_ end: Int) -> String { "the segment is truncated: its records should end at \(end)" }

  func location(_ offset: Int? = nil, key: [UInt8]? = nil) -> DamageLocation {
    DamageLocation(path: path, segment: id, offset: offset, key: key)
  }
}

/// What is known of a segment's tombstones.
struct Hiding: Sendable {
  /// Bytes of those that were still needed when they were last looked at.
  var bytes = 0
  /// The segments that held older values of their keys then.
  var blockers: [UInt64] = []
}

extension Segment {
  /// Notes that tombstones cannot go as long as those segments are there.
  func wait(for blockers: [UInt64], bytes: Int) {
    hiding.withLock { $0 = Hiding(bytes: bytes, blockers: blockers) }
  }

  /// Bytes of tombstones that are taken to be needed: until half of the segments they wait for are gone.
  func hidingBytes(among listed: Set<UInt64>) -> Int {
    hiding.withLock { hiding in
      let present = hiding.blockers.count { listed.contains($0) }
      return present * 2 > hiding.blockers.count ? hiding.bytes : 0
    }
  }
}
