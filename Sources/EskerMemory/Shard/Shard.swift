import EskerPlatform
import Synchronization

/// A part of the cache: the entries whose hashes map to it, their two queues, and one lock for all writes.
///
///     heads --> chain of nodes, linked by `next`     readers follow these without the lock, pinned to an epoch
///     slots     chunks of nodes that never move      a slot is reused once no reader can be using its old node
///     queues    small and main, linked by number     under the lock
///
/// Readers see each change to a chain as a single store, so they find every entry that is present during their whole search;
/// they can miss one only while the number of heads is being doubled, which `rebuilds` reveals.
///
/// Safety: threads may share it, since its properties are constants: locks, atomics, a cell that only a holder of the lock
/// touches, and the addresses of tables and of directories of chunks. Those stay until no reader can have them any more; see
/// `ShardContext.free`.
@usableFromInline
@safe
struct Shard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let lock = Lock(.shard)
  /// Odd while the chains are being rebuilt; see `rebuild` for the orderings.
  @usableFromInline let rebuilds = Atomic<UInt64>(0)
  /// A `HeadTable`. Published with release, acquired by readers; relaxed under the lock, where it changes.
  @usableFromInline let heads: Atomic<UnsafeMutableRawPointer>
  /// Addresses of the chunks; see `chunk(of:)` for the orderings.
  @usableFromInline let chunks: Atomic<UnsafeMutableRawPointer>
  // The next three drive the policy. Relaxed: nothing is read through them, and slightly stale values do no harm.
  /// The number of the current period in which uses are counted.
  @usableFromInline let period = Atomic<UInt32>(0)
  /// The number of arrivals in the small queue.
  @usableFromInline let arrivals = Atomic<UInt32>(0)
  /// The number of further arrivals during which a new entry's uses do not count.
  @usableFromInline let window = Atomic<UInt32>(0)
  /// Keeps fills and writes of the store apart.
  @usableFromInline let fence = WriteFence()
  /// Entries held, evicted and found to be expired; written under the lock. Counters: relaxed.
  @usableFromInline let population = Atomic<Int>(0)
  @usableFromInline let evictions = Atomic<Int>(0)
  @usableFromInline let expirations = Atomic<Int>(0)
  /// Safety: only a holder of the lock touches it. What runs during a change, of a queue or of the ghosts, looks at nodes
  /// and not at the state.
  @usableFromInline let cell = unsafe HeapCell(ShardState())

  @inlinable
  var state: ShardState {
    @inline(__always) _read { yield cell.value }
    @inline(__always) nonmutating _modify { yield &cell.value }
  }

  @usableFromInline
  init() {
    unsafe heads = Atomic(HeadTable.make(headCount: 8).memory)
    unsafe chunks = Atomic(.allocate(byteCount: MemoryLayout<UInt>.stride, alignment: 8))
  }

  deinit {
    // Nobody else has the shard any more, so all nodes can be destroyed at once.
    for queue in [state.small, state.main, state.retired] {
      var slot = queue.oldest
      while slot != 0 {
        unsafe node(slot).pointer.deinitialize(count: 1)
        slot = upkeep(slot).newer
      }
    }
    freeChunks()
    unsafe heads.load(ordering: .relaxed).deallocate()
  }
}

/// The state of a shard that only writers use.
@usableFromInline
struct ShardState: ~Copyable {
  @usableFromInline var small = ShardQueue()
  @usableFromInline var main = ShardQueue()
  /// Nodes that have left their chain but may still be read; oldest first, linked by `newer`.
  @usableFromInline var retired = ShardQueue()
  @usableFromInline var freeSlot: UInt32 = 0
  /// Slot 0 stands for none.
  @usableFromInline var slotCount: UInt32 = 1
  @usableFromInline var chunkCount = 0
  @usableFromInline var chunkRoom = 1

  /// The small queue's target share of the entries; adjusted by the ghosts.
  @usableFromInline var smallShare = 0.1
  @usableFromInline var insertionsInPeriod = 0
  @usableFromInline var ghosts = GhostQueue(reach: 0)

  /// This shard's estimated number of entries in the other caches that share the limits.
  @usableFromInline var others = 0
  @usableFromInline var lots: UInt64 = 0

  @usableFromInline init() {}

  @usableFromInline var count: Int { small.count + main.count }

  /// The number of entries that the policy ranks against each other.
  @usableFromInline var rivals: Int { small.count + main.count + others }
}

/// A list of nodes, linked by slot numbers.
@usableFromInline
struct ShardQueue {
  @usableFromInline var newest: UInt32 = 0
  @usableFromInline var oldest: UInt32 = 0
  @usableFromInline var count = 0

  @inlinable init() {}
}
