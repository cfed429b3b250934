internal import Esker
internal import EskerLog

extension RemoteView {
  /// The value of a key, from the nearest tier that may serve it.
  nonisolated(nonsending) func find(
    _ key: Key,
    within limit: Duration? = nil
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
    let remote = try remote(key)
    if let queue = tiers.queue(name), let waiting = try await queued(key, remote, in: queue) { return waiting.entry }
    let copy = served ?? cache.look(held)?.value
    if case .bounded(let bound) = options.freshness, let copy, now < copy.freshEnd,
      let entry = stale(copy, within: bound, at: now)
    {
      return entry
    }
    let spare = options.serveStale.flatMap { limit in copy.flatMap { stale($0, within: limit, at: now) } }
    // Nothing would come of asking but a wait.
    if let spare, !core.domains.isTrusted(remote.domain, core.domains.generation(remote.domain), at: now) {
      return spare
    }
    do throws(StorageError) {
      let limit = spare == nil ? limit : options.softTimeout
      let found =
        if let served { entry(served, isStale: false, at: now) } else {
          try await board(key, held, remote).landing(within: limit, of: name)
        }
      return try await isValid(found, within: limit) ? found : nil
    } catch {
      if let spare, case .back = error { return spare }
      throw error
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

  /// A copy as a stale entry, if it was current recently enough, and its tags are not known to have changed.
  private func stale(_ copy: HeldCopy<Value>, within limit: Duration, at now: RemoteInstant) -> RemoteEntry<Value>? {
    guard var entry = entry(copy, isStale: true, at: now), let since = age(of: entry.tags, at: now) else { return nil }
    entry.age = max(entry.age, since)
    return entry.age <= limit ? entry : nil
  }

  /// The flight for a key: the one that is under way, or a new one with a task of its own.
  func board(_ key: Key, _ held: Key.Held, _ remote: RemoteKey) -> RemoteFlight<Value> {
    let (flight, new) = core.board(remote, view: number) { RemoteFlight<Value>() }
    guard let new else { return flight }
    Task { [self] in
      let outcome: RemoteFlight<Value>.Outcome
      do throws(StorageError) {
        outcome = .success(try await fly(new, key, held))
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
    _ held: Key.Held
  ) async throws(StorageError) -> RemoteEntry<Value>? {
    let copy = cache.look(held)?.value
    var near: RemoteValue?
    if copy == nil, let found = await log?.value(key), let version = found.version {
      near = found
      let value = try? decoded(found, key)
      if let value,
        core.landVerified(flight, version, keep: { keep(value, found, held, flight.key.domain, in: $0) })
      {
        return remoteEntry(value, found, .log)
      }
    }
    // What was told to have changed most likely has.
    let known = copy?.version ?? near?.version
    let isChanged = copy.map { $0.changedAt != nil } ?? false
    let deadline = core.now().advanced(by: options.hardTimeout)
    var answer = await ask(flight, isChanged ? nil : known, known, deadline)
    if case .success(.different) = answer { answer = await ask(flight, nil, known, deadline) }
    switch answer {
    case .failure(let error):
      if let near, let entry = spare(near, key, flight.key.domain) { return entry }
      throw error.told(by: name)
    case .success(.same):
      if let copy { return entry(copy, isStale: false, at: core.now()) }
      guard let near else { return nil }
      let value = try decoded(near, key)
      core.land(flight, near.version) { keep(value, near, held, flight.key.domain, in: $0) }
      return remoteEntry(value, near, .log)
    case .success(.changed(let found)):
      let value = try found.map { found throws(StorageError) in try decoded(found, key) }
      if let version = found?.version { tiers.follow(version, flight.key.domain) }
      core.land(flight, found?.version) { generation in
        keep(value, found, held, flight.key.domain, in: generation)
        log?.keep(found, forKey: key)
      }
      guard let value, let found else { return nil }
      return remoteEntry(value, found, .remote)
    case .success(.different):
      throw RemoteError.notExecuted("the store did not give the value").told(by: name)
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

  /// A copy from the log in place of what could not be read. All that is known of it after a restart is when it was written.
  private func spare(_ near: RemoteValue, _ key: Key, _ domain: UInt16) -> RemoteEntry<Value>? {
    guard let limit = options.serveStale, let version = near.version, let value = try? decoded(near, key) else {
      return nil
    }
    let now = tiers.milliseconds(domain)
    guard let since = self.age(of: near.tags, at: core.now()) else { return nil }
    let age = max(since, .milliseconds(Int64(clamping: now > version.time ? now - version.time : 0)))
    guard age <= limit else { return nil }
    var entry = remoteEntry(value, near, .log)
    entry.age = age
    entry.isStale = true
    return entry
  }
}
