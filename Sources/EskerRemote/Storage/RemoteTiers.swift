public import Esker
internal import EskerPlatform

/// The keys of a remote store with one prefix, and the coherence of all near copies of them: one for each store and prefix in a process.
///
/// Storages with different names share it, and all views of the same keys are notified of each write and change. Safe to use from any
/// thread.
public final class RemoteTiers: Sendable {
  /// What the remote store is called: part of the names of keyspaces, so that copies of one system are never taken for another's.
  public let name: String
  /// Stands before every key.
  public let prefix: String
  let store: any RemoteStore
  let core: Coherence
  let observers = RemoteObservers()
  let copies = NearLogs()
  let claims = LogClaims()
  let locks = HeldLocks()
  let clock: VersionClock
  private let system: any SystemClock
  /// The clock that a test gave instead of the process's own.
  let clockOfTests: (@Sendable () -> RemoteInstant)?
  private let views: Guarded<[String: any AnyObject & Sendable]>
  /// By the names of storages.
  let queues = Guarded([String: RemoteQueue](), .leaf)

  /// Tiers over a store that was not started yet.
  ///
  /// - Parameters:
  ///   - store: the client; no one else may start or stop it.
  ///   - name: what the remote store is called, always the same for the same data.
  ///   - prefix: stands before every key; those of different tiers must not begin with each other.
  ///   - verifiedCapacity: of how many copies in logs it can be known that they are current, at 16 bytes each. Others are checked. They
  ///     are found by hash in lines of four, so for nearly all of them to be known it must be two or three times as many.
  public convenience init(
    _ store: any RemoteStore,
    named name: String,
    prefix: String,
    verifiedCapacity: Int = 1 << 16
  ) {
    self.init(store, named: name, prefix: prefix, verifiedCapacity, .system, now: nil)
  }

  init(
    _ store: any RemoteStore,
    named name: String,
    prefix: String,
    _ verifiedCapacity: Int,
    _ platform: Platform,
    faults: PlantedFaults = [],
    now: (@Sendable () -> RemoteInstant)?
  ) {
    clockOfTests = now
    self.store = store
    self.name = name
    self.prefix = prefix
    system = platform.clock
    clock = VersionClock(writer: platform.random())
    views = Guarded([:], .leaf)
    let present = { @Sendable [system = platform.clock] in Self.milliseconds(store, 0, now?() ?? .now, system) }
    core = Coherence(
      store,
      verified: VerifiedSet(capacity: verifiedCapacity),
      seeds: (platform.random(), platform.random()),
      faults: faults,
      now: now ?? { .now },
      granted: { [copies] in copies.granted($0, at: $1, present) },
      report: { [observers] in observers.notify($0) }
    )
  }

  /// Connects. Storages can be made before; what is asked of the remote store before this was called fails, and waits while it connects.
  ///
  /// Called once. After an error whose ``RemoteError/isPassing`` is true the store goes on trying to connect by itself, and storages
  /// serve what they may without it: a process can go on, and need not start again.
  ///
  /// - Throws: ``RemoteError/unavailable(until:)`` if the store cannot be reached within its time limit;
  ///   ``RemoteError/refused(code:message:)`` if it does not take this client, for its password or rights;
  ///   ``RemoteError/unsupported(_:)`` if this was called before, whatever came of that; ``RemoteError/stopped`` if the task is cancelled:
  ///   the store is stopped then, for good. Call ``stop()`` also after an error.
  public func start() async throws(RemoteError) { try await store.start(prefix: Array(prefix.utf8), sink: core) }

  /// Disconnects. Calls fail from then on, unless stale values may be served. Queued writes stay in their logs, which are not written
  /// any more once this returns, so that other tiers may use them.
  public func stop() async {
    await stopQueues { await store.stop() }
    // Views and this object retain each other. Views without other owners are released outside the lock, since what they held may run any
    // code.
    core.removeTiers()
    await copies.close()
    claims.release()
    let former = views.withLock { views in
      defer { views = [:] }
      return views
    }
    withExtendedLifetime(former) {}
  }

  /// A storage whose keys begin with `name` and a colon. Asked for again with the same types, it is the same one, with the memory, log
  /// and options that it was made with.
  ///
  /// - Parameters:
  ///   - name: what the storage is called, in keys and in errors.
  ///   - key: the type of the keys.
  ///   - transformer: how values become bytes.
  ///   - memory: what memory may hold.
  ///   - log: keeps copies that survive restarts; nil: there are none. The keyspace is named after the remote store, prefix and name.
  ///   - options: how fresh values must be, how long calls take at most, and what else a storage does.
  ///   - cost: what a value counts towards the cost limit; 1 if there is no such closure.
  /// - Throws: ``/Esker/StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys have another form;
  ///   ``/Esker/StorageError/back(name:underlying:)`` with ``RemoteLogInUse`` if other tiers of this name and prefix that were not stopped
  ///   use the log, or with ``RemoteError/stopped`` if there is a log and these were;
  ///   ``/Esker/StorageError/unsupported(operation:view:)`` if `name` is empty, begins with `#` or has a colon, if the options have tags
  ///   of which ``RemoteStorage/tagged(_:)-(String...)`` would throw, or if writes are to be queued and there are tags, or no log for it, or one
  ///   that is read only or has a capacity.
  @inlinable
  public func storage<Key: StorageKey, Value: Sendable>(
    _ name: String,
    key: Key.Type = Key.self,
    transformer: Transformer<Value>,
    memory: MemoryLimits = MemoryLimits(count: 10_000),
    log: LogStore? = nil,
    options: RemoteOptions = RemoteOptions(),
    cost: (@Sendable (Value) -> Int)? = nil
  ) throws(StorageError) -> RemoteStorage<Key, Value> {
    let id = "\(name):\(Key.self):\(Value.self):\(transformer.id)"
    if let view = known(id, Key.self, Value.self) { return RemoteStorage(view: view) }
    let made = try makeView(name, Key.self, transformer, memory, log, options, cost)
    return RemoteStorage(view: publish(made, as: id, ViewTier(made)))
  }

  @usableFromInline
  func known<Key, Value>(_ id: String, _ key: Key.Type, _ value: Value.Type) -> RemoteView<Key, Value>? {
    views.withLock { $0[id] } as? RemoteView<Key, Value>
  }

  @usableFromInline
  func makeView<Key: StorageKey, Value: Sendable>(
    _ name: String,
    _ key: Key.Type,
    _ transformer: Transformer<Value>,
    _ memory: MemoryLimits,
    _ log: LogStore?,
    _ options: RemoteOptions,
    _ cost: (@Sendable (Value) -> Int)?
  ) throws(StorageError) -> RemoteView<Key, Value> {
    guard !name.isEmpty, !name.hasPrefix("#"), !name.contains(":") else {
      throw .unsupported(operation: "have that name", view: name)
    }
    _ = try RemoteTags.checked(options.tags, name)
    if options.queue != nil, options.isClearable || !options.tags.isEmpty {
      throw .unsupported(operation: "queue what has tags", view: name)
    }
    if options.asksReplicas { core.observeReplicas() }
    var near: NearLog?
    if let log {
      try claims.claim(log, self.name, prefix, for: name)
      let keyspaces = "\(self.name)/\(prefix)"
      near = try copies.log(log, name, in: keyspaces, key: Key.self, stale: options.serveStale)
    }
    if let queue = options.queue { try openQueue(name, queue, log) }
    return RemoteView(self, tags, name, transformer, memory, near, options, cost)
  }

  /// The storage of all tags.
  var tags: RemoteTags {
    let name = RemoteTags.name
    if let view = known(name, String.self, TagMark.self) { return RemoteTags(view) }
    let made = RemoteView<String, TagMark>(
      self,
      nil,
      name,
      RemoteTags.values,
      RemoteTags.limits,
      nil,
      RemoteOptions(),
      nil
    )
    return RemoteTags(publish(made, as: name, ViewTier(made)))
  }

  /// Makes a view the one of its name and types, unless another thread came first. It is notified of changes before anyone can find it.
  @usableFromInline
  func publish<Key, Value>(_ made: RemoteView<Key, Value>, as id: String, _ tier: ViewTier) -> RemoteView<Key, Value> {
    core.add(tier)
    let view = views.withLock { views -> RemoteView<Key, Value> in
      if let view = views[id] as? RemoteView<Key, Value> { return view }
      views[id] = made
      return made
    }
    if view !== made { core.remove(tier) }
    return view
  }

  /// A storage of values in their standard form; see ``storage(_:key:transformer:memory:log:options:cost:)``.
  @inlinable
  public func storage<Key: StorageKey, Value: Codable & Sendable>(
    _ name: String,
    key: Key.Type = Key.self,
    of value: Value.Type = Value.self,
    memory: MemoryLimits = MemoryLimits(count: 10_000),
    log: LogStore? = nil,
    options: RemoteOptions = RemoteOptions()
  ) throws(StorageError) -> RemoteStorage<Key, Value> {
    try storage(name, key: key, transformer: .standard, memory: memory, log: log, options: options)
  }

  /// A storage with texts as keys; see ``storage(_:key:transformer:memory:log:options:cost:)``.
  @inlinable
  public func storage<Value: Codable & Sendable>(
    _ name: String,
    of value: Value.Type,
    memory: MemoryLimits = MemoryLimits(count: 10_000),
    log: LogStore? = nil,
    options: RemoteOptions = RemoteOptions()
  ) throws(StorageError) -> RemoteStorage<String, Value> {
    try storage(name, key: String.self, of: value, memory: memory, log: log, options: options)
  }

  // MARK: Time

  /// The present by the server's clock, or by this machine's as long as that is not known.
  func milliseconds(_ domain: UInt16) -> UInt64 { Self.milliseconds(store, domain, core.now(), system) }

  /// The same for whatever may live longer than the tiers.
  var presentTime: @Sendable (UInt16) -> UInt64 {
    { [store, core, system] in Self.milliseconds(store, $0, core.now(), system) }
  }

  private static func milliseconds(
    _ store: any RemoteStore,
    _ domain: UInt16,
    _ now: RemoteInstant,
    _ system: any SystemClock
  ) -> UInt64 {
    store.time(of: domain)?.milliseconds(at: now) ?? UInt64(clamping: system.wallMilliseconds())
  }

  func nextVersion(_ domain: UInt16) -> RemoteVersion { clock.next(at: milliseconds(domain)) }

  func follow(_ version: RemoteVersion, _ domain: UInt16) { clock.follow(version, at: milliseconds(domain)) }
}

/// What the coherence of near copies has done so far.
public struct RemoteStatistics: Hashable, Sendable {
  /// Questions that were asked of the remote store.
  public var asked: UInt64
  /// Those of them that found a copy unchanged.
  public var same: UInt64
  /// Values that were read and kept.
  public var kept: UInt64
  /// Values that were read and not kept, because something was reported meanwhile.
  public var notKept: UInt64
  /// Changes that were reported.
  public var changes: UInt64
  /// How often all that was known of some domains became doubtful.
  public var raises: UInt64
  /// Writes of which nothing is known.
  public var unknownOutcomes: UInt64
  /// Reads that found something older than what was seen before: the remote store has lost writes. Where the clocks of writers
  /// disagree, it may only look so.
  public var rolledBack: UInt64
  /// Values that this process began to produce for all, under a lock; see ``RemoteOptions/singleFlight``.
  public var productions: UInt64
  /// Values that this process did not produce, because it waited for another one's.
  public var awaited: UInt64
}

extension RemoteTiers {
  /// What was done so far. Takes no lock.
  public var statistics: RemoteStatistics {
    let counters = core.counters
    return RemoteStatistics(
      asked: counters.asked.value,
      same: counters.same.value,
      kept: counters.kept.value,
      notKept: counters.notKept.value,
      changes: counters.changes.value,
      raises: counters.raises.value,
      unknownOutcomes: counters.unknownOutcomes.value,
      rolledBack: counters.rolledBack.value,
      productions: counters.productions.value,
      awaited: counters.awaited.value
    )
  }
}
