extension LogStore {
  /// Merges now: gives up the space of records that were replaced, removed or expired.
  ///
  /// Copies what is alive out of the segments, oldest first and a few at a time, while reads and writes go on. What was
  /// written before the call is included: the last segment is ended. Merges in the background wait meanwhile.
  ///
  /// - Parameters:
  ///   - segments: the ids of the segments to merge, live or not; nil for all that hold anything dead. Ids that are not
  ///     there, and segments that are still written, are passed over.
  ///   - progress: Called with the share done, from 0 to 1, on the calling thread and during the merge: it must not merge or
  ///     close the store, nor write to it if it has a capacity. Returns false to stop; what was merged by then stays merged.
  /// - Returns: what was done.
  /// - Throws: ``StoreError/cancelled`` when `progress` stopped it; ``StoreError/noSpace(path:needed:)`` when there is no
  ///   room to copy to, ``StoreError/readOnly``, ``StoreError/closed``, ``StoreError/syncFailed(errno:)``,
  ///   ``StoreError/damaged(_:reason:)`` for a chosen segment with a record that cannot be read, and
  ///   ``StoreError/failed(operation:path:errno:)``. The store is whole whatever is thrown.
  /// - Complexity: O(records in those segments).
  @discardableResult
  public func merge(
    segments: [UInt64]? = nil,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> MergeReport {
    try engine.merger.merge(segments.map { Set($0) }, progress: progress)
  }

  /// Begins no merge in the background until ``resumeMerging()`` was called as often. A merge under way ends. Writes are not
  /// slowed down meanwhile, so the store may grow.
  public func pauseMerging() { engine.merger.pauseMerging() }

  /// Takes back one ``pauseMerging()``.
  public func resumeMerging() { engine.env.workers.merger.resume() }
}
