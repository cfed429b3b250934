import EskerPlatform
import Synchronization

/// A part of the cache: the entries whose hashes fall on it, the two queues they wait in, and one lock for all writes.
///
///     heads --> chain of nodes, linked by `next`     readers follow these without the lock, pinned to an epoch
///     slots     chunks of nodes that never move      a slot is reused once no reader can stand in its old node
///     queues    small and main, linked by number     under the lock
///
/// Readers see a chain change by single stores, so that they find every entry that is there during the whole of their search;
/// only while the heads are doubled can they miss one, which `rebuilds` tells them.
@usableFromInline
@safe
struct Shard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let lock = Lock(.shard)
  /// Odd while the chains are being rebuilt.
  @usableFromInline let rebuilds = Atomic<UInt64>(0)
  /// A table: the mask in its first word, then the first slots of the chains.
  @usableFromInline let heads: Atomic<UnsafeMutableRawPointer>
  /// Addresses of the chunks.
  @usableFromInline let chunks: Atomic<UnsafeMutableRawPointer>
  /// Numbers the periods in which uses are counted.
  @usableFromInline let period = Atomic<UInt32>(0)
  /// Numbers the arrivals in the small queue.
  @usableFromInline let arrivals = Atomic<UInt32>(0)
  /// For how many further arrivals a new entry's uses do not count.
  @usableFromInline let window = Atomic<UInt32>(0)
  /// Writers in flight in the low bits, above them how often anything was written; see `FillTicket`.
  @usableFromInline let fence = Atomic<UInt64>(0)
  /// Entries, entries that went to make room, and such that were found past their expiry; written under the lock.
  @usableFromInline let population = Atomic<Int>(0)
  @usableFromInline let evictions = Atomic<Int>(0)
  @usableFromInline let expirations = Atomic<Int>(0)
  // Freed with the only owner; only touched with the lock held.
  @usableFromInline let state: UnsafeMutablePointer<ShardState>

  @usableFromInline
  init() {
    let table = unsafe Self.makeTable(headCount: 8)
    unsafe heads = Atomic(table)
    let directory = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<UInt>.stride,
      alignment: 8
    )
    unsafe chunks = Atomic(directory)
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: ShardState())
  }

  deinit {
    // Nobody else has the shard any more, so that every node can go at once.
    for queue in unsafe [state.pointee.small, state.pointee.main, state.pointee.retired] {
      var slot = queue.oldest
      while slot != 0 {
        unsafe node(slot).deinitialize(count: 1)
        slot = unsafe upkeep(slot).pointee.newer
      }
    }
    let directory = unsafe chunks.load(ordering: .relaxed).assumingMemoryBound(
      to: UnsafeMutableRawPointer.self
    )
    for chunk in unsafe 0..<state.pointee.chunkCount { unsafe directory[chunk].deallocate() }
    unsafe directory.deallocate()
    unsafe heads.load(ordering: .relaxed).deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }
}

/// What a shard's writers keep for themselves.
@usableFromInline
struct ShardState: ~Copyable {
  @usableFromInline var small = Queue()
  @usableFromInline var main = Queue()
  /// Nodes that are out of their chain but may still be read; oldest first, linked by `newer`.
  @usableFromInline var retired = Queue()
  @usableFromInline var freeSlot: UInt32 = 0
  /// Slot 0 stands for none.
  @usableFromInline var slotCount: UInt32 = 1
  @usableFromInline var chunkCount = 0
  @usableFromInline var chunkRoom = 1

  /// The part of the entries that the small queue may be; follows the ghosts.
  @usableFromInline var smallShare = 0.1
  @usableFromInline var insertionsInPeriod = 0
  @usableFromInline var ghosts = Ghosts(reach: 0)

  /// Entries of the caches that share the limits, as many as are taken to fall to this shard.
  @usableFromInline var others = 0
  @usableFromInline var lots: UInt64 = 0

  @usableFromInline init() {}

  @usableFromInline var count: Int { small.count + main.count }

  /// The entries that the policy weighs against each other.
  @usableFromInline var rivals: Int { small.count + main.count + others }
}

/// Nodes linked by their slots' numbers.
@usableFromInline
struct Queue {
  @usableFromInline var newest: UInt32 = 0
  @usableFromInline var oldest: UInt32 = 0
  @usableFromInline var count = 0

  @inlinable init() {}
}
