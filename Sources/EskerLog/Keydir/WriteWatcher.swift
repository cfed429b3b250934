internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Is told of each write to a keyspace while it takes effect, whoever makes it: what a cache in front of the keyspace needs to
/// stay coherent with it.
///
/// Each call of `willWrite` is followed by one of `didWrite` with the same key. In between the write becomes visible, or fails.
/// All but `afterEmptying` is called under the writer's lock, in the order of the writes: it must be quick, must not call the store, and
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
  /// The writer's lock has been given back since: the one call that may take its time.
  func afterEmptying()
}

/// Who is told of what happens in a keyspace. Changed and used under the writer's lock.
final class Watchers: Sendable {
  private let lists = Guarded<([any WriteWatcher], [any ChangeListener])>(([], []), .leaf)

  /// Who is told before and after writes.
  var watchers: [any WriteWatcher] { lists.withLock { $0.0 } }

  /// Who is told what has changed.
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
  func tellWillWrite(_ key: UnsafeRawBufferPointer) {
    for watcher in watchers.watchers { unsafe watcher.willWrite(key.bytes) }
  }

  @inline(never)
  func tellDidWrite(_ key: UnsafeRawBufferPointer) {
    for watcher in watchers.watchers { unsafe watcher.didWrite(key.bytes) }
  }

  func tellWillEmpty() {
    for watcher in watchers.watchers { watcher.willEmpty() }
  }

  func tellDidEmpty() {
    for watcher in watchers.watchers { watcher.didEmpty() }
  }
}
