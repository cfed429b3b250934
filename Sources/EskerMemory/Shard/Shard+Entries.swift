import EskerPlatform
import Synchronization

/// The state that all shards share.
@usableFromInline
struct ShardContext: ~Copyable, Sendable {
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
  func drop(_ slot: UInt32, _ context: borrowing ShardContext) {
    unlink(slot, for: nextLink(of: slot).current)
    if accessState(slot).isInMain {
      take(slot, from: &state.main)
    } else {
      take(slot, from: &state.small)
    }
    notePopulation()
    context.pool.count.giveBack(1)
    context.pool.cost.giveBack(upkeep(slot).cost)
    retire(slot, context.epochs)
  }

  /// Removes an expired entry.
  @inlinable
  func expire(_ slot: UInt32, _ context: borrowing ShardContext) {
    expirations.store(expirations.load(ordering: .relaxed) + 1, ordering: .relaxed)
    drop(slot, context)
  }

  /// Evicts the entry that the policy chooses; returns its former slot, or 0 if there is none.
  @inlinable
  func evict(_ context: borrowing ShardContext) -> UInt32 {
    let slot = victim()
    if slot == 0 { return 0 }
    rememberEviction(slot)
    evictions.store(evictions.load(ordering: .relaxed) + 1, ordering: .relaxed)
    drop(slot, context)
    return slot
  }

  /// Adds a node for which the budgets have been drawn.
  @inlinable
  func enter(_ node: consuming Node<Key, Value>, cost: Int, version: UInt64, _ context: borrowing ShardContext) {
    let inMain = AccessState(bits: node.accessState.load(ordering: .relaxed)).isInMain
    let slot = place(node, cost: cost, version: version, context)
    if inMain {
      push(slot, to: &state.main)
    } else {
      push(slot, to: &state.small)
    }
    notePopulation()
    link(slot)
    growIfNeeded(context)
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
    _ context: borrowing ShardContext
  ) {
    let old = accessState(slot)
    let hash = node.hash
    let new = place(node, cost: cost, version: version, context)
    nextLink(of: new).prepare(nextLink(of: slot).current)
    if old.isInMain {
      replace(slot, by: new, in: &state.main)
    } else {
      replace(slot, by: new, in: &state.small)
    }
    unlink(slot, for: NodeLink(slot: new, hash: hash))
    retire(slot, context.epochs)
  }
}
