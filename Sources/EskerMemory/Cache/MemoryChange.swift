import EskerPlatform
import Synchronization

/// What happened to an entry of a cache, or to all of them.
public enum MemoryChange<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A value came; `before` is what it replaced.
  case put(key: Key, before: Value?, after: Value)
  /// A value was taken out by who uses the cache.
  case removed(key: Key, before: Value)
  /// A value whose time had come was found, and taken out.
  case expired(key: Key, before: Value)
  /// A value made room, or is not kept since what came for its key cost too much.
  case evicted(key: Key, before: Value)
  /// All entries were taken out.
  case removedAll
}

// While somebody is told, writers hold `telling` around their shard's lock, so that all changes have one order. Who finds out
// only under the shard's lock gives that back first; so one look there is all that it costs when nobody is told.
extension MemoryCache {
  /// Tells `listener` of every change from now on; nil tells nobody any more.
  ///
  /// It is called under locks, in the order of the changes: it must be quick, must not call the cache, and must not let go of
  /// the last reference to anything whose `deinit` does. Writers then wait for each other, whatever their shard.
  public func observe(_ listener: (@Sendable (MemoryChange<Key, Value>) -> Void)?) {
    var former = listener
    telling.withLock {
      // Safety: `telling` is held, which guards the listener.
      unsafe swap(&former, &self.listener)
      isObserved.store(listener != nil, ordering: .relaxed)
      // Who began to write before, and tells nobody, ends before this does.
      for shard in 0...shards.mask { shards[shard].pointee.lock.withLock {} }
    }
    withExtendedLifetime(former) {}
  }

  /// Under the lock of a shard, takes `telling` as well.
  @usableFromInline @inline(never)
  func lockTelling(_ shard: ShardHandle<Key, Value>) {
    shard.pointee.lock.unlock()
    telling.lock()
    shard.pointee.lock.lock()
  }
}

// Under `telling`, and the lock of the shard concerned. Not inlined: what is not told shall not pay for it.
extension MemoryCache {
  /// Makes `entry` the one of its key, as `keep` does, and tells what became of it.
  @usableFromInline @inline(never)
  func storeTelling(
    _ entry: MemoryEntry<Value>,
    _ key: Key,
    _ hash: UInt64,
    _ slot: UInt32,
    in shard: ShardHandle<Key, Value>,
    now: Int64,
    _ garbage: inout Garbage<Key, Value>
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
      tell(.expired(key: key, before: old))
      before = nil
    }
    if isKept {
      tell(.put(key: key, before: before, after: entry.value))
    } else if let before {
      tell(entry.expiry <= now ? .removed(key: key, before: before) : .evicted(key: key, before: before))
    }
    return isKept
  }

  /// Takes out the entry in a slot, and tells of it.
  @usableFromInline @inline(never)
  func dropTelling(_ slot: UInt32, in shard: ShardHandle<Key, Value>, now: Int64) {
    let node = shard.pointee.node(slot)
    let key = node.key
    let value = node.value
    tell(node.expiry <= now ? .expired(key: key, before: value) : .removed(key: key, before: value))
    shard.pointee.drop(slot, commons)
  }

  /// Tells of an entry that has just been evicted: nothing else is in its slot yet.
  @usableFromInline @inline(never)
  func tellEviction(_ slot: UInt32, of shard: ShardHandle<Key, Value>) {
    let node = shard.pointee.node(slot)
    tell(.evicted(key: node.key, before: node.value))
  }

  @usableFromInline
  func tell(_ change: MemoryChange<Key, Value>) {
    // Safety: `telling` is held, which guards the listener.
    unsafe listener?(change)
  }
}
