internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Is told of each write to a keyspace while it takes effect, whoever makes it: what a cache in front of the keyspace needs to
/// stay coherent with it.
///
/// Each call of `willWrite` is followed by one of `didWrite` with the same key. In between the write becomes visible, or fails.
/// Everything is called under the writer's lock, in the order of the writes: it must be quick, must not call the store, and
/// must not wait for anything that somebody holds who calls the store.
///
/// Not told: expiry, which the clock makes visible, and what a read-only store takes in from its writer.
package protocol WriteWatcher: AnyObject, Sendable {
  /// The value of a key is about to change.
  func willWrite(_ key: RawSpan)
  /// It has changed, or has not.
  func didWrite(_ key: RawSpan)
  /// All keys are about to go.
  func willEmpty()
  /// They have gone, or have not.
  func didEmpty()
}

/// The watchers of a keyspace.
final class WriteWatchers: Sendable {
  private let list = Guarded<[any WriteWatcher]>([])

  func add(_ watcher: any WriteWatcher) {
    list.withLock { $0.append(watcher) }
  }

  /// False when none is left.
  func remove(_ watcher: any WriteWatcher) -> Bool {
    list.withLock { list in
      list.removeAll { $0 === watcher }
      return !list.isEmpty
    }
  }

  var all: [any WriteWatcher] { list.withLock { $0 } }
}

extension Keyspace {
  /// Tells a watcher of each write that begins from now on, and keeps it.
  package func addWatcher(_ watcher: any WriteWatcher) {
    // Under the writer's lock: no write is half told.
    core.engine.writer.withLock { _ in
      core.watchers.add(watcher)
      core.isWatched.store(true, ordering: .relaxed)
    }
  }

  /// Lets a watcher go.
  package func removeWatcher(_ watcher: any WriteWatcher) {
    core.engine.writer.withLock { _ in
      core.isWatched.store(core.watchers.remove(watcher), ordering: .relaxed)
    }
  }
}

// All of these are called under the writer's lock.
extension KeyspaceCore {
  @inline(never)
  func tellWillWrite(_ key: UnsafeRawBufferPointer) {
    for watcher in watchers.all { unsafe watcher.willWrite(key.bytes) }
  }

  @inline(never)
  func tellDidWrite(_ key: UnsafeRawBufferPointer) {
    for watcher in watchers.all { unsafe watcher.didWrite(key.bytes) }
  }

  func tellWillEmpty() {
    for watcher in watchers.all { watcher.willEmpty() }
  }

  func tellDidEmpty() {
    for watcher in watchers.all { watcher.didEmpty() }
  }
}
