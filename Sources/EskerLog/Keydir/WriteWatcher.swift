internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Is notified of each write to a keyspace before and after it takes effect, so that a cache in front of the keyspace can stay
/// coherent with it.
///
/// Each call of `willWrite` is followed by a call of `didWrite` with the same key. In between, the write becomes visible or
/// fails. All functions except `afterEmptying` and `didEnd` are called under the writer's lock, in the order of the writes:
/// they must be quick, must not call the store, and must not wait for a lock that a caller of the store may hold.
///
/// There is no notification when a value expires, or when a read-only store reads what its writer has logged.
package protocol WriteWatcher: AnyObject, Sendable {
  /// The value of a key is about to change.
  func willWrite(_ key: RawSpan)
  /// The value has changed by the write with that number. nil: by another kind of change, or not at all, since the write failed.
  func didWrite(_ key: RawSpan, _ sequence: UInt64?)
  /// All keys are about to be removed.
  func willEmpty()
  /// All keys have been removed, or that failed.
  func didEmpty()
  /// Called after the keyspace was emptied, without the writer's lock; it may take long.
  func afterEmptying()
  /// Reads and writes throw from now on, since the store was closed or the keyspace removed: a cache must have nothing either. The
  /// watcher is released. Called without the writer's lock; it may take long.
  func didEnd()
}

/// The watchers and listeners of a keyspace. Changed and used under the writer's lock.
final class Watchers: Sendable {
  private let lists = Guarded<([any WriteWatcher], [any ChangeListener])>(([], []), .leaf)

  var watchers: [any WriteWatcher] { lists.withLock { $0.0 } }

  var listeners: [any ChangeListener] { lists.withLock { $0.1 } }

  func add(_ watcher: any WriteWatcher, _ core: KeyspaceCore) {
    lists.withLock { $0.0.append(watcher) }
    note(core)
  }

  func remove(_ watcher: any WriteWatcher, _ core: KeyspaceCore) {
    lists.withLock { $0.0.removeAll { $0 === watcher } }
    note(core)
  }

  func add(_ listener: any ChangeListener, _ core: KeyspaceCore) {
    lists.withLock { $0.1.append(listener) }
    note(core)
  }

  func remove(_ listener: any ChangeListener, _ core: KeyspaceCore) {
    lists.withLock { $0.1.removeAll { $0 === listener } }
    note(core)
  }

  /// Removes all, and returns them.
  func removeAll(_ core: KeyspaceCore) -> ([any WriteWatcher], [any ChangeListener]) {
    defer { note(core) }
    return lists.withLock { lists in
      defer { lists = ([], []) }
      return lists
    }
  }

  private func note(_ core: KeyspaceCore) {
    // Relaxed: under the writer's lock, as the writers' loads.
    core.isWatched.store(lists.withLock { !$0.0.isEmpty || !$0.1.isEmpty }, ordering: .relaxed)
  }
}

// All of these are called under the writer's lock.
//
// Safety: the writer's caller keeps the key during the write, and a span cannot leave the call.
extension KeyspaceCore {
  @inline(never)
  func notifyWillWrite(_ key: UnsafeRawBufferPointer) {
    for watcher in watchers.watchers { unsafe watcher.willWrite(key.bytes) }
  }

  @inline(never)
  func notifyDidWrite(_ key: UnsafeRawBufferPointer, _ sequence: UInt64?) {
    for watcher in watchers.watchers { unsafe watcher.didWrite(key.bytes, sequence) }
  }

  func notifyWillEmpty() {
    for watcher in watchers.watchers { watcher.willEmpty() }
  }

  func notifyDidEmpty() {
    for watcher in watchers.watchers { watcher.didEmpty() }
  }
}
