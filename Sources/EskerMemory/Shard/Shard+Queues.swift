import Synchronization

// The two queues.
extension Shard {
  /// Adds a node as the newest of a queue.
  @inlinable
  func push(_ slot: UInt32, to queue: inout Queue) {
    unsafe upkeep(slot).pointee.newer = 0
    unsafe upkeep(slot).pointee.older = queue.newest
    if queue.newest == 0 {
      queue.oldest = slot
    } else {
      unsafe self.upkeep(queue.newest).pointee.newer = slot
    }
    queue.newest = slot
    queue.count += 1
  }

  /// Takes a node out of its queue.
  @inlinable
  func take(_ slot: UInt32, from queue: inout Queue) {
    let newer = unsafe upkeep(slot).pointee.newer
    let older = unsafe upkeep(slot).pointee.older
    if newer == 0 { queue.newest = older } else { unsafe self.upkeep(newer).pointee.older = older }
    if older == 0 { queue.oldest = newer } else { unsafe self.upkeep(older).pointee.newer = newer }
    queue.count -= 1
  }

  /// Gives a node's place in its queue to another node.
  @inlinable
  func replace(_ slot: UInt32, by other: UInt32, in queue: inout Queue) {
    let newer = unsafe upkeep(slot).pointee.newer
    let older = unsafe upkeep(slot).pointee.older
    unsafe upkeep(other).pointee.newer = newer
    unsafe upkeep(other).pointee.older = older
    if newer == 0 { queue.newest = other } else { unsafe upkeep(newer).pointee.older = other }
    if older == 0 { queue.oldest = other } else { unsafe upkeep(older).pointee.newer = other }
  }

  @inlinable
  func standing(_ slot: UInt32) -> Standing {
    unsafe Standing(bits: node(slot).pointee.standing.load(ordering: .relaxed))
  }

  /// Overwrites what a reader may just have noted; one lost use does not matter.
  @inlinable
  func setStanding(_ slot: UInt32, _ standing: Standing) {
    unsafe node(slot).pointee.standing.store(standing.bits, ordering: .relaxed)
  }
}
