extension LogStore {
  /// Breaks down the bytes of each segment and each keyspace by use, as of this instant.
  ///
  /// Reads the segments' footers, or the record headers where there is no footer, and the expiry of each value that has one. Runs
  /// concurrently with reads and writes, also in a read-only store. Unreadable records count as dead.
  ///
  /// - Parameter progress: called with the share done, from 0 to 1; returns false to stop.
  /// - Throws: ``StoreError/cancelled`` if `progress` stopped it; ``StoreError/closed``; what a snapshot throws.
  /// - Complexity: O(records), about 100 ns per record.
  public func usage(progress: ((Double) -> Bool)? = nil) throws(StoreError) -> Statistics.Usage {
    try UsageCount.run(in: engine, progress: progress)
  }
}
