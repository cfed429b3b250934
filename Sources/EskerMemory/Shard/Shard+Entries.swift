import EskerPlatform
import Synchronization

/// What all shards share.
@usableFromInline
struct Commons: ~Copyable, Sendable {
  @usableFromInline let count: Budget
  @usableFromInline let cost: Budget
  @usableFromInline let epochs = EpochDomain()

  init(_ limits: MemoryLimits) {
    count = Budget(limit: limits.count)
    cost = Budget(limit: limits.cost)
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
    commons.count.giveBack(1)
    unsafe commons.cost.giveBack(node(slot).pointee.cost)
    retire(slot, commons.epochs)
  }

  /// Takes out the entry that the policy can spare best; false if there is none.
  @inlinable
  func evict(_ commons: borrowing Commons) -> Bool {
    let slot = victim()
    if slot == 0 { return false }
    haunt(slot)
    unsafe state.pointee.evictions += 1
    drop(slot, commons)
    return true
  }

  /// Enters a node for which the budgets have been drawn.
  @inlinable
  func enter(_ node: consuming Node<Key, Value>, _ commons: borrowing Commons) {
    let inMain = Standing(bits: node.standing.load(ordering: .relaxed)).isInMain
    let slot = place(node, commons.epochs)
    if inMain { unsafe push(slot, to: &state.pointee.main) } else { unsafe push(slot, to: &state.pointee.small) }
    link(slot)
    growIfNeeded(commons.epochs)
    updateWindow()
  }

  /// Puts a node in the place of one with the same key; the difference in cost has been drawn.
  @inlinable
  func substitute(_ slot: UInt32, by node: consuming Node<Key, Value>, _ commons: borrowing Commons) {
    let old = standing(slot)
    let hash = node.hash
    let new = place(node, commons.epochs)
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
