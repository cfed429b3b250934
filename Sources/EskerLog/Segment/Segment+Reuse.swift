internal import EskerFormat
internal import Synchronization

// Safety: the mapping begins with the header and the words, all of which are accessible in a segment that takes records; it is
// aligned to a page, and an atomic word has the layout of a plain one.
extension Segment {
  /// What is said of records that have replaced others in this segment. Another process may be changing it.
  var reuseWords: ReuseWords {
    guard kind == .log, reach(SegmentHeader.length) == SegmentHeader.length else { return ReuseWords() }
    var words = ReuseWords()
    // Acquiring: with a number comes all that was stored before it.
    words.last = word(3)
    words.place = word(1)
    words.former = word(2)
    words.sum = word(0)
    words.base = word(4)
    return words
  }

  private func word(_ index: Int) -> UInt64 {
    let place = unsafe base + (ReuseWords.offset + 8 * index)
    return UInt64(
      littleEndian: unsafe place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
    )
  }
}

/// Changes the words of the tail. Each store is an instruction of its own, in this order, since the process may end at any.
///
/// Safety: the caller keeps the segment mapped, as `Segment` says of its words.
@safe
struct ReuseLog {
  private let base: UnsafeMutableRawPointer

  init(base: UnsafeMutableRawPointer) { unsafe self.base = base }

  /// Begins: there are records with that sum from `start` on, in units of eight bytes.
  func begin(sum: UInt64, start: UInt64) {
    store(start, at: 4)
    store(sum, at: 0)
  }

  /// Announces a record that is about to be written where `former` was, and that replaces it if it is not 0.
  @inline(__always)
  func announce(at place: UInt64, replacing former: UInt64) {
    store(former, at: 2)
    store(place, at: 1)
  }

  /// Says that records replace others, up to a number.
  @inline(__always)
  func note(last: UInt64) { store(last, at: 3) }

  @inline(__always)
  func set(sum: UInt64) { store(sum, at: 0) }

  @inline(__always)
  private func store(_ value: UInt64, at index: Int) {
    let place = unsafe base + (ReuseWords.offset + 8 * index)
    unsafe place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(value.littleEndian, ordering: .releasing)
  }
}
