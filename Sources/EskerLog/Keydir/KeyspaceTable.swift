internal import EskerFormat
internal import EskerPlatform

/// The keyspaces of an open store, by name and by number.
///
/// Invariants: numbers ascend, and none is used twice, so one below the next number that is not here was removed. `shown` says
/// of each keyspace what it is now.
///
/// Thread safety: any thread.
final class KeyspaceTable: Sendable {
  private struct State {
    var byName: [String: KeyspaceCore] = [:]
    var byID: [UInt32: KeyspaceCore] = [:]
    /// A snapshot takes it as a whole, however many there are.
    var shown: [UInt32: SnapshotKeyspace] = [:]
    /// The number of the next keyspace.
    var next: UInt32 = 0
    /// Removed keyspaces whose watchers and listeners are still to be notified.
    var ending: [KeyspaceCore] = []
    /// Makes a keyspace, which refers to the whole store; nil once the store is closed.
    var make: (@Sendable (KeyspaceRow) -> KeyspaceCore)?
  }

  private let state = Guarded(State(), .keyspaces)

  subscript(id: UInt32) -> KeyspaceCore? { state.withLock { $0.byID[id] } }

  subscript(name: String) -> KeyspaceCore? { state.withLock { $0.byName[name] } }

  /// All keyspaces, in no particular order.
  var all: [KeyspaceCore] { state.withLock { Array($0.byID.values) } }

  /// The number of entries in all keyspaces. O(keyspaces): ``Keydir/liveCount`` is not.
  var count: Int { state.withLock { $0.byID.values.reduce(0) { $0 + $1.count } } }

  /// All keyspaces as they are now. O(1).
  var shown: [UInt32: SnapshotKeyspace] { state.withLock { $0.shown } }

  /// The number of the next keyspace.
  var nextID: UInt32 { state.withLock { $0.next } }

  /// The keyspace that counts a record with that tag; nil if it is unknown or has been emptied since.
  func core(of keyspace: KeyspaceTag) -> KeyspaceCore? {
    guard let core = self[keyspace.id], core.tag == keyspace else { return nil }
    return core
  }

  /// Whether the keyspace with this number was removed.
  func isRemoved(_ id: UInt32) -> Bool { state.withLock { $0.byID[id] == nil && id < $0.next } }

  /// Whether no keyspace with this number is known: a writer in another process has created it.
  func isUnknown(_ id: UInt32) -> Bool { state.withLock { $0.byID[id] == nil && id >= $0.next } }

  /// Sets how keyspaces are made, and makes the listed ones.
  func begin(_ manifest: Manifest, making make: @escaping @Sendable (KeyspaceRow) -> KeyspaceCore) {
    state.withLock { $0.make = make }
    add(manifest)
  }

  /// Makes the keyspaces that a manifest lists and that were created since the last one, and notes forms that were recorded
  /// since; false if the store is closed.
  @discardableResult
  func add(_ manifest: Manifest) -> Bool {
    state.withLock { state in
      guard let make = state.make else { return false }
      for row in manifest.keyspaces {
        guard row.id >= state.next else {
          if let core = state.byID[row.id], core.note(row) { state.shown[row.id] = core.shown }
          continue
        }
        let core = make(row)
        state.byID[row.id] = core
        state.byName[row.name] = core
        state.shown[row.id] = core.shown
      }
      state.next = max(state.next, manifest.nextKeyspaceID)
      return true
    }
  }

  /// Takes over what a manifest says of keyspaces that are there, as another process has set it.
  func takeOver(_ manifest: Manifest) {
    for row in manifest.keyspaces {
      guard let core = self[row.id] else { continue }
      core.takeOver(row)
      noteChange(of: core)
    }
  }

  /// Notes that a keyspace was emptied, or got another default expiry.
  func noteChange(of core: KeyspaceCore) {
    state.withLock { state in
      if state.byID[core.id] === core { state.shown[core.id] = core.shown }
    }
  }

  /// Forgets a keyspace that was removed. Called under the writer's lock.
  func remove(_ core: KeyspaceCore) {
    // Released outside the lock.
    _ = state.withLock { state in
      if state.byName[core.name] === core { state.byName[core.name] = nil }
      state.shown[core.id] = nil
      if core.isWatched.load(ordering: .relaxed) { state.ending.append(core) }
      return state.byID.removeValue(forKey: core.id)
    }
  }

  /// Takes the removed keyspaces whose watchers and listeners have not been notified of the end.
  func takeEnding() -> [KeyspaceCore] {
    state.withLock { state in
      defer { state.ending = [] }
      return state.ending
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

/// What a snapshot shows of a keyspace.
struct SnapshotKeyspace {
  let name: String
  let tag: KeyspaceTag
  /// Milliseconds; -1 if the store's default applies.
  let defaultExpiry: Int64
  let forms: KeyspaceForms
  let budget: KeyspaceBudget
}
