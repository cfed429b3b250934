extension LogStore {
  /// Merges now: reclaims the space of records that were replaced, removed or expired.
  ///
  /// Copies the live records out of the segments, oldest first and a few segments at a time, while reads and writes continue. Seals
  /// the last segment first, so that everything written before the call is included. Background merges wait meanwhile.
  ///
  /// - Parameters:
  ///   - segments: the ids of the segments to merge, whether or not they hold dead records; nil for all that do. Unknown ids and
  ///     segments that are still being written are skipped.
  ///   - progress: called with the share done, from 0 to 1, on the calling thread and during the merge: it must not merge, back up, suspend or
  ///     close the store, nor write to it if it has a capacity or is written to in turn. Returns false to stop; what was merged by then stays merged.
  /// - Returns: what was done.
  /// - Throws: ``StoreError/cancelled`` if `progress` stopped it; ``StoreError/noSpace(path:needed:)`` if there is no room for
  ///   the copies; ``StoreError/readOnly``; ``StoreError/closed``; ``StoreError/syncFailed(errno:)``;
  ///   ``StoreError/damaged(_:reason:)`` for a chosen segment with an unreadable record;
  ///   ``StoreError/failed(operation:path:errno:)``. The store stays intact in all cases.
  /// - Complexity: O(records in those segments).
  @discardableResult
  public func merge(
    segments: [UInt64]? = nil,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> Report.Merge {
    try engine.inTurn { () throws(StoreError) in
      try engine.merger.merge(segments.map { Set($0) }, progress: progress)
    }
  }

  /// Stops background merges until ``resumeMerging()`` has been called as often as this. A merge in progress ends. Writes are not
  /// slowed down meanwhile, so the store may grow.
  public func pauseMerging() { engine.merger.pauseMerging() }

  /// Undoes one call of ``pauseMerging()``.
  public func resumeMerging() { engine.env.workers.merger.resume() }
}
