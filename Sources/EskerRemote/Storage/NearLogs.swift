internal import Esker
internal import EskerPlatform

/// The logs in which the storages of tiers keep copies, by their names.
final class NearLogs: Sendable {
  private struct Place: Hashable {
    let store: ObjectIdentifier
    let name: String
  }

  private struct State {
    var logs: [Place: NearLog] = [:]
    var byName: [String: [NearLog]] = [:]
  }

  private let state = Guarded(State(), .leaf)

  /// That of the storages of a name in a store, made if there is none.
  ///
  /// - Parameter stale: for how long what has expired is kept.
  /// - Throws: ``Esker/StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys have another form.
  func log<Key: StorageKey>(
    _ store: LogStore,
    _ name: String,
    keyspace: String,
    key: Key.Type,
    stale: Duration?,
    _ leases: LeaseLog
  ) throws(StorageError) -> NearLog {
    let form = Transformer<RemoteValue>(id: "esker.remote") {
      $0.stored
    } decode: {
      RemoteValue(stored: $0.copied())
    }
    let storage = try LogStorage(store, keyspace, key: Key.self, transformer: form)
    let log = state.withLock { state in
      let place = Place(store: ObjectIdentifier(store), name: name)
      if let log = state.logs[place] { return log }
      let log = NearLog(storage.keyspace, leases)
      state.logs[place] = log
      state.byName[name, default: []].append(log)
      return log
    }
    log.keepStale(for: stale)
    return log
  }

  /// Those of the storages of a name.
  private func logs(_ name: String) -> [NearLog] { state.withLock { $0.byName[name] ?? [] } }

  /// Returns once everything that was kept of a key of a name is in the logs, as far as they can be written.
  func settled(_ key: [UInt8], of name: String) async { for log in logs(name) { await log.settled(key) } }

  /// Keeps what a write of this process has left in all logs of a name, and returns once it is there; nil removes.
  func keep(_ value: RemoteValue?, forKey key: [UInt8], of name: String) async {
    for log in logs(name) { log.keep(value, forKey: key) }
    await settled(key, of: name)
  }

  /// Writes nothing any more once this returns, and lets go of all stores.
  func close() async {
    let former = state.withLock { state in
      defer { state = State() }
      return Array(state.logs.values)
    }
    for log in former { await log.close() }
  }
}
