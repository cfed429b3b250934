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
      unsafe swap(&former, &self.listener)
      isObserved.store(listener != nil, ordering: .relaxed)
      // Who began to write before, and tells nobody, ends before this does.
      for shard in 0...shardMask { unsafe shards[shard].lock.withLock {} }
    }
    withExtendedLifetime(former) {}
  }

  /// Under the lock of a shard, takes `telling` as well.
  @usableFromInline
  func lockTelling(_ shard: UnsafeMutablePointer<Shard<Key, Value>>) {
    unsafe shard.pointee.lock.unlock()
    telling.lock()
    unsafe shard.pointee.lock.lock()
  }
}

// Under `telling`, and the lock of the shard concerned.
extension MemoryCache {
  /// The entry in a slot, which is told of when it has gone; nil if nobody is told, or there is none.
  @inlinable @inline(__always)
  func noted(
    _ slot: UInt32,
    in shard: UnsafeMutablePointer<Shard<Key, Value>>,
    _ garbage: borrowing Garbage<Key, Value>
  ) -> (value: Value, expiry: Int64)? {
    if !garbage.isTold || slot == 0 { return nil }
    let node = unsafe shard.pointee.node(slot)
    return unsafe (node.pointee.value, node.pointee.expiry)
  }

  /// Tells what became of a write.
  @usableFromInline
  func tellStore(
    _ key: Key,
    _ old: (value: Value, expiry: Int64)?,
    _ entry: MemoryEntry<Value>,
    isKept: Bool,
    now: Int64
  ) {
    var before = old?.value
    if let old, old.expiry <= now {
      tell(.expired(key: key, before: old.value))
      before = nil
    }
    if isKept {
      tell(.put(key: key, before: before, after: entry.value))
    } else if let before {
      tell(entry.expiry <= now ? .removed(key: key, before: before) : .evicted(key: key, before: before))
    }
  }

  /// Tells of an entry that was taken out.
  @usableFromInline
  func tellRemoval(_ key: Key, _ old: (value: Value, expiry: Int64)?, now: Int64) {
    guard let old else { return }
    tell(old.expiry <= now ? .expired(key: key, before: old.value) : .removed(key: key, before: old.value))
  }

  /// Tells of an entry that has just been evicted: nothing else is in its slot yet.
  @usableFromInline
  func tellEviction(_ slot: UInt32, of shard: UnsafeMutablePointer<Shard<Key, Value>>) {
    let node = unsafe shard.pointee.node(slot)
    tell(unsafe .evicted(key: node.pointee.key, before: node.pointee.value))
  }

  @usableFromInline
  func tell(_ change: MemoryChange<Key, Value>) {
    unsafe listener?(change)
  }
}
