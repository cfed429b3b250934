import EskerPlatform
import Synchronization

/// A change to one entry of a cache, or to all.
public enum MemoryChange<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A value was stored; `before` is the one it replaced.
  case put(key: Key, before: Value?, after: Value)
  /// A value was removed by the user of the cache.
  case removed(key: Key, before: Value)
  /// A value was found to be expired and removed.
  case expired(key: Key, before: Value)
  /// A value was evicted to make room, or was dropped because its replacement could not be kept.
  case evicted(key: Key, before: Value)
  /// All entries were removed.
  case removedAll
}

// While there is a listener, writers hold `notifying` around their shard's lock, so that all changes have one order. A writer
// that learns of the listener only under the shard's lock first releases that; so without a listener the only cost is one
// check.
extension MemoryCache {
  /// Calls `listener` for every change from now on; nil ends that.
  ///
  /// It is called under locks, in the order of the changes: it must be quick, must not call the cache, and must not release
  /// the last reference to anything whose `deinit` does. Writers then wait for each other, whatever their shard. Evictions
  /// that make room in another cache of the pool are not reported.
  public func observe(_ listener: (@Sendable (MemoryChange<Key, Value>) -> Void)?) {
    var former = listener
    notifying.withLock {
      // Safety: `notifying` is held, which guards the listener.
      unsafe swap(&former, &self.listener)
      isObserved.store(listener != nil, ordering: .relaxed)
      // Writers that began without the listener end before this returns.
      for shard in 0...shards.mask { shards[shard].pointee.lock.withLock {} }
    }
    withExtendedLifetime(former) {}
  }

  /// Called under the lock of a shard: takes `notifying` as well.
  @usableFromInline @inline(never)
  func lockForNotifying(_ shard: ShardHandle<Key, Value>) {
    shard.pointee.lock.unlock()
    notifying.lock()
    shard.pointee.lock.lock()
  }
}

// Under `notifying`, and the lock of the shard concerned. Not inlined, to keep these paths out of writes without a listener.
extension MemoryCache {
  /// Makes `entry` the one for its key, like `keep`, and notifies the listener of the outcome.
  @usableFromInline @inline(never)
  func storeNotifying(
    _ entry: MemoryEntry<Value>,
    _ key: Key,
    _ hash: UInt64,
    _ slot: UInt32,
    in shard: ShardHandle<Key, Value>,
    now: Int64,
    _ garbage: inout CacheGarbage<Key, Value>
  ) -> Bool {
    var before: Value?
    var isOver = false
    if slot != 0 {
      let node = shard.pointee.node(slot)
      before = node.value
      isOver = node.expiry <= now
    }
    let isKept = keep(entry, key, hash, slot, in: shard, now: now, &garbage)
    if let old = before, isOver {
      notify(.expired(key: key, before: old))
      before = nil
    }
    if isKept {
      notify(.put(key: key, before: before, after: entry.value))
    } else if let before {
      notify(entry.expiry <= now ? .removed(key: key, before: before) : .evicted(key: key, before: before))
    }
    return isKept
  }

  /// Removes the entry in a slot, and notifies the listener.
  @usableFromInline @inline(never)
  func dropNotifying(_ slot: UInt32, in shard: ShardHandle<Key, Value>, now: Int64) {
    let node = shard.pointee.node(slot)
    let key = node.key
    let value = node.value
    notify(node.expiry <= now ? .expired(key: key, before: value) : .removed(key: key, before: value))
    shard.pointee.drop(slot, context)
  }

  /// Notifies the listener of an entry that has just been evicted, whose slot is not reused yet.
  @usableFromInline @inline(never)
  func notifyEviction(_ slot: UInt32, of shard: ShardHandle<Key, Value>) {
    let node = shard.pointee.node(slot)
    notify(.evicted(key: node.key, before: node.value))
  }

  @usableFromInline
  func notify(_ change: MemoryChange<Key, Value>) {
    // Safety: `notifying` is held, which guards the listener.
    unsafe listener?(change)
  }
}
