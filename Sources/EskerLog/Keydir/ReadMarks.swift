internal import Synchronization

/// Remembers which keys were read lately, so that eviction can keep what they lead to.
///
/// One bit a key, found by the key's hash, which is spread evenly. A set bit costs a reader one look; setting it happens
/// once between two evictions. Keys that share a bit are kept for each other's sake: with at most a bit for each 64 bytes
/// of the store that is rare. Thread safety: any thread.
///
/// Safety: `mask` keeps each position within the words. The keydir owns the marks and frees them when it goes itself.
///
/// Relaxed throughout: a mark decides only what is evicted, and nothing is read through it.
@safe
struct ReadMarks {
  private typealias Word = Atomic<UInt64>
  private let words: UnsafeMutablePointer<Word>
  private let mask: UInt64

  /// Memory of the marks of a store of `capacity` bytes, in bytes: a 512th of it at most.
  static func length(for capacity: Int) -> Int {
    var length = 4096
    while length < min(capacity / 512, 1 << 30) { length *= 2 }
    return length
  }

  init(capacity: Int) {
    let count = Self.length(for: capacity) / MemoryLayout<Word>.size
    unsafe words = .allocate(capacity: count)
    for position in 0..<count { unsafe (words + position).initialize(to: Word(0)) }
    mask = UInt64(count * 64 - 1)
  }

  /// Gives the memory back. Nobody uses the marks any more.
  func deallocate() {
    unsafe words.deallocate()
  }

  /// Notes that the key with that hash was read.
  @inline(__always)
  func set(_ hash: UInt64) {
    let place = hash & mask
    let bit = UInt64(1) << (place & 63)
    let word = unsafe words + Int(place >> 6)
    if unsafe word.pointee.load(ordering: .relaxed) & bit == 0 {
      _ = unsafe word.pointee.bitwiseOr(bit, ordering: .relaxed)
    }
  }

  /// Whether it was noted since this was last asked.
  func take(_ hash: UInt64) -> Bool {
    let place = hash & mask
    let bit = UInt64(1) << (place & 63)
    let word = unsafe words + Int(place >> 6)
    return unsafe word.pointee.bitwiseAnd(~bit, ordering: .relaxed).oldValue & bit != 0
  }
}
