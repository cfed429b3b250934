import EskerPlatform
import Synchronization

/// A growing array of lines in chunks of 2 MiB, which never moves a line.
///
/// A fixed directory of chunk addresses, in memory that is committed only where it is touched, so that growing publishes one
/// word. Bit 0 of an entry marks a chunk of an image whose pages are not all verified yet.
///
/// Entries are stored with release and loaded with acquire: a thread that finds a chunk finds its contents at the time it
/// was entered.
///
/// Safety: a directory is a block of two words for each chunk. `allocate` takes it as a whole, and `free` returns it when
/// the index ends. Chunk numbers stay below `capacity`: `setEntry` checks them, and lookups derive them from line numbers of
/// at most 32 bits. A chunk has 2 MiB and is aligned to as much. It belongs to the directory it is entered in, or to the
/// thread that took it out of `IndexState`, until it is freed.
@frozen
@safe
@usableFromInline
struct ChunkDirectory: BitwiseCopyable {
  @usableFromInline let entries: UnsafeMutablePointer<Atomic<UInt64>>

  @inlinable static var lineBits: UInt64 { 15 }
  @inlinable static var linesPerChunk: UInt64 { 1 << 15 }
  @inlinable static var chunkByteCount: Int { 2 << 20 }
  @inlinable static var capacity: Int { 1 << 17 }
  @inlinable static var imageTag: UInt64 { 1 }

  /// The known state of a chunk's pages.
  enum Paging: UInt64 {
    case small = 0
    case huge = 1
    /// The system had no huge pages; do not ask again.
    case smallForGood = 2
  }

  @inlinable
  @unsafe
  init(at address: UInt64) {
    unsafe entries = UnsafeMutablePointer(bitPattern: UInt(address)).unsafelyUnwrapped
  }

  /// The address to recreate the directory from.
  var address: UInt64 { unsafe UInt64(UInt(bitPattern: entries)) }

  @inlinable
  subscript(word index: Int) -> UInt64 {
    get { unsafe entries[index].load(ordering: .acquiring) }
    nonmutating set { unsafe entries[index].store(newValue, ordering: .releasing) }
  }

  @inlinable
  func entry(_ chunk: UInt64) -> UInt64 { self[word: Int(truncatingIfNeeded: chunk)] }

  func setEntry(_ chunk: UInt64, _ value: UInt64) {
    precondition(chunk < ChunkDirectory.capacity, "the index has reached its largest size")
    self[word: Int(chunk)] = value
  }

  /// Stored after the entries, since only the owner's background thread looks here.
  func paging(_ chunk: UInt64) -> Paging {
    Paging(rawValue: self[word: ChunkDirectory.capacity + Int(chunk)]) ?? .smallForGood
  }

  func setPaging(_ chunk: UInt64, _ value: Paging) {
    self[word: ChunkDirectory.capacity + Int(chunk)] = value.rawValue
  }

  @inlinable
  static func line(_ number: UInt64, inChunk entry: UInt64) -> Line {
    unsafe Line(at: UInt(truncatingIfNeeded: entry &+ (number & (linesPerChunk - 1)) << 6))
  }

  private static var directoryByteCount: Int { capacity * 16 }

  /// An empty directory; nil when out of memory.
  static func allocate() -> ChunkDirectory? {
    guard let block = unsafe AnonymousMemory.allocate(byteCount: directoryByteCount) else { return nil }
    unsafe AnonymousMemory.preferSmallPages(block, byteCount: directoryByteCount)
    return unsafe ChunkDirectory(at: UInt64(UInt(bitPattern: block)))
  }

  /// The address of a new chunk on small pages, which commits only what is touched; nil when out of memory.
  static func allocateChunk() -> UInt64? {
    guard let block = unsafe AnonymousMemory.allocate(byteCount: chunkByteCount, alignment: chunkByteCount) else {
      return nil
    }
    unsafe AnonymousMemory.preferSmallPages(block, byteCount: chunkByteCount)
    return UInt64(UInt(bitPattern: block))
  }

  /// The address of a new chunk, committed and on huge pages if the system has them; nil when out of memory.
  static func allocateWholeChunk() -> UInt64? {
    guard let block = unsafe AnonymousMemory.allocate(byteCount: chunkByteCount, alignment: chunkByteCount) else {
      return nil
    }
    unsafe AnonymousMemory.preferHugePages(block, byteCount: chunkByteCount)
    unsafe AnonymousMemory.populate(block, byteCount: chunkByteCount)
    return UInt64(UInt(bitPattern: block))
  }

  static func freeChunk(_ address: UInt64) {
    guard let block = unsafe UnsafeMutableRawPointer(bitPattern: UInt(address)) else { return }
    unsafe AnonymousMemory.free(block, byteCount: chunkByteCount)
  }

  /// The number of lines committed at a time in chunks on small pages: 64 KiB. One fault per page would cost five times as
  /// much.
  static var linesPerStep: UInt64 { 1024 }

  /// If a step begins with this line, commits it before the line is first used.
  @inline(__always)
  func populateStep(at number: UInt64) {
    if number & (Self.linesPerStep - 1) == 0 { populateWholeStep(at: number) }
  }

  @inline(never)
  private func populateWholeStep(at number: UInt64) {
    let chunk = number >> Self.lineBits
    let entry = entry(chunk)
    guard paging(chunk) == .small, entry & Self.imageTag == 0 else { return }
    let start = UInt(truncatingIfNeeded: entry &+ (number & (Self.linesPerChunk - 1)) << 6)
    guard let block = unsafe UnsafeMutableRawPointer(bitPattern: start) else { return }
    unsafe AnonymousMemory.populateInUse(block, byteCount: Int(Self.linesPerStep) << 6)
  }

  static func collapseChunk(_ address: UInt64) -> Bool {
    guard let block = unsafe UnsafeMutableRawPointer(bitPattern: UInt(address)) else { return false }
    return unsafe AnonymousMemory.collapse(block, byteCount: chunkByteCount)
  }

  /// Copies the beginning of a chunk, which nobody writes to meanwhile, to a chunk that is not published yet.
  static func copy(_ byteCount: Int, from source: UInt64, to target: UInt64) {
    guard let target = unsafe UnsafeMutableRawPointer(bitPattern: UInt(target)),
      let source = unsafe UnsafeRawPointer(bitPattern: UInt(source))
    else { return }
    unsafe target.copyMemory(from: source, byteCount: byteCount)
  }

  /// Frees everything. The directory and its lines must not be used afterwards.
  func free() {
    for chunk in 0..<UInt64(ChunkDirectory.capacity) {
      let address = entry(chunk)
      if address == 0 { break }
      if address & ChunkDirectory.imageTag == 0 { ChunkDirectory.freeChunk(address) }
    }
    unsafe AnonymousMemory.free(UnsafeMutableRawPointer(entries), byteCount: ChunkDirectory.directoryByteCount)
  }
}
