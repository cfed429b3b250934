import Synchronization

/// A sum with an upper limit that all shards draw from.
///
/// One sum for all rather than a share per shard: so a cache for a thousand entries holds any thousand, and a value that
/// costs more than a shard's share is still admitted.
///
/// Relaxed: the sum itself is always right, since it only changes atomically, and nothing is read through it. The shards'
/// locks synchronise the entries.
@usableFromInline
struct Budget: ~Copyable, Sendable {
  private let limitAmount: Atomic<Int>
  private let usedAmount = Atomic<Int>(0)

  init(limit: Int?) {
    limitAmount = Atomic(limit ?? .max)
  }

  /// The limit; `Int.max` for none.
  @usableFromInline
  var limit: Int { limitAmount.load(ordering: .relaxed) }

  /// Lowers the limit; false if it is already as low. What is drawn beyond it stays drawn until it is given back.
  func lower(to limit: Int) -> Bool {
    limitAmount.min(limit, ordering: .relaxed).oldValue > limit
  }

  /// The amount drawn; never above the limit, unless that has just been lowered.
  @usableFromInline
  var used: Int { usedAmount.load(ordering: .relaxed) }

  /// Draws `amount` if the limit allows it.
  @usableFromInline
  func draw(_ amount: Int) -> Bool {
    var used = usedAmount.load(ordering: .relaxed)
    while amount <= limit - used {
      let (exchanged, original) = usedAmount.weakCompareExchange(
        expected: used,
        desired: used + amount,
        ordering: .relaxed
      )
      if exchanged { return true }
      used = original
    }
    return false
  }

  @usableFromInline
  func giveBack(_ amount: Int) {
    usedAmount.wrappingSubtract(amount, ordering: .relaxed)
  }
}
