extension LogStore {
  /// Erases what is dead: whatever was removed, overwritten or evicted, or has expired, is afterwards in none of the store's files.
  ///
  /// Every segment with a dead record is written anew without it, and then without the tombstones, which have the keys; so are all that are
  /// packed with a dictionary, which has parts of values. Reads and writes continue meanwhile. What dies after the call began may
  /// stay. ``Options/erasure`` does this from time to time.
  ///
  /// Files are removed, not overwritten: see <doc:Erasure> for what file systems and devices keep.
  ///
  /// - Parameter progress: called with the share done, from 0 to 1, as that of ``merge(segments:progress:)``. Returns false to stop; what was
  ///   erased by then stays erased.
  /// - Returns: what was done, and how much an open snapshot still keeps.
  /// - Throws: ``StoreError/damaged(_:reason:)`` if a segment cannot be merged, as a record in it cannot be read: what is dead in it stays, and
  ///   everything else is erased. Otherwise as ``merge(segments:progress:)``.
  /// - Complexity: O(bytes of the segments that have anything dead).
  @discardableResult
  public func eraseNow(progress: ((Double) -> Bool)? = nil) throws(StoreError) -> Report.Erasure {
    try engine.inTurn { () throws(StoreError) in try engine.merger.erase(progress: progress) }
  }
}
