extension Snapshot {
  /// The entries of one keyspace, in no particular order, and what stands for damage, which may be of another one.
  /// The sequence keeps the snapshot open.
  ///
  /// - Complexity: O(entries of the keyspace, and writes since the snapshot) for a named keyspace of up to a few hundred keys,
  ///   else O(entries of the store).
  public func entries(in keyspace: Keyspace) -> some Sequence<Snapshot.Entry> {
    KeyspaceEntries(of: keyspace.core, in: self)
  }

  /// Calls `body` with the entries of ``entries(in:)``, and `progress` with the share of them that was read so far: also while none of
  /// the keyspace is met, at the beginning of each segment. What either throws ends the reading.
  package func forEachEntry<Failure: Error>(
    in keyspace: Keyspace,
    progress: (Double) throws(Failure) -> Void,
    _ body: (borrowing Snapshot.Entry) throws(Failure) -> Void
  ) throws(Failure) {
    try KeyspaceEntries(of: keyspace.core, in: self).forEach(progress: progress, body)
  }
}
