extension Snapshot {
  /// The entries of one keyspace, in no particular order, and what stands for damage, which may be of another one.
  /// The sequence keeps the snapshot open.
  ///
  /// - Complexity: O(entries of the keyspace, and writes since the snapshot) for a named keyspace of up to a few hundred keys,
  ///   else O(entries of the store).
  public func entries(in keyspace: Keyspace) -> some Sequence<Snapshot.Entry> {
    KeyspaceEntries(of: keyspace.core, in: self)
  }
}
