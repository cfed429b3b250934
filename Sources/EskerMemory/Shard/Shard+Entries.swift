import EskerPlatform
import Synchronization

/// What all shards share.
@usableFromInline
struct Commons: ~Copyable, Sendable {
  @usableFromInline let pool: MemoryPool
  @usableFromInline let epochs = EpochDomain()
  private let freeing = Lock(.freeing)

  init(_ pool: MemoryPool) {
    self.pool = pool
  }

  /// Frees memory that readers may still look at.
  ///
  /// One shard at a time, under a lock that ThreadSanitizer can see, unlike the domain's own.
  @usableFromInline
  func free(_ memory: UnsafeMutableRawPointer) {
    nonisolated(unsafe) let memory = unsafe memory
    freeing.withLock {
      epochs.retire { unsafe memory.deallocate() }
      epochs.collect()
    }
  }
}

// Entries come, change and go; under the lock.
extension Shard {
  /// Takes an entry out.
  @inlinable
  func drop(_ slot: UInt32, _ commons: borrowing Commons) {
    unsafe unlink(slot, for: Link(bits: nextLink(of: slot).pointee.load(ordering: .relaxed)))
    if standing(slot).isInMain {
      unsafe take(slot, from: &state.pointee.main)
    } else {
      unsafe take(slot, from: &state.pointee.small)
    }
    notePopulation()
    commons.pool.count.giveBack(1)
    unsafe commons.pool.cost.giveBack(upkeep(slot).pointee.cost)
    retire(slot, commons.epochs)
  }

  /// Takes out an entry whose time has come.
  @inlinable
  func expire(_ slot: UInt32, _ commons: borrowing Commons) {
    expirations.store(expirations.load(ordering: .relaxed) + 1, ordering: .relaxed)
    drop(slot, commons)
  }

  /// Takes out the entry that the policy can spare best; the slot it was in, 0 if there is none.
  @inlinable
  func evict(_ commons: borrowing Commons) -> UInt32 {
    let slot = victim()
    if slot == 0 { return 0 }
    haunt(slot)
    evictions.store(evictions.load(ordering: .relaxed) + 1, ordering: .relaxed)
    drop(slot, commons)
    return slot
  }

  /// Enters a node for which the budgets have been drawn.
  @inlinable
  func enter(_ node: consuming Node<Key, Value>, cost: Int, _ commons: borrowing Commons) {
    let inMain = Standing(bits: node.standing.load(ordering: .relaxed)).isInMain
    let slot = place(node, cost: cost, commons)
    if inMain {
      unsafe push(slot, to: &state.pointee.main)
    } else {
      unsafe push(slot, to: &state.pointee.small)
    }
    notePopulation()
    link(slot)
    growIfNeeded(commons)
    updateWindow()
  }

  /// Tells those who do not hold the lock.
  @inlinable
  func notePopulation() {
    unsafe population.store(state.pointee.count, ordering: .relaxed)
  }

  /// Puts a node in the place of one with the same key; the difference in cost has been drawn.
  @inlinable
  func substitute(
    _ slot: UInt32,
    by node: consuming Node<Key, Value>,
    cost: Int,
    _ commons: borrowing Commons
  ) {
    let old = standing(slot)
    let hash = node.hash
    let new = place(node, cost: cost, commons)
    let next = unsafe nextLink(of: slot).pointee.load(ordering: .relaxed)
    unsafe nextLink(of: new).pointee.store(next, ordering: .relaxed)
    if old.isInMain {
      unsafe replace(slot, by: new, in: &state.pointee.main)
    } else {
      unsafe replace(slot, by: new, in: &state.pointee.small)
    }
    unlink(slot, for: Link(slot: new, hash: hash))
    retire(slot, commons.epochs)
  }
}
