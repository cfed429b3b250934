import EskerPlatform
import Synchronization

// The chains.
extension Shard {
  /// Room for the mask and `headCount` heads, a power of two, all of them empty.
  @usableFromInline
  static func makeTable(headCount: Int) -> UnsafeMutableRawPointer {
    let table = UnsafeMutableRawPointer.allocate(byteCount: 4 * (1 + headCount), alignment: 8)
    let words = unsafe table.bindMemory(to: UInt32.self, capacity: 1 + headCount)
    unsafe words.initialize(repeating: 0, count: 1 + headCount)
    unsafe words[0] = UInt32(headCount - 1)
    return unsafe table
  }

  /// The chain of `hash` in `table`; `Atomic<UInt32>` has the layout of `UInt32`.
  @inlinable
  @inline(__always)
  static func head(of hash: UInt32, in table: UnsafeMutableRawPointer) -> UnsafeMutablePointer<
    Atomic<UInt32>
  > {
    let mask = unsafe table.load(as: UInt32.self)
    return unsafe table.assumingMemoryBound(to: Atomic<UInt32>.self) + (1 + Int(hash & mask))
  }

  /// The slot of a key, 0 if it is not there; the caller is pinned or holds the lock.
  @inlinable
  @inline(__always)
  func slot(of key: Key, _ hash: UInt32) -> UInt32 {
    var link = unsafe Link(
      bits: Self.head(of: hash, in: heads.load(ordering: .acquiring)).pointee.load(
        ordering: .acquiring
      )
    )
    while link.slot != 0 {
      if link.fits(hash) {
        let node = unsafe node(link.slot)
        if unsafe node.pointee.hash == hash && node.pointee.key == key { break }
      }
      link = unsafe Link(bits: nextLink(of: link.slot).pointee.load(ordering: .acquiring))
    }
    return link.slot
  }

  /// Makes a node reachable; under the lock.
  @inlinable
  func link(_ slot: UInt32) {
    let hash = unsafe node(slot).pointee.hash
    let head = unsafe Self.head(of: hash, in: heads.load(ordering: .relaxed))
    unsafe nextLink(of: slot).pointee.store(
      head.pointee.load(ordering: .relaxed),
      ordering: .relaxed
    )
    unsafe head.pointee.store(Link(slot: slot, hash: hash).bits, ordering: .releasing)
  }

  /// Makes a node unreachable, by making what points at it point at `successor`; under the lock.
  ///
  /// The node keeps its own link, for the readers that stand in it.
  @inlinable
  func unlink(_ slot: UInt32, for successor: Link) {
    var link = unsafe Self.head(of: node(slot).pointee.hash, in: heads.load(ordering: .relaxed))
    while true {
      let linked = unsafe Link(bits: link.pointee.load(ordering: .relaxed)).slot
      if linked == slot { break }
      unsafe link = nextLink(of: linked)
    }
    unsafe link.pointee.store(successor.bits, ordering: .releasing)
  }

  /// Doubles the heads when the chains hold more than one node each on average.
  @inlinable
  func growIfNeeded(_ commons: borrowing Commons) {
    let old = unsafe heads.load(ordering: .relaxed)
    let headCount = unsafe Int(old.load(as: UInt32.self)) + 1
    if unsafe state.pointee.count > headCount { rebuild(headCount: 2 * headCount, commons) }
  }

  /// Links every node anew, in a table of `headCount` heads.
  @usableFromInline
  func rebuild(headCount: Int, _ commons: borrowing Commons) {
    let old = unsafe heads.load(ordering: .relaxed)
    let table = unsafe Self.makeTable(headCount: headCount)
    rebuilds.wrappingAdd(1, ordering: .sequentiallyConsistent)
    for queue in unsafe [state.pointee.small, state.pointee.main] {
      var slot = queue.oldest
      while slot != 0 {
        let hash = unsafe node(slot).pointee.hash
        let head = unsafe Self.head(of: hash, in: table)
        unsafe nextLink(of: slot).pointee.store(
          head.pointee.load(ordering: .relaxed),
          ordering: .releasing
        )
        unsafe head.pointee.store(Link(slot: slot, hash: hash).bits, ordering: .relaxed)
        slot = unsafe upkeep(slot).pointee.newer
      }
    }
    unsafe heads.store(table, ordering: .releasing)
    rebuilds.wrappingAdd(1, ordering: .sequentiallyConsistent)
    unsafe commons.free(old)
  }
}
