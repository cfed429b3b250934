import EskerPlatform
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What the processes of a round tell each other, in memory that they share: what was written and acknowledged, the time, when
/// to rest and when to stop. It outlives any of them, so what a killed writer had acknowledged is known.
final class Ledger: @unchecked Sendable {
  /// Numbers that are there once.
  enum Word: Int {
    /// Readers end, and the writer closes.
    case isOver
    /// The last opening for writing that has the store ready, and the one that is to close it.
    case life, lifeToEnd
    /// The rest that was asked for last, the one that the writer has reached, and the one that is over.
    case restAsked, restReached, restOver
    /// The last write, while the writer rests.
    case restSequence
    /// Store time in milliseconds.
    case clock
    /// How often the writer was killed.
    case kills
    // What was done, for the line of a round.
    case snapshots, openings, refreshes, gets, verifications, backups, dumps, merges, cuts
  }

  static let mostThreads = 4
  static let mostReaders = 8
  private static let words = 64
  private static let participants = mostReaders + 1
  private static let header = words + participants * 2 + mostThreads * 2

  /// Writes that a thread may make in a round.
  let capacity: Int
  private let base: UnsafeMutablePointer<Atomic<UInt64>>
  private let length: Int

  /// Makes the file at `path`, or opens it if it is there.
  init(at path: String, threads: Int) throws(PlatformError) {
    capacity = (16 << 20) / threads
    length = (Self.header + threads * capacity) * 8
    let file = open(path, O_RDWR | O_CREAT, 0o600)
    guard file >= 0, ftruncate(file, off_t(length)) == 0 else { throw PlatformError("open", path: path, code: errno) }
    defer { close(file) }
    guard let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED else {
      throw PlatformError("map", path: path, code: errno)
    }
    base = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  deinit {
    munmap(base, length)
  }

  subscript(_ word: Word) -> UInt64 {
    get { base[word.rawValue].load(ordering: .sequentiallyConsistent) }
    set { base[word.rawValue].store(newValue, ordering: .sequentiallyConsistent) }
  }

  func add(_ word: Word, _ count: Int = 1) {
    base[word.rawValue].wrappingAdd(UInt64(count), ordering: .relaxed)
  }

  /// A number of a participant's; the writer is 0, readers follow.
  func participant(_ index: Int) -> (reached: Int, pulse: Int) {
    let place = Self.words + index * 2
    return (place, place + 1)
  }

  func reached(_ index: Int) -> UInt64 { base[participant(index).reached].load(ordering: .sequentiallyConsistent) }
  func setReached(_ index: Int, _ rest: UInt64) {
    base[participant(index).reached].store(rest, ordering: .sequentiallyConsistent)
  }

  /// Something that changes as long as a process goes on.
  func pulse(_ index: Int) -> UInt64 { base[participant(index).pulse].load(ordering: .relaxed) }
  func beat(_ index: Int) { base[participant(index).pulse].wrappingAdd(1, ordering: .relaxed) }

  /// The last write that a thread has begun, and the last that it was told of.
  func begun(_ thread: Int) -> UInt64 { base[begunPlace(thread)].load(ordering: .acquiring) }
  func done(_ thread: Int) -> UInt64 { base[begunPlace(thread) + 1].load(ordering: .acquiring) }

  private func begunPlace(_ thread: Int) -> Int { Self.words + Self.participants * 2 + thread * 2 }
  private func recordPlace(_ thread: Int, _ number: UInt64) -> Int { Self.header + thread * capacity + Int(number) }

  func begin(_ number: UInt64, of thread: Int) {
    base[begunPlace(thread)].store(number, ordering: .sequentiallyConsistent)
  }

  /// Forgets what was written after a write.
  func rewind(_ thread: Int, to number: UInt64) {
    begin(number, of: thread)
    base[begunPlace(thread) + 1].store(number, ordering: .sequentiallyConsistent)
  }

  /// Notes that a write was acknowledged.
  ///
  /// - Parameters:
  ///   - sequence: its number in the store, or one that it is not above.
  ///   - isExact: which of both.
  func end(_ number: UInt64, of thread: Int, sequence: UInt64, isExact: Bool) {
    base[recordPlace(thread, number)].store(sequence << 1 | (isExact ? 0 : 1), ordering: .relaxed)
    base[begunPlace(thread) + 1].store(number, ordering: .sequentiallyConsistent)
  }

  /// The number in the store of a write that was acknowledged, or one that it is not above.
  func sequence(of number: UInt64, _ thread: Int) -> (number: UInt64, isExact: Bool) {
    let word = base[recordPlace(thread, number)].load(ordering: .relaxed)
    return (word >> 1, word & 1 == 0)
  }
}
