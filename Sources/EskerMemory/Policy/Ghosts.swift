/// The hashes of entries that were evicted not long ago, and from where.
///
/// Sets of four words; a word is overwritten when it is the oldest of a full set:
///
///     bits 0-14   tag: the low bits of the hash, whose high bits choose the set
///     bit  15     set when it came out of the main queue
///     bits 16-31  when, in ticks modulo 2^16
///
/// Not exact: some are overtaken before their time, and one in thousands is mistaken for another. Either costs a little of the
/// hit ratio and nothing else.
@usableFromInline
@safe
struct Ghosts: ~Copyable {
  /// An eviction that is remembered.
  @usableFromInline
  struct Trace {
    /// How many evictions of the shard ago, to the precision of a tick.
    @usableFromInline var age: Int
    @usableFromInline var wasInMain: Bool
  }

  /// How many evictions back the memory reaches.
  @usableFromInline let reach: Int
  private let setCount: UInt32
  private let evictionsPerTick: Int
  private var evictions = 0
  // Freed with the only owner; null when `reach` is 0.
  @usableFromInline let words: UnsafeMutablePointer<UInt32>?

  @usableFromInline
  init(reach: Int) {
    self.reach = reach
    // A quarter more room than the reach, as sets fill unevenly.
    setCount = UInt32(reach == 0 ? 0 : (reach + reach / 4 + 3) / 4)
    evictionsPerTick = max(1, reach / 4096)
    if setCount == 0 {
      unsafe words = nil
    } else {
      let words = UnsafeMutablePointer<UInt32>.allocate(capacity: Int(setCount) * 4)
      unsafe words.initialize(repeating: 0, count: Int(setCount) * 4)
      unsafe self.words = unsafe words
    }
  }

  @inlinable
  deinit {
    unsafe words?.deallocate()
  }

  private var tick: UInt32 { UInt32(truncatingIfNeeded: evictions / evictionsPerTick) & 0xFFFF }

  private func set(_ hash: UInt32) -> Int {
    Int((UInt64(hash) * UInt64(setCount)) >> 32) * 4
  }

  private func tag(_ hash: UInt32) -> UInt32 {
    hash & 0x7FFF
  }

  private func age(_ word: UInt32) -> UInt32 {
    (tick &- word >> 16) & 0xFFFF
  }

  /// Remembers an eviction.
  @usableFromInline
  mutating func insert(_ hash: UInt32, wasInMain: Bool) {
    guard let words = unsafe words else { return }
    evictions += 1
    let first = set(hash)
    var chosen = first
    for slot in first..<(first + 4) {
      if unsafe words[slot] == 0 {
        chosen = slot
        break
      }
      if unsafe age(words[slot]) > age(words[chosen]) { chosen = slot }
    }
    unsafe words[chosen] = tag(hash) | (wasInMain ? 0x8000 : 0) | tick << 16
  }

  /// Forgets the eviction of `hash` and returns it, if it is still remembered.
  @usableFromInline
  mutating func take(_ hash: UInt32) -> Trace? {
    guard let words = unsafe words else { return nil }
    let first = set(hash)
    for slot in first..<(first + 4) {
      let word = unsafe words[slot]
      if word == 0 || word & 0x7FFF != tag(hash) { continue }
      unsafe words[slot] = 0
      let age = Int(age(word)) * evictionsPerTick
      return age < reach ? Trace(age: age, wasInMain: word & 0x8000 != 0) : nil
    }
    return nil
  }
}
