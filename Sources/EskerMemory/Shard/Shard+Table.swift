import EskerPlatform
import Synchronization

// The chains.
//
// Safety: `heads` holds the memory of a table from `init` to `deinit`. Only `rebuild` gives up a table, after replacing it
// in `heads`, and it stays for readers as `ShardContext.free` explains.
extension Shard {
  /// The table for a reader without the lock.
  @inlinable
  @inline(__always)
  var followedTable: HeadTable { unsafe HeadTable(heads.load(ordering: .acquiring)) }

  /// The table for a holder of the lock.
  @inlinable var table: HeadTable { unsafe HeadTable(heads.load(ordering: .relaxed)) }

  /// The slot of a key, or 0; the caller must be pinned or hold the lock.
  @inlinable
  @inline(__always)
  func slot(of key: Key, _ hash: UInt32) -> UInt32 {
    var link = followedTable.head(of: hash).followed
    while link.slot != 0 {
      if link.fits(hash) {
        let node = node(link.slot)
        if node.hash == hash && node.key == key { break }
      }
      link = nextLink(of: link.slot).followed
    }
    return link.slot
  }

  /// Makes a node reachable; under the lock.
  @inlinable
  func link(_ slot: UInt32) {
    let hash = node(slot).hash
    let head = table.head(of: hash)
    nextLink(of: slot).prepare(head.current)
    head.publish(NodeLink(slot: slot, hash: hash))
  }

  /// Makes a node unreachable, by redirecting the link to it to `successor`; under the lock.
  ///
  /// The node keeps its own link, for readers currently at the node.
  @inlinable
  func unlink(_ slot: UInt32, for successor: NodeLink) {
    var link = table.head(of: node(slot).hash)
    while true {
      let linked = link.current.slot
      if linked == slot { break }
      link = nextLink(of: linked)
    }
    link.publish(successor)
  }

  /// Doubles the number of heads when the chains hold more than one node each on average.
  @inlinable
  func growIfNeeded(_ context: borrowing ShardContext) {
    let headCount = table.headCount
    if state.count > headCount { rebuild(headCount: 2 * headCount, context) }
  }

  /// Relinks every node in a table of `headCount` heads.
  ///
  /// A reader may stray from one chain into another and miss the node it is looking for. So `rebuilds` is raised before and
  /// after, and every new link is released: a reader that followed one acquired it, and finds that `rebuilds` is odd or has
  /// changed since it began.
  @usableFromInline
  func rebuild(headCount: Int, _ context: borrowing ShardContext) {
    let old = table
    let new = HeadTable.make(headCount: headCount)
    rebuilds.wrappingAdd(1, ordering: .sequentiallyConsistent)
    for queue in [state.small, state.main] {
      var slot = queue.oldest
      while slot != 0 {
        let hash = node(slot).hash
        let head = new.head(of: hash)
        nextLink(of: slot).publish(head.current)
        head.prepare(NodeLink(slot: slot, hash: hash))
        slot = upkeep(slot).newer
      }
    }
    unsafe heads.store(new.memory, ordering: .releasing)
    rebuilds.wrappingAdd(1, ordering: .sequentiallyConsistent)
    unsafe context.free(old.memory)
  }
}
