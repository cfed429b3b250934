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
  static func head(of hash: UInt32, in table: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt32>> {
    let mask = unsafe table.load(as: UInt32.self)
    return unsafe table.assumingMemoryBound(to: Atomic<UInt32>.self) + (1 + Int(hash & mask))
  }

  /// The node of a key; the caller is pinned or holds the lock.
  @inlinable
  @inline(__always)
  func find(_ key: Key, _ hash: UInt64) -> UnsafeMutablePointer<Node<Key, Value>>? {
    let hash = UInt32(truncatingIfNeeded: hash)
    var slot = unsafe Self.head(of: hash, in: heads.load(ordering: .acquiring)).pointee.load(ordering: .acquiring)
    while slot != 0 {
      let node = unsafe node(slot)
      if unsafe node.pointee.hash == hash && node.pointee.key == key { return unsafe node }
      slot = unsafe node.pointee.next.load(ordering: .acquiring)
    }
    return nil
  }

  /// The slot of a key, 0 if it is not there; under the lock.
  @inlinable
  func slot(of key: Key, _ hash: UInt64) -> UInt32 {
    let hash = UInt32(truncatingIfNeeded: hash)
    var slot = unsafe Self.head(of: hash, in: heads.load(ordering: .relaxed)).pointee.load(ordering: .relaxed)
    while slot != 0 {
      let node = unsafe node(slot)
      if unsafe node.pointee.hash == hash && node.pointee.key == key { return slot }
      slot = unsafe node.pointee.next.load(ordering: .relaxed)
    }
    return 0
  }

  /// Makes a node reachable.
  @inlinable
  func link(_ slot: UInt32) {
    let node = unsafe node(slot)
    let head = unsafe Self.head(of: node.pointee.hash, in: heads.load(ordering: .relaxed))
    unsafe node.pointee.next.store(head.pointee.load(ordering: .relaxed), ordering: .relaxed)
    unsafe head.pointee.store(slot, ordering: .releasing)
  }

  /// Makes a node unreachable, by linking what points at it to `successor`.
  ///
  /// The node keeps its own link, for the readers that stand in it.
  @inlinable
  func unlink(_ slot: UInt32, for successor: UInt32) {
    var link = unsafe Self.head(of: node(slot).pointee.hash, in: heads.load(ordering: .relaxed))
    while true {
      let linked = unsafe link.pointee.load(ordering: .relaxed)
      if linked == slot { break }
      unsafe link = Self.nextLink(of: node(linked))
    }
    unsafe link.pointee.store(successor, ordering: .releasing)
  }

  /// The address of a node's own link, its first field.
  @inlinable
  static func nextLink(of node: UnsafeMutablePointer<Node<Key, Value>>) -> UnsafeMutablePointer<Atomic<UInt32>> {
    unsafe UnsafeMutableRawPointer(node).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  /// Doubles the heads when the chains hold more than one node each on average.
  @inlinable
  func growIfNeeded(_ epochs: EpochDomain) {
    let old = unsafe heads.load(ordering: .relaxed)
    let headCount = unsafe Int(old.load(as: UInt32.self)) + 1
    if unsafe state.pointee.count > headCount { rebuild(headCount: 2 * headCount, epochs) }
  }

  /// Links every node anew, in a table of `headCount` heads.
  @usableFromInline
  func rebuild(headCount: Int, _ epochs: EpochDomain) {
    let old = unsafe heads.load(ordering: .relaxed)
    let table = unsafe Self.makeTable(headCount: headCount)
    rebuilds.add(1, ordering: .sequentiallyConsistent)
    for queue in unsafe [state.pointee.small, state.pointee.main] {
      var slot = queue.oldest
      while slot != 0 {
        let node = unsafe node(slot)
        let head = unsafe Self.head(of: node.pointee.hash, in: table)
        unsafe node.pointee.next.store(head.pointee.load(ordering: .relaxed), ordering: .releasing)
        unsafe head.pointee.store(slot, ordering: .relaxed)
        slot = unsafe node.pointee.newer
      }
    }
    unsafe heads.store(table, ordering: .releasing)
    rebuilds.add(1, ordering: .sequentiallyConsistent)
    unsafe Self.free(old, epochs)
  }

  /// Frees memory that readers may still look at.
  static func free(_ memory: UnsafeMutableRawPointer, _ epochs: EpochDomain) {
    nonisolated(unsafe) let memory = unsafe memory
    epochs.retire { unsafe memory.deallocate() }
    epochs.collect()
  }
}
