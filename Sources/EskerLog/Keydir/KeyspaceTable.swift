internal import EskerFormat
internal import EskerPlatform

/// The keyspaces of an open store, by name and by number.
///
/// Thread safety: any thread.
final class KeyspaceTable: Sendable {
  private struct State {
    var byName: [String: KeyspaceCore] = [:]
    var byID: [UInt32: KeyspaceCore] = [:]
    /// Makes a keyspace, which refers to the whole store; nil once that is closed.
    var make: (@Sendable (KeyspaceRow) -> KeyspaceCore)?
  }

  private let state = Guarded(State(), .keyspaces)

  subscript(id: UInt32) -> KeyspaceCore? { state.withLock { $0.byID[id] } }

  subscript(name: String) -> KeyspaceCore? { state.withLock { $0.byName[name] } }

  /// Every keyspace, in no order.
  var all: [KeyspaceCore] { state.withLock { Array($0.byID.values) } }

  /// Entries of all keyspaces.
  var count: Int { state.withLock { $0.byID.values.reduce(0) { $0 + $1.count } } }

  /// The keyspace that counts a record; nil for one that nobody knows, or that was emptied since.
  func core(of keyspace: KeyspaceTag) -> KeyspaceCore? {
    guard let core = self[keyspace.id], core.tag == keyspace else { return nil }
    return core
  }

  /// Says how keyspaces are made, and makes those that the store has.
  func begin(_ rows: [KeyspaceRow], making make: @escaping @Sendable (KeyspaceRow) -> KeyspaceCore) {
    state.withLock { $0.make = make }
    add(rows)
  }

  /// Makes the listed keyspaces that there are not yet; false when the store is closed.
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

  /// Lets go of all, and with that of the store.
  func end() {
    // Outside the lock: they may hold the last reference to it.
    _ = state.withLock { state in
      defer { state = State() }
      return state
    }
  }
}
