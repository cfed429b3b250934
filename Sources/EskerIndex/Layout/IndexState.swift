import Synchronization

/// The state shared by readers and the writer: a block of atomic words.
///
/// A block rather than properties of a class, which would be checked for exclusive access at each use. What a probe needs is
/// on the first cache line, which changes only when a bucket is added; counters are on others.
///
/// Every word is stored with release and loaded with acquire. A count is stored after what it counts, and an address after
/// what it points to, so a thread that loads either finds the rest.
///
/// Safety: the block is aligned, has a word for each case of `Word`, and lives as long as the index that made it, which
/// readers and the writer keep alive. It is only accessed as atomics: `Atomic<UInt64>` has the layout of `UInt64`. The
/// directories' addresses are stored before the index is shared, and never change.
@frozen
@safe
@usableFromInline
struct IndexState: BitwiseCopyable {
  @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>

  @frozen
  @usableFromInline
  enum Word: Int {
    // Line 0: read by probes.
    case bucketCount = 0
    case mainDirectory = 1
    case overflowDirectory = 2
    /// One more than the greatest overflow line number ever handed out; line 0 does not exist.
    case overflowEnd = 3
    // Lines 2 and 3 (CPUs fetch lines in pairs): the writer's counters.
    case entryCount = 16
    case overflowInUse = 17
    case splitsPaused = 18
    case isDamaged = 19
    // Lines 4 and 5: exchanged between the background thread and the writer.
    case spareMain = 32
    case spareOverflow = 33
    case growthLock = 34
    case collapsedMain = 35
    case collapsedOverflow = 36
    case mainChunks = 37
    case overflowChunks = 38
    // Lines 6 and 7: the adopted image, zero if there is none.
    case mainBase = 48
    case mainPages = 49
    case mainChecksums = 50
    case mainVerified = 51
    case overflowBase = 52
    case overflowPages = 53
    case overflowChecksums = 54
    case overflowVerified = 55
    /// Chunks still in the image.
    case mappedMainChunks = 60
    case mappedOverflowChunks = 61
    /// Chunks below this number have left the image; the last bucket chunk, which leaves first, is not counted.
    case migratedMain = 62
    case migratedOverflow = 63
    case imageMainChunks = 57
    case imageOverflowChunks = 58
    /// Line numbers between the end of the image and the next chunk, which are never handed out.
    case overflowSkipped = 59
  }

  static let wordCount = 64

  @inlinable
  @unsafe
  init(_ words: UnsafeMutablePointer<Atomic<UInt64>>) {
    unsafe self.words = words
  }

  static func allocate() -> IndexState {
    let block = UnsafeMutableRawPointer.allocate(byteCount: wordCount * 8, alignment: 128)
    unsafe block.initializeMemory(as: UInt64.self, repeating: 0, count: wordCount)
    return unsafe IndexState(block.assumingMemoryBound(to: Atomic<UInt64>.self))
  }

  func free() {
    unsafe UnsafeMutableRawPointer(words).deallocate()
  }

  @inlinable
  subscript(word: Word) -> UInt64 {
    get { unsafe words[word.rawValue].load(ordering: .acquiring) }
    nonmutating set { unsafe words[word.rawValue].store(newValue, ordering: .releasing) }
  }

  /// Stores a value and returns the previous one. For words that several threads change: the thread that takes a chunk sees
  /// it as the other left it.
  func exchange(_ word: Word, _ value: UInt64) -> UInt64 {
    unsafe words[word.rawValue].exchange(value, ordering: .acquiringAndReleasing)
  }

  @inlinable
  var main: ChunkDirectory { unsafe ChunkDirectory(at: self[.mainDirectory]) }

  @inlinable
  var overflow: ChunkDirectory { unsafe ChunkDirectory(at: self[.overflowDirectory]) }

  /// The bucket that a hash currently belongs to.
  @inlinable
  @inline(__always)
  func bucket(of hash: UInt64) -> UInt64 {
    Geometry.bucket(hash, count: self[.bucketCount])
  }

  /// The line of a probe before its first look. Never read.
  var noLine: Line { unsafe Line(at: UInt(bitPattern: words)) }

  /// No intact chain is this long; a damaged one may be circular.
  @inlinable static var longestChain: Int { 1 << 16 }

  @usableFromInline
  func reportDamage() -> Line? {
    self[.isDamaged] = 1
    return nil
  }
}
