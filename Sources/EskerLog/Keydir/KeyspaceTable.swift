internal import EskerFormat
internal import EskerPlatform

/// The keyspaces of an open store, by name and by number.
///
/// Thread safety: any thread.
final class KeyspaceTable: Sendable {
  private struct State {
    var byName: [String: KeyspaceCore] = [:]
    var byID: [UInt32: KeyspaceCore] = [:]
    /// Makes a keyspace, which refers to the whole store; nil once the store is closed.
    var make: (@Sendable (KeyspaceRow) -> KeyspaceCore)?
  }

  private let state = Guarded(State(), .keyspaces)

  subscript(id: UInt32) -> KeyspaceCore? { state.withLock { $0.byID[id] } }

  subscript(name: String) -> KeyspaceCore? { state.withLock { $0.byName[name] } }

  /// All keyspaces, in no particular order.
  var all: [KeyspaceCore] { state.withLock { Array($0.byID.values) } }

  /// The number of entries in all keyspaces.
  var count: Int { state.withLock { $0.byID.values.reduce(0) { $0 + $1.count } } }

  /// The keyspace that counts a record with that tag; nil if it is unknown or has been emptied since.
  func core(of keyspace: KeyspaceTag) -> KeyspaceCore? {
    guard let core = self[keyspace.id], core.tag == keyspace else { return nil }
    return core
  }

  /// Sets how keyspaces are made, and makes the listed ones.
  func begin(_ rows: [KeyspaceRow], making make: @escaping @Sendable (KeyspaceRow) -> KeyspaceCore) {
    state.withLock { $0.make = make }
    add(rows)
  }

  /// Makes the listed keyspaces that do not exist yet; false if the store is closed.
  @discardableResult
  func add(_ rows: [KeyspaceRow]) -> Bool {
    state.withLock { state in
      guard let make = state.make else { return false }
      for row in rows where state.byID[row.id] == nil {
        let core = make(row)
        state.byID[row.id] = core
        state.byName[row.name] = core
      }
      return true
    }
  }

  /// Releases all keyspaces, and with them the store.
  func end() {
    // Released outside the lock: they may hold the last reference to its owner.
    _ = state.withLock { state in
      defer { state = State() }
      return state
    }
  }
}
