internal import EskerPlatform
internal import Synchronization

/// Which granules of the store's address space are taken.
///
/// A segment takes a run of them for as long as its object lives, which may be longer than its file is listed: a snapshot
/// knows records by their addresses, so none of them may mean another record meanwhile.
final class AddressSpace: Sendable {
  /// The runs that are taken, in order.
  private let taken = Guarded<[Range<Int>]>([], .leaf)
  private let pinned = Atomic<Int>(0)

  /// Bytes of segments that were merged away and are still in use.
  var pinnedBytes: Int { pinned.load(ordering: .relaxed) }

  /// A run of granules, free again when this object goes.
  final class Lease: Sendable {
    let granules: Range<Int>
    private let space: AddressSpace
    /// Whether addresses of this run lead to the segment that holds it. Relaxed, as the counts: nothing is read through it, and only
    /// one exchange finds it true.
    private let isInstalled = Atomic<Bool>(false)
    private let retiredBytes = Atomic<Int>(0)

    fileprivate init(_ granules: Range<Int>, of space: AddressSpace) {
      self.granules = granules
      self.space = space
    }

    /// Notes that addresses lead to the segment from now on.
    func beginResolving() { isInstalled.store(true, ordering: .relaxed) }

    /// Notes that they are to lead there no more; false if that was noted before: whoever gets true takes them away, once.
    func endResolving() -> Bool { isInstalled.exchange(false, ordering: .relaxed) }

    /// Says that the segment is not part of the store any more and is only kept for those who still read it.
    func retire(bytes: Int) {
      space.pinned.add(bytes - retiredBytes.exchange(bytes, ordering: .relaxed), ordering: .relaxed)
    }

    deinit {
      space.pinned.subtract(retiredBytes.load(ordering: .relaxed), ordering: .relaxed)
      space.free(granules)
    }
  }

  /// The first run of `count` free granules; nil when there is none. O(segments).
  func take(_ count: Int) -> Lease? {
    let start = taken.withLock { list -> Int? in
      var start = 0
      var position = 0
      while position < list.count, list[position].lowerBound - start < count {
        start = list[position].upperBound
        position += 1
      }
      guard start + count <= GranuleTable.capacity else { return nil }
      list.insert(start..<start + count, at: position)
      return start
    }
    return start.map { Lease($0..<$0 + count, of: self) }
  }

  /// A certain run of granules; nil when a part of it is taken.
  func take(_ granules: Range<Int>) -> Lease? {
    let isFree = taken.withLock { list -> Bool in
      let position = list.firstIndex { $0.upperBound > granules.lowerBound } ?? list.count
      guard position == list.count || list[position].lowerBound >= granules.upperBound else { return false }
      list.insert(granules, at: position)
      return true
    }
    return isFree ? Lease(granules, of: self) : nil
  }

  private func free(_ granules: Range<Int>) {
    taken.withLock { list in
      if let position = list.firstIndex(of: granules) { list.remove(at: position) }
    }
  }
}
