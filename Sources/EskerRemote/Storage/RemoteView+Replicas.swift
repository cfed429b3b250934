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
  func isWorthAsking(besides spare: Spare?) -> Bool {
    guard mayAskReplicas else { return false }
    if spare == nil { return true }
    // What is within the bound was served before.
    if case .bounded = options.freshness { return true }
    return false
  }

  /// What a replica says of a key, if its domain has no lease and it is shown to be young enough; nil if there is no answer.
  nonisolated(nonsending) func replica(
    _ key: Key,
    _ remote: RemoteKey,
    besides spare: Spare? = nil
  ) async -> RemoteEntry<Value>? {
    guard let bound = replicaBound, !core.hasLease(remote.domain) else { return nil }
    let deadline = core.now().advanced(by: min(options.softTimeout ?? options.hardTimeout, options.hardTimeout))
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
  ///   - limit: after which the caller gives up.
  nonisolated(nonsending) func landing(
    _ flight: RemoteFlight<Value>,
    _ key: Key,
    _ remote: RemoteKey,
    hasSpare: Bool,
    within limit: Duration?
  ) async throws(StorageError) -> RemoteEntry<Value>? {
    guard mayAskReplicas else {
      return try await flight.landing(within: hasSpare ? options.softTimeout : limit, of: name)
    }
    let end = limit.map { core.now().advanced(by: $0) } ?? .distantFuture
    while true {
      let now = core.now()
      let rest: Duration? = end == .distantFuture ? nil : end.duration(since: now)
      let slice = options.softTimeout.map { soft in rest.map { min($0, soft) } ?? soft } ?? rest
      do throws(StorageError) { return try await flight.landing(within: slice, of: name) } catch {
        guard case .back = error else { throw error }
        if let found = await replica(key, remote) { return found }
        // As long as the owner has a lease, or gets one again, it is waited for.
        if hasSpare || flight.hasLanded || core.now() >= end { throw error }
      }
    }
  }
}
