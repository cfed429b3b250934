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
///
/// Safety: threads may share it, since its properties are constants: locks, atomics, a cell that only a holder of the lock
/// touches, and the addresses of tables and of directories of chunks. Those stay until no reader can have them any more;
/// see `Commons.free`.
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
  // The next three steer the policy. Relaxed: nothing is read through them, and a slightly old one serves as well.
  /// Numbers the periods in which uses are counted.
  @usableFromInline let period = Atomic<UInt32>(0)
  /// Numbers the arrivals in the small queue.
  @usableFromInline let arrivals = Atomic<UInt32>(0)
  /// For how many further arrivals a new entry's uses do not count.
  @usableFromInline let window = Atomic<UInt32>(0)
  /// Writers in flight in the low bits, above them how often anything was written; see `FillTicket`.
  ///
  /// A writer raises it before it changes the store, and lowers it with release afterwards. A ticket is acquired before the
  /// store is read, so one without writers in flight sees all that writers have changed. A fill compares it under the lock,
  /// under which writers raise it, and so finds every writer that entered before; one that enters later drops what was
  /// filled.
  @usableFromInline let fence = Atomic<UInt64>(0)
  /// Entries, entries that made room for others, and those found past their expiry; written under the lock. Counters:
  /// relaxed.
  @usableFromInline let population = Atomic<Int>(0)
  @usableFromInline let evictions = Atomic<Int>(0)
  @usableFromInline let expirations = Atomic<Int>(0)
  /// Safety: only a holder of the lock touches it. What runs during a change, of a queue or of the ghosts, looks at nodes and
  /// not at the state.
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
    // Nobody else has the shard any more, so that every node can go at once.
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
