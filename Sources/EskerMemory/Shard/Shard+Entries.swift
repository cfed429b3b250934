import EskerPlatform
import Synchronization

/// The state that all shards share.
@usableFromInline
struct Commons: ~Copyable, Sendable {
  @usableFromInline let pool: MemoryPool
  @usableFromInline let epochs = EpochDomain()
  private let freeing = Lock(.freeing)

  init(_ pool: MemoryPool) {
    self.pool = pool
  }

  /// Frees memory that readers may still be using.
  ///
  /// One shard at a time, under a lock that ThreadSanitizer can see, unlike the domain's own.
  ///
  /// Safety: the caller has made the memory unreachable and gives it up. It is freed once the pins are gone that were there
  /// at that time.
  @usableFromInline
  func free(_ memory: UnsafeMutableRawPointer) {
    nonisolated(unsafe) let memory = unsafe memory
    freeing.withLock {
      epochs.retire { unsafe memory.deallocate() }
      epochs.collect()
    }
  }
}

// Adding, changing and removing entries; under the lock.
extension Shard {
  @inlinable
  func drop(_ slot: UInt32, _ commons: borrowing Commons) {
    unlink(slot, for: nextLink(of: slot).current)
    if standing(slot).isInMain {
      take(slot, from: &state.main)
    } else {
      take(slot, from: &state.small)
    }
    notePopulation()
    commons.pool.count.giveBack(1)
    commons.pool.cost.giveBack(upkeep(slot).cost)
    retire(slot, commons.epochs)
  }

  /// Removes an expired entry.
  @inlinable
  func expire(_ slot: UInt32, _ commons: borrowing Commons) {
    expirations.store(expirations.load(ordering: .relaxed) + 1, ordering: .relaxed)
    drop(slot, commons)
  }

  /// Evicts the entry that the policy chooses; returns its former slot, or 0 if there is none.
  @inlinable
  func evict(_ commons: borrowing Commons) -> UInt32 {
    let slot = victim()
    if slot == 0 { return 0 }
    haunt(slot)
    evictions.store(evictions.load(ordering: .relaxed) + 1, ordering: .relaxed)
    drop(slot, commons)
    return slot
  }

  /// Adds a node for which the budgets have been drawn.
  @inlinable
  func enter(_ node: consuming Node<Key, Value>, cost: Int, version: UInt64, _ commons: borrowing Commons) {
    let inMain = Standing(bits: node.standing.load(ordering: .relaxed)).isInMain
    let slot = place(node, cost: cost, version: version, commons)
    if inMain {
      push(slot, to: &state.main)
    } else {
      push(slot, to: &state.small)
    }
    notePopulation()
    link(slot)
    growIfNeeded(commons)
    updateWindow()
  }

  /// Publishes the number of entries to threads without the lock.
  @inlinable
  func notePopulation() {
    population.store(state.count, ordering: .relaxed)
  }

  /// Replaces a node by one with the same key; the difference in cost has been drawn.
  @inlinable
  func substitute(
    _ slot: UInt32,
    by node: consuming Node<Key, Value>,
    cost: Int,
    version: UInt64,
    _ commons: borrowing Commons
  ) {
    let old = standing(slot)
    let hash = node.hash
    let new = place(node, cost: cost, version: version, commons)
    nextLink(of: new).prepare(nextLink(of: slot).current)
    if old.isInMain {
      replace(slot, by: new, in: &state.main)
    } else {
      replace(slot, by: new, in: &state.small)
    }
    unlink(slot, for: Link(slot: new, hash: hash))
    retire(slot, commons.epochs)
  }
}
