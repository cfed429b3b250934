/// The hashes of recently evicted entries, with the queue they were evicted from.
///
/// A table of sets of four words, each set a vector, so that bounds are checked once per set; in a full set the oldest word
/// is overwritten:
///
///     bits 0-14   tag: the low bits of the hash, whose high bits choose the set
///     bit  15     set when it came out of the main queue
///     bits 16-31  when, in ticks modulo 2^16
///
/// Approximate: some are overwritten early, and one in thousands is mistaken for another. Either costs only a little of the
/// hit ratio.
@usableFromInline
struct GhostQueue: ~Copyable {
  /// A remembered eviction.
  @usableFromInline
  struct Trace {
    /// The number of evictions from the shard since, to the precision of a tick.
    @usableFromInline var age: Int
    @usableFromInline var wasInMain: Bool
  }

  /// The number of evictions that are remembered.
  @usableFromInline let reach: Int
  private let evictionsPerTick: Int
  private var evictions = 0
  private var sets: [SIMD4<UInt32>]

  @usableFromInline
  init(reach: Int) {
    self.reach = reach
    evictionsPerTick = max(1, reach / 4096)
    // A quarter more room than the reach, because sets fill unevenly.
    sets = [SIMD4<UInt32>](repeating: .zero, count: reach == 0 ? 0 : (reach + reach / 4 + 3) / 4)
  }

  private var tick: UInt32 { UInt32(truncatingIfNeeded: evictions / evictionsPerTick) & 0xFFFF }

  private func place(_ hash: UInt32) -> Int {
    Int((UInt64(hash) * UInt64(sets.count)) >> 32)
  }

  private func tag(_ hash: UInt32) -> UInt32 {
    hash & 0x7FFF
  }

  private func age(_ word: UInt32) -> UInt32 {
    (tick &- word >> 16) & 0xFFFF
  }

  @usableFromInline
  mutating func insert(_ hash: UInt32, wasInMain: Bool) {
    if sets.isEmpty { return }
    evictions += 1
    let place = place(hash)
    let words = sets[place]
    var chosen = 0
    for slot in 0..<4 {
      if words[slot] == 0 {
        chosen = slot
        break
      }
      if age(words[slot]) > age(words[chosen]) { chosen = slot }
    }
    sets[place][chosen] = tag(hash) | (wasInMain ? 0x8000 : 0) | tick << 16
  }

  /// Forgets the eviction of `hash` and returns it, if it is still remembered.
  @usableFromInline
  mutating func take(_ hash: UInt32) -> Trace? {
    if sets.isEmpty { return nil }
    let place = place(hash)
    let words = sets[place]
    for slot in 0..<4 {
      let word = words[slot]
      if word == 0 || word & 0x7FFF != tag(hash) { continue }
      sets[place][slot] = 0
      let age = Int(age(word)) * evictionsPerTick
      return age < reach ? Trace(age: age, wasInMain: word & 0x8000 != 0) : nil
    }
    return nil
  }
}
