import Synchronization

// The two queues.
extension Shard {
  /// Adds a node as the newest of a queue.
  @inlinable
  func push(_ slot: UInt32, to queue: inout ShardQueue) {
    upkeep(slot).newer = 0
    upkeep(slot).older = queue.newest
    if queue.newest == 0 {
      queue.oldest = slot
    } else {
      upkeep(queue.newest).newer = slot
    }
    queue.newest = slot
    queue.count += 1
  }

  @inlinable
  func take(_ slot: UInt32, from queue: inout ShardQueue) {
    let newer = upkeep(slot).newer
    let older = upkeep(slot).older
    if newer == 0 { queue.newest = older } else { upkeep(newer).older = older }
    if older == 0 { queue.oldest = newer } else { upkeep(older).newer = newer }
    queue.count -= 1
  }

  /// Gives a node's place in its queue to another node.
  @inlinable
  func replace(_ slot: UInt32, by other: UInt32, in queue: inout ShardQueue) {
    let newer = upkeep(slot).newer
    let older = upkeep(slot).older
    upkeep(other).newer = newer
    upkeep(other).older = older
    if newer == 0 { queue.newest = other } else { upkeep(newer).older = other }
    if older == 0 { queue.oldest = other } else { upkeep(older).newer = other }
  }

  @inlinable
  func accessState(_ slot: UInt32) -> AccessState { node(slot).accessState }
}
