internal import EskerPlatform
internal import Synchronization

/// What lies ahead of a keyspace and may hold writes back, such as a cache that writes behind.
///
/// A write that is held back comes before every write to the keyspace that begins later. So whoever writes to the keyspace
/// has what waits written first, be it a view, a `Keyspace` or a batch.
package protocol WritesAhead: AnyObject, Sendable {
  /// Writes what waits. Called before each other write while something may wait, without any lock held; what it writes itself
  /// must not lead here again.
  func writeWaiting() throws(StoreError)

  /// Writes what waits, since the store is about to close. Nothing may be held back or kept from then on.
  func close() throws(StoreError)
}

extension KeyspaceCore {
  /// Has what waits ahead written. To be called before the writer's lock is taken.
  @inline(__always)
  func letAheadWrite() throws(StoreError) {
    // Relaxed: a write that begins after the flag was set sees it; of two at the same time, either may come first.
    if mayHoldBack.load(ordering: .relaxed) { try writeWaiting() }
  }

  @inline(never)
  private func writeWaiting() throws(StoreError) {
    if let ahead = ahead.withLock({ $0 }) { try ahead.writeWaiting() }
  }
}
