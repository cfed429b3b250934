internal import Esker
internal import EskerLog

extension RemoteView {
  /// The value of a key, from the nearest tier that may serve it.
  ///
  /// - Parameter isExact: whether what was current a while ago does not do although the freshness allows it.
  nonisolated(nonsending) func find(
    _ key: Key,
    within limit: Duration? = nil,
    isExact: Bool = false
  ) async throws(StorageError) -> RemoteEntry<Value>? {
    let held = try held(key)
    let now = core.now()
    let served = trusted(held, at: now)
    if let served {
      switch standing(of: served, at: now) {
      case .valid: return entry(served, isStale: false, at: now)
      case .invalid: return nil
      case .unknown: break
      }
    }
    let remote = try remote(key, held)
    if let queue = tiers.queue(name), let waiting = try await queued(key, remote, in: queue) { return waiting.entry }
    let copy = served ?? cache.look(held)?.value
    if case .bounded(let bound) = options.freshness, !isExact, let copy, !copy.isDoubtful, now < copy.freshEnd,
      let entry = stale(copy, within: bound, at: now)
    {
      return entry
    }
    let stored = copy == nil && options.serveStale != nil ? await log?.value(near(remote)) : nil
    let spare = spare(copy, stored, remote, at: now)
    let end = now.advanced(by: min(limit ?? options.hardTimeout, options.hardTimeout))
    // Nothing would come of asking but a wait.
    let isHopeless = !core.hasLease(remote.domain)
    if isHopeless, isWorthAsking(besides: spare), spare == nil || !throttle.isClosed(held, at: now) {
      if let found = await replica(key, remote, besides: spare, by: end) { return found }
      if spare != nil { throttle.noteFailure(held, at: core.now()) }
    }
    if let spare, isHopeless || throttle.isClosed(held, at: now), let entry = entry(spare, key) { return entry }
    do throws(StorageError) {
      let found =
        if let served {
          entry(served, isStale: false, at: now)
        } else {
          try await awaitFlight(
            board(key, held, remote, stored),
            key,
            remote,
            hasSpare: spare != nil,
            within: limit,
            by: end
          )
        }
      // Of one from a replica that is known already.
      if found?.tier == .replica { return found }
      return try await isValid(found, within: spare == nil ? limit : options.softTimeout) ? found : nil
    } catch {
      guard let spare, case .back = error, let entry = entry(spare, key) else { throw error }
      throttle.noteFailure(held, at: core.now())
      return entry
    }
  }

  func entry(_ copy: HeldCopy<Value>, isStale: Bool, at now: RemoteInstant) -> RemoteEntry<Value>? {
    guard let value = copy.value else { return nil }
    let age = isStale ? now.duration(since: endOfTrust(copy)) : .zero
    return RemoteEntry(
      value: value,
      tier: .memory,
      age: age,
      isStale: isStale,
      expiry: copy.wallExpiry,
      version: copy.version,
      tags: copy.tags
    )
  }

  /// The flight for a key: the one that is under way, or a new one with a task of its own.
  ///
  /// - Parameter near: what is in the log, if that is known.
  func board(
    _ key: Key,
    _ held: Key.Held,
    _ remote: RemoteKey,
    _ near: RemoteValue? = nil
  ) -> RemoteFlight<Value> {
    let (flight, new) = core.board(remote, view: number) { RemoteFlight<Value>() }
    guard let new else { return flight }
    Task { [self] in
      let outcome: Result<RemoteEntry<Value>?, StorageError>
      do throws(StorageError) {
        outcome = .success(try await fly(new, key, held, near))
      } catch {
        outcome = .failure(error)
      }
      core.leave(new)
      flight.land(outcome)
    }
    return flight
  }

  /// Looks in the log, asks the owner, decodes and keeps.
  private func fly(
    _ flight: Coherence.FlightID,
    _ key: Key,
    _ held: Key.Held,
    _ known: RemoteValue?
  ) async throws(StorageError) -> RemoteEntry<Value>? {
    let began = core.now()
    let copy = cache.look(held)?.value
    var near = copy == nil ? known : nil
    if copy == nil, near == nil { near = await log?.value(self.near(flight.key)) }
    if let near, let version = near.version, let value = try? decoded(near, key) {
      let cost = cost(of: value)
      let isKept = core.landVerified(flight, version) {
        keep(value, near, held, flight.key.domain, cost: cost, in: $0, since: began)
      }
      if isKept { return remoteEntry(value, near, .log) }
    }
    // What was told to have changed most likely has.
    let known = copy?.version ?? near?.version
    let isChanged = copy.map { $0.changedAt != nil } ?? false
    let deadline = core.now().advanced(by: options.hardTimeout)
    var answer = await ask(flight, isChanged ? nil : known, known, deadline)
    if case .success(.different) = answer { answer = await ask(flight, nil, known, deadline) }
    switch answer {
    case .failure(let error): throw error.storageError(of: name)
    case .success(.same):
      if let copy { return entry(copy, isStale: false, at: core.now()) }
      guard let near else { return nil }
      let value = try decoded(near, key)
      let cost = cost(of: value)
      core.land(flight, near.version) { keep(value, near, held, flight.key.domain, cost: cost, in: $0, since: began) }
      return remoteEntry(value, near, .log)
    case .success(.changed(let found)):
      let value = try found.map { found throws(StorageError) in try decoded(found, key) }
      if let version = found?.version { tiers.follow(version, flight.key.domain) }
      let cost = cost(of: value)
      core.land(flight, found?.version) { generation in
        if keep(value, found, held, flight.key.domain, cost: cost, in: generation, since: began) {
          log?.fill(found, forKey: self.near(flight.key))
        }
      }
      guard let value, let found else { return nil }
      return remoteEntry(value, found, .remote)
    case .success(.different):
      throw RemoteError.notExecuted("the store did not give the value").storageError(of: name)
    }
  }

  private func ask(
    _ flight: Coherence.FlightID,
    _ version: RemoteVersion?,
    _ seen: RemoteVersion?,
    _ deadline: RemoteInstant
  ) async -> Result<RemoteChecked, RemoteError> {
    await withCheckedContinuation { continuation in
      core.ask(flight, version, seen: seen, by: deadline) { continuation.resume(returning: $0) }
    }
  }

  func remoteEntry(_ value: Value, _ found: RemoteValue, _ tier: RemoteEntry<Value>.Tier) -> RemoteEntry<Value> {
    RemoteEntry(
      value: value,
      tier: tier,
      age: .zero,
      isStale: false,
      expiry: Expiry(remote: found.expiry),
      version: found.version,
      tags: found.tags
    )
  }
}
