import CEskerShims
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A run of a file's bytes mapped into reserved address space.
///
/// ```
/// start          base                base + length        start + reserved
///   |  (skipped)   |  bytes of the file   |  (rest of page)  |  not accessible ...  |
/// ```
/// `skipped` is 0 except for a private mapping that starts inside a large page.
///
/// Safety: the reservation never moves. It belongs to this object until `unmap` returns it, which happens once, in the call
/// that clears `isReserved`. Before that, `trim` may return its end, to which nothing is mapped; `extendLock` keeps the two
/// apart. System calls only get whole pages inside it: `extend` and `attach` stay below `reserved`, and the others within
/// `length` or `mappedEnd`. The owner of a mapping promises not to touch anything beyond `length`, or anything at all after
/// `unmap`. Only `writeBack` may come late: it changes no page, even if the range has a new owner by
/// then. The guard's slot is in a table that is never freed.
@safe
final class OSMapping: Mapping {
  enum Origin {
    /// Shares the file's pages and can grow with it.
    case shared(OSFile)
    /// Private pages; `base` is this many bytes past the start of the first page.
    case copyOnWrite(skipping: Int)
  }

  private let path: String
  nonisolated(unsafe) private let start: UnsafeMutableRawPointer
  /// What is left of the reservation, and how long the mapping may become. They change under `extendLock`.
  nonisolated(unsafe) private var reserved: Int
  nonisolated(unsafe) private var capacity: Int
  private let skipped: Int
  private let file: OSFile?
  private let protection: Int32
  nonisolated(unsafe) private let guardSlot: UnsafeMutablePointer<esker_guard>

  /// Stored with release after the call that mapped the pages: a thread that acquires a length finds its pages mapped.
  private let currentLength = Atomic<Int>(0)
  /// End of the mapped range, relative to `start`; a multiple of the page size. Ordered like `currentLength`; relaxed under
  /// `extendLock`, where it changes.
  private let mappedEnd = Atomic<Int>(0)
  private let extendLock = Lock(.mapping)
  /// Changed under `extendLock`; relaxed elsewhere, where it is a hint.
  private let readsAhead = Atomic<Bool>(true)
  /// Cleared before `unmap` takes `extendLock`: a thread that finds it set under that lock has the range until it unlocks.
  private let isReserved = Atomic<Bool>(true)

  init(path: String, capacity: Int, writable: Bool, origin: Origin) throws(PlatformError) {
    guard capacity >= 0, capacity < Int.max / 2 else { throw PlatformError("map", path: path, code: EINVAL) }
    let reserved = MemoryPage.roundUp(max(capacity, 1))
    guard let start = unsafe esker_reserve(reserved) else { throw PlatformError("map", path: path, code: errno) }
    guard let slot = unsafe esker_guard_register(start, writable) else {
      unsafe munmap(start, reserved)
      throw PlatformError("map", path: path, code: ENOMEM)
    }
    self.path = path
    unsafe self.start = unsafe start
    unsafe self.reserved = reserved
    unsafe self.guardSlot = unsafe slot
    self.protection = writable ? PROT_READ | PROT_WRITE : PROT_READ
    switch origin {
    case .shared(let file):
      self.file = file
      self.skipped = 0
    case .copyOnWrite(let skipped):
      self.file = nil
      self.skipped = skipped
    }
    unsafe self.capacity = capacity - skipped
  }

  deinit {
    unmap()
  }

  var base: UnsafeMutableRawPointer { unsafe start + skipped }

  var length: Int { currentLength.load(ordering: .acquiring) }

  var faultFlag: FaultFlag { unsafe FaultFlag(esker_guard_flag(guardSlot)) }

  func extend(to newLength: Int) throws(PlatformError) {
    extendLock.lock()
    defer { extendLock.unlock() }
    guard newLength > length else { return }
    guard let file, unsafe newLength <= capacity, isReserved.load(ordering: .acquiring) else {
      throw PlatformError("map", path: path, code: EINVAL)
    }
    try file.withStableLength(atLeast: newLength) { descriptor throws(PlatformError) in
      let end = mappedEnd.load(ordering: .relaxed)
      try mapPages(end..<MemoryPage.roundUp(newLength), MAP_SHARED, descriptor, at: end)
    }
    currentLength.store(newLength, ordering: .releasing)
  }

  /// Maps the whole private range. The caller has checked that the file is long enough.
  func attach(_ length: Int, to descriptor: Int32, at offset: Int) throws(PlatformError) {
    try unsafe mapPages(0..<reserved, MAP_PRIVATE, descriptor, at: offset)
    currentLength.store(length, ordering: .releasing)
  }

  private func mapPages(
    _ range: Range<Int>,
    _ sharing: Int32,
    _ descriptor: Int32,
    at offset: Int
  ) throws(PlatformError) {
    guard !range.isEmpty else { return }
    let address = unsafe start + range.lowerBound
    let result = unsafe mmap(address, range.count, protection, sharing | MAP_FIXED, descriptor, off_t(offset))
    guard unsafe result == address else { throw PlatformError("map", path: path, code: errno) }
    if !readsAhead.load(ordering: .relaxed) { unsafe esker_advise_read_ahead(address, range.count, false) }
    mappedEnd.store(range.upperBound, ordering: .releasing)
    unsafe esker_guard_extend(guardSlot, start + range.upperBound)
  }

  func renew() throws(PlatformError) {
    extendLock.lock()
    defer { extendLock.unlock() }
    let end = mappedEnd.load(ordering: .relaxed)
    guard let file, end > 0, isReserved.load(ordering: .acquiring) else { return }
    try file.withStableLength(atLeast: 0) { descriptor throws(PlatformError) in
      // Cleared first, so that a fault during the remapping is not lost.
      unsafe esker_guard_clear(guardSlot)
      try mapPages(0..<end, MAP_SHARED, descriptor, at: 0)
    }
  }

  func populate(_ range: Range<Int>) throws(PlatformError) {
    LockRank.expectIOAllowed()
    let pages = accessiblePages(of: range)
    guard !pages.isEmpty else { return }
    switch unsafe esker_populate_write(start + pages.lowerBound, pages.count) {
    case 0: return
    case EFAULT: throw PlatformError("populate", path: path, code: file?.reasonForFault(below: range.upperBound) ?? EIO)
    case let code: throw PlatformError("populate", path: path, code: code)
    }
  }

  func populateForReading(_ range: Range<Int>) {
    LockRank.expectIOAllowed()
    let pages = accessiblePages(of: range)
    if !pages.isEmpty { unsafe esker_populate_read(start + pages.lowerBound, pages.count) }
  }

  func setReadAhead(_ isWanted: Bool) {
    guard readsAhead.load(ordering: .relaxed) != isWanted else { return }
    extendLock.lock()
    defer { extendLock.unlock() }
    readsAhead.store(isWanted, ordering: .relaxed)
    let end = mappedEnd.load(ordering: .relaxed)
    guard end > 0, isReserved.load(ordering: .acquiring) else { return }
    unsafe esker_advise_read_ahead(start, end, isWanted)
  }

  func fetch(_ range: Range<Int>) {
    let pages = accessiblePages(of: range)
    if !pages.isEmpty { unsafe PageCache.fetch(start + pages.lowerBound, byteCount: pages.count) }
  }

  func absentRanges(in range: Range<Int>) -> [Range<Int>] {
    let pages = accessiblePages(of: range)
    var absent: [Range<Int>] = []
    for group in stride(from: pages.lowerBound, to: pages.upperBound, by: 64 * MemoryPage.size) {
      let count = min(64, (pages.upperBound - group) / MemoryPage.size)
      var missing = unsafe ~esker_residency(start + group, count)
      while missing.trailingZeroBitCount < count {
        let first = missing.trailingZeroBitCount
        let run = min(count - first, (~(missing >> UInt64(first))).trailingZeroBitCount)
        let bytes = group + first * MemoryPage.size - skipped..<group + (first + run) * MemoryPage.size - skipped
        if let last = absent.last, last.upperBound == bytes.lowerBound {
          absent[absent.count - 1] = last.lowerBound..<bytes.upperBound
        } else {
          absent.append(bytes)
        }
        missing &= UInt64.max << UInt64(first + run)
      }
    }
    return absent
  }

  func letGo(_ range: Range<Int>) {
    LockRank.expectIOAllowed()
    let pages = accessiblePages(of: range)
    // Not where there are stores of this process's own, which would have to go to swap.
    guard !pages.isEmpty, let file else { return }
    unsafe esker_let_go(start + pages.lowerBound, pages.count)
    // That was about pages that this process has touched; others were read or written by calls.
    file.letGo(pages.lowerBound..<pages.upperBound)
  }

  func detach(_ range: Range<Int>) {
    LockRank.expectIOAllowed()
    #if !canImport(Darwin)
      let pages = accessiblePages(of: range)
      // For a shared file mapping this only drops page table entries; the stores are in the page cache.
      if !pages.isEmpty, file != nil { unsafe madvise(start + pages.lowerBound, pages.count, Int32(MADV_DONTNEED)) }
    #endif
  }

  /// The whole pages that cover the accessible part of `range`, relative to `start`.
  private func accessiblePages(of range: Range<Int>) -> Range<Int> {
    let inside = range.clamped(to: 0..<length)
    guard !inside.isEmpty else { return 0..<0 }
    let first = (inside.lowerBound + skipped) / MemoryPage.size * MemoryPage.size
    return first..<MemoryPage.roundUp(inside.upperBound + skipped)
  }

  /// Writes dirty pages to the file where its own sync would miss them; returns the error number or 0.
  func writeBack() -> Int32 {
    let code = unsafe esker_sync_mapping(start, mappedEnd.load(ordering: .acquiring))
    // Unmapped in the meantime: `unmap` wrote the pages before it returned the range.
    return code == ENOMEM && !isReserved.load(ordering: .acquiring) ? 0 : code
  }

  func trim() {
    extendLock.lock()
    defer { extendLock.unlock() }
    let end = max(mappedEnd.load(ordering: .relaxed), MemoryPage.size)
    guard unsafe end < reserved, isReserved.load(ordering: .acquiring) else { return }
    unsafe munmap(start + end, reserved - end)
    unsafe reserved = end
    unsafe capacity = min(capacity, end - skipped)
  }

  func unmap() {
    LockRank.expectIOAllowed()
    guard isReserved.exchange(false, ordering: .acquiringAndReleasing) else { return }
    extendLock.lock()
    defer { extendLock.unlock() }
    let isShared = protection & PROT_WRITE != 0 && file != nil
    let code = isShared ? unsafe esker_sync_mapping(start, mappedEnd.load(ordering: .acquiring)) : 0
    if isShared { file?.forget(self, writeError: code) }
    currentLength.store(0, ordering: .releasing)
    // Deregistered first: as soon as the range is free, another mapping may get it.
    unsafe esker_guard_deregister(guardSlot)
    unsafe munmap(start, reserved)
  }
}
