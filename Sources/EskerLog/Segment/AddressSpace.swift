internal import EskerPlatform
internal import Synchronization

/// Allocates the granules of the store's address space.
///
/// A segment takes a run of granules for as long as its object lives, which may be longer than its file is listed: a snapshot
/// identifies records by address, so an address must not be reused meanwhile. Thread safety: any thread.
final class AddressSpace: Sendable {
  /// The runs that are taken, sorted.
  private let taken = Guarded<[Range<Int>]>([], .leaf)
  private let pinned = Atomic<Int>(0)

  /// Bytes of segments that were merged and are still in use.
  var pinnedBytes: Int { pinned.load(ordering: .relaxed) }

  /// A run of granules, freed when this object is released.
  final class Lease: Sendable {
    let granules: Range<Int>
    private let space: AddressSpace
    /// Whether addresses in this run resolve to the segment that holds it. Relaxed, like the counts: nothing is read through it, and
    /// only one exchange finds it true.
    private let isInstalled = Atomic<Bool>(false)
    private let retiredBytes = Atomic<Int>(0)

    fileprivate init(_ granules: Range<Int>, of space: AddressSpace) {
      self.granules = granules
      self.space = space
    }

    /// Notes that addresses resolve to the segment from now on.
    func beginResolving() { isInstalled.store(true, ordering: .relaxed) }

    /// Notes that addresses are about to stop resolving; true only for the first call, whose caller uninstalls the segment.
    func endResolving() -> Bool { isInstalled.exchange(false, ordering: .relaxed) }

    /// Notes that the segment is no longer part of the store and is kept only for its current readers.
    func retire(bytes: Int) {
      space.pinned.add(bytes - retiredBytes.exchange(bytes, ordering: .relaxed), ordering: .relaxed)
    }

    deinit {
      space.pinned.subtract(retiredBytes.load(ordering: .relaxed), ordering: .relaxed)
      space.free(granules)
    }
  }

  /// Takes the first run of `count` free granules; nil if there is none. O(segments).
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

  /// Takes a given run of granules; nil if part of it is taken.
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
