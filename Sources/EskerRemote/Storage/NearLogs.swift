internal import Esker
internal import EskerPlatform
internal import Synchronization

/// The logs in which the storages of tiers keep copies, by their names, and the times of leases beside them.
final class NearLogs: Sendable {
  /// Between two times that are noted.
  private static var pause: UInt64 { 1_000_000_000 }

  private struct Place: Hashable {
    let store: ObjectIdentifier
    let name: String
  }

  private struct State {
    var logs: [Place: NearLog] = [:]
    var byName: [String: [NearLog]] = [:]
    var leases: [ObjectIdentifier: LeaseLog] = [:]
  }

  private let state = Guarded(State(), .leaf)
  /// After which a lease is noted again.
  private let nextNote = Atomic<UInt64>(.max)

  /// That of the storages of a name in a store, made if there is none.
  ///
  /// - Parameters:
  ///   - keyspaces: what names of keyspaces begin with.
  ///   - stale: for how long what has expired is kept.
  /// - Throws: ``/Esker/StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys have another form.
  func log<Key: StorageKey>(
    _ store: LogStore,
    _ name: String,
    in keyspaces: String,
    key: Key.Type,
    stale: Duration?
  ) throws(StorageError) -> NearLog {
    let leases = try leases(store, "\(keyspaces)#lease")
    let form = Transformer<RemoteValue>(id: "esker.remote") {
      $0.stored
    } decode: {
      RemoteValue(stored: $0.copied())
    }
    let storage = try LogStorage(store, keyspaces + name, key: Key.self, transformer: form)
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

  private func leases(_ store: LogStore, _ keyspace: String) throws(StorageError) -> LeaseLog {
    let id = ObjectIdentifier(store)
    if let log = state.withLock({ $0.leases[id] }) { return log }
    let made = try LeaseLog(store, keyspace)
    nextNote.store(0, ordering: .relaxed)
    return state.withLock { state in
      let log = state.leases[id] ?? made
      state.leases[id] = log
      return log
    }
  }

  /// A lease was granted: notes the present, by the server's clock, at most once a second, and only while all domains have a lease.
  func granted(_ domains: DomainTable, at now: RemoteInstant, _ milliseconds: () -> UInt64) {
    let due = nextNote.load(ordering: .relaxed)
    guard now.nanoseconds >= due, (0..<domains.count).allSatisfy({ domains.leaseEnd(UInt16($0)) > now }),
      nextNote.compareExchange(expected: due, desired: now.nanoseconds &+ Self.pause, ordering: .relaxed).exchanged
    else { return }
    let present = milliseconds()
    for log in state.withLock({ Array($0.leases.values) }) { log.note(present) }
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
    nextNote.store(.max, ordering: .relaxed)
    let former = state.withLock { state in
      defer { state = State() }
      return state
    }
    for log in former.logs.values { await log.close() }
    for log in former.leases.values { await log.close() }
  }
}
