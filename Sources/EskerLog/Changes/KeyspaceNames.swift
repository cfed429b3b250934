internal import EskerFormat

/// The names of keyspaces, for a reader of changes.
///
/// A removal takes effect when it is logged, and a power failure undoes it if it is not durable yet. So what was written to a
/// removed keyspace is shown under its name as long as the manifest lists it: until the removal is durable.
struct KeyspaceNames {
  /// What is known of a keyspace.
  enum Known {
    case named(String)
    /// Removed for good: the record that says so follows every other record of the keyspace.
    case removed
    /// Created by another process since the manifest was last read.
    case unknown
  }

  private var known: [UInt32: Known] = [:]
  /// The number of the next keyspace, once the store has been closed.
  private var next: UInt32?

  /// The keyspace with this number.
  ///
  /// - Complexity: O(1); O(keyspaces) once for each removed one, and waits for an edit of the manifest in progress then.
  mutating func find(_ id: UInt32, _ writer: Writer) -> Known {
    if let found = known[id] { return found }
    let found = look(id, writer)
    if case .unknown = found { return found }
    known[id] = found
    return found
  }

  private func look(_ id: UInt32, _ writer: Writer) -> Known {
    if let next { return id < next ? .removed : .unknown }
    let keyspaces = writer.keydir.keyspaces
    if let core = keyspaces[id] { return .named(core.name) }
    // In this order: one that the manifest does not list any more stays removed whatever happens.
    if let row = writer.catalog.manifest.keyspaces.first(where: { $0.id == id }) { return .named(row.name) }
    return keyspaces.isRemoved(id) ? .removed : .unknown
  }

  /// Notes all names, because the store is being closed.
  mutating func end(_ writer: Writer) {
    for row in writer.catalog.manifest.keyspaces { known[row.id] = .named(row.name) }
    for core in writer.keydir.keyspaces.all { known[core.id] = .named(core.name) }
    next = writer.keydir.keyspaces.nextID
  }
}
