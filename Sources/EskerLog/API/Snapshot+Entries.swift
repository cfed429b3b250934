extension Snapshot {
  /// The entries of one keyspace, in no particular order. The sequence keeps the snapshot open.
  ///
  /// - Complexity: O(entries of the keyspace, and writes since the snapshot) for a named keyspace of up to a few hundred keys,
  ///   else O(entries of the store).
  public func entries(in keyspace: Keyspace) -> some Sequence<Snapshot.Entry> {
    KeyspaceEntries(of: keyspace.core, in: self)
  }

  /// The entries of the default keyspace, or of `keyspace`, whose keys begin with `prefix`. Reads every entry;
  /// ``entries(in:_:order:)`` sorts a keyspace's keys once instead. Includes entries with unreadable keys, so that damage is not mistaken for absence.
  public func entries(withPrefix prefix: [UInt8], in keyspace: Keyspace? = nil) -> some Sequence<Snapshot.Entry> {
    let name = keyspace?.name ?? ""
    return lazy.filter { entry in
      guard entry.keyspace == name else { return false }
      guard let key = try? entry.key() else { return true }
      return key.starts(with: prefix)
    }
  }
}
