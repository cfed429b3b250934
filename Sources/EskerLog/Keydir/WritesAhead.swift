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
