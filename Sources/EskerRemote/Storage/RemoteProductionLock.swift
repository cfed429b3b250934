package import Esker
internal import EskerLog
internal import EskerPlatform

/// Has one of all processes produce the value of a key: the one that has stored its number under the key's lock, where there was none.
///
/// Who finds another's number there waits until something is reported of the value or the lock, and looks again. A lock is removed when its
/// producer has ended, on the condition that it is still its own, and runs out when its process does not renew it any more.
struct RemoteProductionLock: ProductionLock {
  /// What all locks begin with. Names of storages do not.
  private static let name = Array("#lock:".utf8)

  /// A lock that the present task has, or one that has started it.
  private struct Place: Hashable {
    let core: ObjectIdentifier
    let key: [UInt8]
  }

  @TaskLocal private static var own: Set<Place> = []

  private enum Ownership {
    /// The lock is this process's, with this version.
    case own(RemoteVersion)
    case another
    /// Whose it is cannot be known; the version with which it may be this process's.
    case unknown(RemoteVersion?)
  }

  private let tiers: RemoteTiers
  private let options: RemoteSingleFlight
  private let key: RemoteKey
  private let lock: RemoteKey
  private let limit: Duration
  private var core: Coherence { tiers.core }

  /// - Parameters:
  ///   - key: of the value.
  ///   - identity: what the value is produced for: the same in all processes that may share it.
  ///   - limit: after which a request of the storage fails.
  init(_ tiers: RemoteTiers, _ options: RemoteSingleFlight, _ key: RemoteKey, identity: [UInt8], within limit: Duration)
  {
    self.tiers = tiers
    self.options = options
    self.key = key
    self.limit = min(limit, options.lockTimeout)
    lock = tiers.store.key(Self.name + identity)
  }

  nonisolated(nonsending) func value<Value: Sendable>(
    _ look: nonisolated(nonsending) () async throws(StorageError) -> Value?,
    orProduce produce: nonisolated(nonsending) () async throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    // A producer that asks for what it is producing, as another type: it would wait for itself.
    if Self.own.contains(place) { return try await produce() }
    var isFirst = true
    while true {
      let watch = core.watch(key, lock)
      defer { core.unwatch(watch) }
      // What has ended the wait is the value in most cases.
      if !isFirst, isLeased, let found = try await found(look) { return found }
      switch await ownership() {
      case .own(let version): return try await own(version, look, produce)
      case .unknown(let version):
        defer { if let version { release(version) } }
        return try await inside(produce)
      case .another:
        // It may have been stored before the watch began, by a process that has died since.
        if isFirst, let found = try await found(look) { return found }
        isFirst = false
        // The producer that has it may wait for this very task. Within a process tasks meet by what they ask, or not, as without locks.
        if tiers.locks.contains(lock) { return try await inside(produce) }
        if case .cancelled = await watch.promise.outcome(within: options.lifetime) { throw .cancelled }
      }
    }
  }

  /// Produces under the lock, unless another has done so before it was taken.
  private nonisolated(nonsending) func own<Value: Sendable>(
    _ version: RemoteVersion,
    _ look: nonisolated(nonsending) () async throws(StorageError) -> Value?,
    _ produce: nonisolated(nonsending) () async throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let renewal = renewal(version)
    defer {
      renewal.cancel()
      tiers.locks.end(lock)
      release(version)
    }
    // The answer of the lock may be here sooner than what was reported of the value before.
    core.distrust(key)
    if let found = try await found(look) { return found }
    core.counters.productions.count()
    return try await inside(produce)
  }

  private nonisolated(nonsending) func inside<Value: Sendable>(
    _ produce: nonisolated(nonsending) () async throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let outcome: Result<Value, StorageError> = await Self.$own.withValue(Self.own.union([place])) {
      do throws(StorageError) { return .success(try await produce()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  /// What another process has made. A storage that cannot be read says nothing.
  private nonisolated(nonsending) func found<Value: Sendable>(
    _ look: nonisolated(nonsending) () async throws(StorageError) -> Value?
  ) async throws(StorageError) -> Value? {
    let found = try? await look()
    if found != nil { core.counters.awaited.count() } else if Task.isCancelled { throw .cancelled }
    return found
  }

  private var place: Place { Place(core: ObjectIdentifier(core), key: lock.bytes) }

  private var isLeased: Bool {
    let now = core.now()
    return core.domains.isTrusted(key.domain, core.domains.generation(key.domain), at: now)
  }

  // MARK: The lock

  private nonisolated(nonsending) func ownership() async -> Ownership {
    let version = tiers.nextVersion(lock.domain)
    let number = [UInt8]().withBytes { RemoteValue(envelope(version), payload: $0) }
    // The next attempt of this process must know whose the lock is.
    let outcome = await core.write(
      lock,
      .set(number, .absent),
      within: limit,
      answered: { [tiers, lock] outcome in
        if case .success(let outcome) = outcome, outcome.isDone { tiers.locks.begin(lock) }
      }
    )
    switch outcome {
    case .success(let outcome): return outcome.isDone ? .own(version) : .another
    case .failure(.unknownOutcome): return .unknown(version)
    case .failure: return .unknown(nil)
    }
  }

  /// The version says whose it is, and stays the same: no copies are kept of a lock.
  private func envelope(_ version: RemoteVersion) -> RemoteEnvelope {
    let (end, overflow) = tiers.milliseconds(lock.domain).addingReportingOverflow(options.lifetime.wholeMilliseconds)
    return RemoteEnvelope(version: version, expiry: overflow ? RemoteEnvelope.latestExpiry : max(1, end))
  }

  /// Renews the lock until it is cancelled, has taken too long, or finds that the lock is not this process's any more.
  private func renewal(_ version: RemoteVersion) -> Task<Void, Never> {
    Task {
      let end = ContinuousClock.now + options.producerLimit.bounded
      while (try? await Task.sleep(for: options.lifetime / 2)) != nil, ContinuousClock.now < end {
        let outcome = await core.write(lock, .touch(envelope(version), .version(version)), within: limit)
        if case .success(let outcome) = outcome, !outcome.isDone { return }
      }
    }
  }

  /// Nobody waits for it: if it cannot be removed, it runs out.
  private func release(_ version: RemoteVersion) {
    core.write(lock, .remove(.version(version)), by: core.now().advanced(by: limit)) { _ in }
  }
}

extension RemoteStorage: SharedStorage {
  package func productionLock(of key: Key) throws(StorageError) -> (any ProductionLock)? {
    guard let options = view.options.singleFlight else { return nil }
    // Who begins after a tag has changed does not wait for a producer that began before.
    let identity = try identity(of: key).key
    return RemoteProductionLock(
      view.tiers,
      options,
      try view.remote(key),
      identity: identity,
      within: view.options.hardTimeout
    )
  }
}
