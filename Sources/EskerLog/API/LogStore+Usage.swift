extension LogStore {
  /// Counts what the bytes of each segment and of each keyspace are for, at this instant.
  ///
  /// Reads the footers of segments that have one, the record headers of those that have none, and the expiry of each value that
  /// has one. Runs beside reads and writes, and in a read-only store.
  ///
  /// - Parameter progress: told the share that is done, from 0 to 1; returns false to stop.
  /// - Throws: ``StoreError/cancelled`` when `progress` stopped it, ``StoreError/closed``, and what a snapshot throws. Records that cannot be read count as dead.
  /// - Complexity: O(records), about 100 ns for each.
  public func usage(progress: ((Double) -> Bool)? = nil) throws(StoreError) -> StoreUsage {
    try UsageCount.run(in: engine, progress: progress)
  }
}
