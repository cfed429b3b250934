import EskerPlatform
import Synchronization

/// A growing array of lines in chunks of 2 MiB, which never moves a line.
///
/// A fixed directory of chunk addresses, in memory that is committed only where it is touched, so that growing publishes
/// one word. Bit 0 of an entry says that the chunk is part of an image whose pages are not all verified yet.
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

  /// What is known of a chunk's pages.
  enum Paging: UInt64 {
    case small = 0
    case huge = 1
    /// The system could not give huge pages; not asked again.
    case smallForGood = 2
  }

  @inlinable
  @unsafe
  init(at address: UInt64) {
    unsafe entries = UnsafeMutablePointer(bitPattern: UInt(address)).unsafelyUnwrapped
  }

  @inlinable
  func entry(_ chunk: UInt64) -> UInt64 {
    unsafe entries[Int(truncatingIfNeeded: chunk)].load(ordering: .acquiring)
  }

  func setEntry(_ chunk: UInt64, _ value: UInt64) {
    precondition(chunk < ChunkDirectory.capacity, "the index has reached its largest size")
    unsafe entries[Int(chunk)].store(value, ordering: .releasing)
  }

  /// Kept behind the entries, since only the owner's background thread looks here.
  func paging(_ chunk: UInt64) -> Paging {
    let raw = unsafe entries[ChunkDirectory.capacity + Int(chunk)].load(ordering: .acquiring)
    return Paging(rawValue: raw) ?? .smallForGood
  }

  func setPaging(_ chunk: UInt64, _ value: Paging) {
    unsafe entries[ChunkDirectory.capacity + Int(chunk)].store(value.rawValue, ordering: .releasing)
  }

  @inlinable
  static func line(_ number: UInt64, inChunk entry: UInt64) -> Line {
    unsafe Line(at: UInt(truncatingIfNeeded: entry &+ (number & (linesPerChunk - 1)) << 6))
  }

  private static var directoryByteCount: Int { capacity * 16 }

  /// An empty directory; nil when there is no memory.
  static func allocate() -> ChunkDirectory? {
    guard let block = unsafe AnonymousMemory.allocate(byteCount: directoryByteCount) else { return nil }
    unsafe AnonymousMemory.preferSmallPages(block, byteCount: directoryByteCount)
    return unsafe ChunkDirectory(at: UInt64(UInt(bitPattern: block)))
  }

  /// The address of a new chunk on small pages, which costs only what is touched; nil when there is no memory.
  static func allocateChunk() -> UInt64? {
    let block = unsafe AnonymousMemory.allocate(byteCount: chunkByteCount, alignment: chunkByteCount)
    guard let block = unsafe block else { return nil }
    unsafe AnonymousMemory.preferSmallPages(block, byteCount: chunkByteCount)
    return UInt64(UInt(bitPattern: block))
  }

  /// The address of a new chunk that is committed and huge if the system has such; nil when there is no memory.
  static func allocateWholeChunk() -> UInt64? {
    let block = unsafe AnonymousMemory.allocate(byteCount: chunkByteCount, alignment: chunkByteCount)
    guard let block = unsafe block else { return nil }
    unsafe AnonymousMemory.preferHugePages(block, byteCount: chunkByteCount)
    unsafe AnonymousMemory.populate(block, byteCount: chunkByteCount)
    return UInt64(UInt(bitPattern: block))
  }

  static func freeChunk(_ address: UInt64) {
    guard let block = unsafe UnsafeMutableRawPointer(bitPattern: UInt(address)) else { return }
    unsafe AnonymousMemory.free(block, byteCount: chunkByteCount)
  }

  /// Lines that are committed at a time in chunks on small pages: 64 KiB. A fault for each page costs five times as much.
  static var linesPerStep: UInt64 { 1024 }

  /// Commits the step that begins with this line, if one does, before the line is used first.
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

  /// Gives everything back.
  ///
  /// Nobody may use the directory or a line afterwards.
  func free() {
    for chunk in 0..<UInt64(ChunkDirectory.capacity) {
      let address = entry(chunk)
      if address == 0 { break }
      if address & ChunkDirectory.imageTag == 0 { ChunkDirectory.freeChunk(address) }
    }
    unsafe AnonymousMemory.free(UnsafeMutableRawPointer(entries), byteCount: ChunkDirectory.directoryByteCount)
  }
}
