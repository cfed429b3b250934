internal import Esker
internal import EskerLog

// What replicas are asked for while owners cannot be.
extension RemoteView {
  /// How old what a replica says may be at most; nil if none is asked.
  private var replicaBound: Duration? {
    guard options.asksReplicas else { return nil }
    guard case .bounded(let bound) = options.freshness else { return options.serveStale }
    return max(bound, options.serveStale ?? .zero)
  }

  /// Whether a replica may answer in place of an owner without a lease.
  var mayAskReplicas: Bool { replicaBound != nil }

  /// Whether a replica may have something that is younger than what would be served otherwise.
  func isWorthAsking(besides spare: StaleCopy?) -> Bool {
    guard mayAskReplicas else { return false }
    if spare == nil { return true }
    // What is within the bound was served before.
    if case .bounded = options.freshness { return true }
    return false
  }

  /// How long owner and replica are waited for in turn: each has its part of a call, which fails after the hard timeout.
  private var turn: Duration { min(options.softTimeout ?? options.hardTimeout / 2, options.hardTimeout) }

  /// What a replica says of a key, if its domain has no lease and it is shown to be young enough; nil if there is no answer.
  ///
  /// - Parameter end: when the caller gives up.
  nonisolated(nonsending) func replica(
    _ key: Key,
    _ remote: RemoteKey,
    besides spare: StaleCopy? = nil,
    by end: RemoteInstant
  ) async -> RemoteEntry<Value>? {
    guard let bound = replicaBound, !core.hasLease(remote.domain) else { return nil }
    let deadline = min(core.now().advanced(by: turn), end)
    // Not by the core: what is said here is in no order with what the owner says, and nothing may follow from it.
    let result = await withCheckedContinuation { continuation in
      tiers.store.get(remote, from: .any, by: deadline) { continuation.resume(returning: $0) }
    }
    guard case .success(let stamped) = result, let found = stamped.reply, let instant = stamped.currentAt,
      core.hasOwnWrites(remote.domain, at: instant),
      found.expiry == 0 || tiers.milliseconds(remote.domain) < found.expiry,
      let value = try? decoded(found, key)
    else { return nil }
    let now = core.now()
    guard let since = tags?.age(of: found.tags, at: now, isComplete: true) else { return nil }
    var entry = remoteEntry(value, found, .replica)
    entry.age = max(now.duration(since: instant), since)
    entry.isStale = true
    if entry.age > bound { return nil }
    if let spare, spare.age < entry.age { return nil }
    return entry
  }

  /// What a flight brings; or what a replica says, if the domain has lost its lease when it has taken too long or failed.
  ///
  /// - Parameters:
  ///   - hasSpare: whether something else is served after the soft timeout.
  ///   - limit: for how long it is waited at most if there is none.
  ///   - end: when the caller gives up.
  nonisolated(nonsending) func awaitFlight(
    _ flight: RemoteFlight<Value>,
    _ key: Key,
    _ remote: RemoteKey,
    hasSpare: Bool,
    within limit: Duration?,
    by end: RemoteInstant
  ) async throws(StorageError) -> RemoteEntry<Value>? {
    guard mayAskReplicas else {
      return try await flight.result(within: hasSpare ? options.softTimeout : limit, of: name)
    }
    while true {
      let rest = end.duration(since: core.now())
      do throws(StorageError) { return try await flight.result(within: min(turn, rest), of: name) } catch {
        guard case .back = error else { throw error }
        if let found = await replica(key, remote, by: end) { return found }
        // As long as the owner has a lease, or gets one again, it is waited for.
        let isServedOtherwise = hasSpare && options.softTimeout != nil
        if isServedOtherwise || flight.hasLanded || core.now() >= end { throw error }
      }
    }
  }
}
