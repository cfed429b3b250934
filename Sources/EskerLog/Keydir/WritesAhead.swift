internal import EskerPlatform
internal import Synchronization

/// Holds back writes ahead of a keyspace, such as a write-behind cache.
///
/// A write that is held back precedes every write to the keyspace that begins later. So each write to the keyspace, whether
/// through a view, a `Keyspace` or a batch, first flushes the waiting writes.
package protocol WritesAhead: AnyObject, Sendable {
  /// Flushes the waiting writes. Called without any lock before each other write while any may be waiting; its own writes must
  /// not lead to another call.
  func writeWaiting() throws(StoreError)

  /// Flushes the waiting writes because the store is about to close. Must not hold back any from then on.
  func close() throws(StoreError)
}

extension KeyspaceCore {
  /// Flushes writes that are held back ahead of the keyspace. Must be called before the writer's lock is taken.
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
