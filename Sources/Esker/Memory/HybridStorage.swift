public import EskerMemory

/// Memory ahead of another storage, a log in the first place: what was read or written lately is answered without it.
///
/// ```swift
/// let users = HybridStorage(
///   try LogStorage(store, "users", key: String.self, of: User.self),
///   limits: MemoryLimits(count: 10_000)
/// )
/// try users.set(anna, forKey: "anna")         // in the log and in memory
/// let user = try users.value(forKey: "anna")  // from memory, decoded once
/// ```
///
/// **The tiers do not disagree.** Over a ``LogStorage``, or a ``Storage`` that hides one, the front is told of every write to
/// the keyspace before it can be seen, through whatever view or past all of them; memory then never gives a value older than
/// one that somebody has finished reading or writing. Over any other storage, all writes must be made through this one.
/// Strings that Swift calls equal although their bytes differ are one key or two, as they are behind.
///
/// **There is one memory for a keyspace.** Views of other values that ``transform(to:cost:)`` makes, and all other hybrid storages over
/// the same keyspace, share its limits and its ``statistics``: together they hold at most what the narrowest limits allow that any of
/// them was made with. What is in use through one view makes what is not used through another go.
///
/// A hit takes no lock. Safe to use from any thread; copies share everything.
public struct HybridStorage<Back: UpdatableStorage>: UpdatableStorage where Back.Key: Hashable {
  /// What values are found by.
  public typealias Key = Back.Key
  /// What is found.
  public typealias Value = Back.Value

  @usableFromInline let core: HybridCore<Back>

  /// Memory ahead of `back`.
  ///
  /// - Parameters:
  ///   - back: what is asked for all that is not in memory.
  ///   - limits: what memory may hold at most, over a log together with all other fronts of the keyspace; without limits it only grows.
  ///   - writing: what is done with a write.
  ///   - remembersAbsence: whether memory also keeps that a key was not there when it was asked for.
  ///   - clock: the clock that expiry follows over anything but a log, which has its own.
  ///   - cost: what a value counts towards the cost limit; 1 for each value if there is no such closure. With one, an absent
  ///     key counts 64.
  public init(
    _ back: Back,
    limits: MemoryLimits = MemoryLimits(),
    writing: WritePolicy = .through,
    remembersAbsence: Bool = false,
    clock: StoreClock = .system,
    cost: (@Sendable (Value) -> Int)? = nil
  ) {
    core = HybridCore(back, .limited(limits), writing, remembersAbsence, clock, cost)
  }

  /// Memory ahead of `back` that is part of another front's, with its manners.
  init<Other>(_ back: Back, sharing other: HybridCore<Other>, cost: (@Sendable (Value) -> Int)? = nil) {
    core = HybridCore(back, .shared(other.pool), other.writing, other.remembersAbsence, other.clock, cost)
  }

  /// What is behind memory.
  @inlinable public var back: Back { core.back }

  /// The name of what is behind.
  public var name: String { core.back.name }

  /// The identity of what is behind: both give the same values.
  public var identity: StorageIdentity { core.back.identity }

  /// Whether what is behind may wait.
  @inlinable public var mayBlock: Bool { core.back.mayBlock }

  /// The value under `key`, from memory or from behind; nil when the key is absent or expired.
  ///
  /// - Throws: what reading behind throws.
  @inlinable
  public func value(forKey key: Key) throws(StorageError) -> Value? {
    if let held = core.plane.value(key) { return held }
    return try core.entryBehind(key)?.value
  }

  /// The value under `key`, when it goes and where it was found; nil when the key is absent or expired. Memory does not keep
  /// versions.
  ///
  /// - Throws: what reading behind throws.
  @inlinable
  public func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? {
    switch core.plane.resident(key) {
    case .present(let entry): return entry
    case .absent: return nil
    case .unknown: return try core.entryBehind(key)
    }
  }

  /// What memory knows of `key`: asynchronous reads of it do not change threads.
  @inlinable
  public func residentEntry(forKey key: Key) throws(StorageError) -> Resident<Value> { core.plane.resident(key) }

  /// Whether the key is there and not expired. What memory does not know is asked behind, and not brought into memory.
  public func contains(_ key: Key) throws(StorageError) -> Bool {
    switch core.plane.resident(key) {
    case .present: return true
    case .absent: return false
    case .unknown:
      return try core.back.contains(key)
    }
  }

  /// Stores `value` under `key`, as the ``WritePolicy`` says. A value that cannot be encoded changes nothing.
  ///
  /// - Throws: what writing behind throws.
  public func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {
    try core.set(value, key, expiry)
  }

  /// Removes `key` from memory and from behind; true when it was there.
  @discardableResult
  public func removeValue(forKey key: Key) throws(StorageError) -> Bool { try core.remove(key) }

  /// Changes the value behind atomically; see ``UpdatableStorage``.
  @discardableResult
  public func update<R>(
    forKey key: Key,
    expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try core.update(key, expiry, body)
  }
}

// MARK: Memory

extension HybridStorage {
  /// What memory may hold at most, with all views that share it.
  public var limits: MemoryLimits { core.pool.limits }

  /// What memory holds and what it did, with all views that share it. An asynchronous read that memory cannot answer counts two
  /// misses.
  public var statistics: MemoryStatistics { core.pool.statistics }

  /// Drops `key` from memory, for all views that share it; what is behind stays.
  public func removeInMemory(forKey key: Key) { core.removeInMemory(key) }

  /// Drops everything from memory, for all views that share it; what is behind stays.
  public func removeAllInMemory() { core.pool.removeAll() }

  /// Lets go of values in memory, of all views that share it, until they cost at most `cost`: for when the system is short of
  /// memory.
  public func trim(toCost cost: Int) { core.pool.trim(toCost: cost) }

  /// Lets go of values in memory, of all views that share it, until there are at most `count`.
  public func trim(toCount count: Int) { core.pool.trim(toCount: count) }
}

// MARK: What the storage behind can do

extension HybridStorage: EnumerableStorage where Back: EnumerableStorage {
  /// Calls `body` with each key and entry behind; see ``EnumerableStorage``.
  public func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try core.back.forEachEntry(onFailure: failure, body)
  }

  /// Calls `body` with each key behind; see ``EnumerableStorage``.
  public func forEachKey(_ body: (Key) throws(StorageError) -> Void) throws(StorageError) {
    try core.back.forEachKey(body)
  }

  /// How many entries there are behind.
  public func count() throws(StorageError) -> Int {
    try core.back.count()
  }
}

extension HybridStorage: ClearableStorage where Back: ClearableStorage {
  /// Empties both tiers.
  public func removeAll() throws(StorageError) {
    try core.removeAll { () throws(StorageError) in try core.back.removeAll() }
  }

  /// Removes what is expired in both tiers; how much there was behind.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int {
    core.pool.removeExpired(now: core.plane.clock())
    return try core.back.removeExpired()
  }
}

extension HybridStorage: ObservableStorage where Back: ObservableStorage {
  /// Calls `body` with every change behind; see ``ObservableStorage``.
  public func observe(
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try core.back.observe(body)
  }

  /// Calls `body` with every change of one key behind; see ``ObservableStorage``.
  public func observe(
    _ key: Key,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try core.back.observe(key, body)
  }
}

extension HybridStorage: TransformableStorage where Back: TransformableStorage {
  /// Another typed view of the same bytes and the same memory; ``transform(to:cost:)`` has the concrete one.
  public func erasedTransform<New: Sendable>(to transformer: Transformer<New>) -> Storage<Key, New> {
    Storage(
      HybridStorage<Storage<Key, New>>(
        core.back.erasedTransform(to: transformer),
        sharing: core
      )
    )
  }
}

extension HybridStorage {
  /// Another typed view of the same bytes and the same memory: both views' values count towards the same limits.
  ///
  /// - Parameters:
  ///   - transformer: the form of the values.
  ///   - cost: what a value counts towards the cost limit, in the unit that this view counts in; 1 for each value if there is no such
  ///     closure.
  public func transform<LogKey, LogValue, New>(
    to transformer: Transformer<New>,
    cost: (@Sendable (New) -> Int)? = nil
  ) -> HybridStorage<LogStorage<LogKey, New>> where Back == LogStorage<LogKey, LogValue> {
    HybridStorage<LogStorage<LogKey, New>>(
      core.back.transform(to: transformer),
      sharing: core,
      cost: cost
    )
  }
}
