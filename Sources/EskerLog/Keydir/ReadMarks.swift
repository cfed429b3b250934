internal import Synchronization

/// Tracks which keys were read recently, so that eviction can keep their values.
///
/// One bit per key, located by the key's hash, which is evenly distributed. A bit that is set costs a reader one load; it is set
/// at most once between two evictions. Keys that share a bit are kept together, which is rare with one bit per 64 bytes of the
/// store. Thread safety: any thread.
///
/// Safety: `mask` keeps each position within the words. The keydir owns the marks and frees them when it goes itself.
///
/// Relaxed throughout: a mark decides only what is evicted, and nothing is read through it.
@safe
struct ReadMarks {
  private typealias Word = Atomic<UInt64>
  private let words: UnsafeMutablePointer<Word>
  private let mask: UInt64

  /// Bytes of memory that the marks of a store of `capacity` bytes take: about a 512th of it.
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

  /// The length in bytes.
  var byteCount: Int { Int(mask + 1) / 8 }

  /// Frees the memory. The marks must no longer be in use.
  func deallocate() {
    unsafe words.deallocate()
  }

  /// Marks the key with that hash as read.
  @inline(__always)
  func set(_ hash: UInt64) {
    let place = hash & mask
    let bit = UInt64(1) << (place & 63)
    let word = unsafe words + Int(place >> 6)
    if unsafe word.pointee.load(ordering: .relaxed) & bit == 0 {
      _ = unsafe word.pointee.bitwiseOr(bit, ordering: .relaxed)
    }
  }

  /// Whether a key's mark is set.
  func has(_ hash: UInt64) -> Bool {
    let place = hash & mask
    return unsafe (words + Int(place >> 6)).pointee.load(ordering: .relaxed) & UInt64(1) << (place & 63) != 0
  }

  /// Clears a key's mark; returns whether it was set.
  func take(_ hash: UInt64) -> Bool {
    let place = hash & mask
    let bit = UInt64(1) << (place & 63)
    let word = unsafe words + Int(place >> 6)
    return unsafe word.pointee.bitwiseAnd(~bit, ordering: .relaxed).oldValue & bit != 0
  }
}
