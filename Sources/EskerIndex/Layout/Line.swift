import CEskerShims
import Synchronization

/// One cache line of the index: seven slots and a control word.
///
///     word 0     word 1           word 6     word 7 (control)
///     +----------+----------+---+----------+------------------------+
///     | slot     | slot     |...| slot     | next line  |  version  |
///     +----------+----------+---+----------+------------------------+
///                                           63       32 31         0
///
/// A bucket is a line; entries that do not fit go to overflow lines of the same layout, linked by `next line` (0: none). A
/// chain has no gaps: only its last line has empty slots. The version counts the moves of entries within the chain. In an
/// overflow line the bucket's number takes the version's place: this detects lines of a damaged image that two buckets link
/// to.
///
/// Every word is read and written atomically, so that readers need no lock: stored with release and loaded with acquire. A
/// reader that sees one of the writer's stores sees all earlier ones, which ``Probe`` relies on.
///
/// Safety: a line lies wholly inside a chunk or an image section, both aligned to 64 bytes, and that memory is not accessed
/// in any other way once it is reachable. Chunks live as long as the index. A section lives as long as one of its chunks is
/// in the directory, and then until the readers are gone that were pinned at that time. Indices are 0 to 7: the slots, and
/// the control word.
@frozen
@safe
public struct Line: BitwiseCopyable {
  @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>

  /// The line at an address, a multiple of 64 inside a chunk or a section.
  @inlinable
  @unsafe
  init(at address: UInt) {
    unsafe words = UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped
  }

  @inlinable static var slotCount: Int { 7 }
  @inlinable static var byteCount: Int { 64 }

  @inlinable
  @inline(__always)
  subscript(index: Int) -> UInt64 {
    get { unsafe words[index].load(ordering: .acquiring) }
    nonmutating set { unsafe words[index].store(newValue, ordering: .releasing) }
  }

  @inlinable
  @inline(__always)
  var control: UInt64 {
    get { self[7] }
    nonmutating set { self[7] = newValue }
  }

  @inlinable
  func isSame(as other: Line) -> Bool {
    unsafe words == other.words
  }

  @inlinable @inline(__always)
  func prefetch() {
    unsafe esker_prefetch(words)
  }

  /// A bit for each slot with the fingerprint of `word`.
  ///
  /// Branch-free; empty slots count as fingerprint zero.
  @inlinable
  @inline(__always)
  func matches(_ word: UInt64) -> UInt {
    var mask: UInt = 0
    if Slot.haveSameFingerprint(self[0], word) { mask |= 1 }
    if Slot.haveSameFingerprint(self[1], word) { mask |= 2 }
    if Slot.haveSameFingerprint(self[2], word) { mask |= 4 }
    if Slot.haveSameFingerprint(self[3], word) { mask |= 8 }
    if Slot.haveSameFingerprint(self[4], word) { mask |= 16 }
    if Slot.haveSameFingerprint(self[5], word) { mask |= 32 }
    if Slot.haveSameFingerprint(self[6], word) { mask |= 64 }
    return mask
  }

  /// A bit for each slot that holds an entry, and a bit for each whose entry moves when a bucket of this level is split.
  @inline(__always)
  func split(level: Int) -> (occupied: UInt32, rising: UInt32) {
    var occupied: UInt32 = 0
    var rising: UInt32 = 0
    for slot in 0..<Line.slotCount {
      let word = self[slot]
      occupied |= (word != 0 ? 1 : 0) << UInt32(slot)
      rising |= (Slot.goesUp(word, level: level) ? 1 : 0) << UInt32(slot)
    }
    return (occupied, rising)
  }

  /// The first empty slot; nil if there is none.
  @inlinable
  @inline(__always)
  func firstEmptySlot() -> Int? {
    for index in 0..<Line.slotCount where self[index] == 0 { return index }
    return nil
  }

  /// Makes the line empty, with no next line.
  func clear() {
    for index in 0...Line.slotCount { self[index] = 0 }
  }
}

@usableFromInline
enum Control {
  @inlinable
  static func nextLine(_ control: UInt64) -> UInt64 { control >> 32 }

  @inlinable
  static func haveSameVersion(_ one: UInt64, _ other: UInt64) -> Bool {
    UInt32(truncatingIfNeeded: one) == UInt32(truncatingIfNeeded: other)
  }

  /// The bucket that an overflow line belongs to.
  @inlinable
  static func owner(_ control: UInt64) -> UInt64 { control & 0xFFFF_FFFF }

  static func withNextLine(_ control: UInt64, _ line: UInt64) -> UInt64 {
    control & 0xFFFF_FFFF | line << 32
  }

  static func bumped(_ control: UInt64) -> UInt64 {
    control & ~0xFFFF_FFFF | UInt64(UInt32(truncatingIfNeeded: control) &+ 1)
  }
}
