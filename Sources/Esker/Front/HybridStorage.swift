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
/// **The tiers do not disagree.** Over a ``LogStorage``, also behind a ``Storage``, another front or operators that keep keys, the
/// memory is notified of every write to the keyspace before the write becomes visible, through whatever view it is made, or
/// directly. So memory never returns a value older than one that any reader or writer has finished reading or writing. Over any
/// other storage, all writes must be made through this one. Keys are compared by their bytes in memory, as they are behind it; over
/// a view whose keys have another form than their type's, ``StorageKey/keyTransformer``, nothing is kept, nor over a store that is
/// open read-only, which is not notified of what its writer does.
///
/// **There is one memory for a keyspace.** Views of other values that ``transform(to:cost:)`` makes, and all other hybrid storages
/// over the same keyspace, share its limits and its ``statistics``: together they hold at most what the narrowest limits allow that
/// any of them was made with. Values in use through one view evict values that are not used through another.
///
/// A hit takes no lock. Safe to use from any thread; copies share everything.
public struct HybridStorage<Back: StorageProtocol>: StorageProtocol where Back.Key: StorageKey {
  /// The type of keys.
  public typealias Key = Back.Key
  /// The type of values.
  public typealias Value = Back.Value

  @usableFromInline let core: HybridCore<Back>

  /// Memory ahead of `back`.
  ///
  /// - Parameters:
  ///   - back: what is asked for all that is not in memory.
  ///   - limits: what memory may hold at most, over a log together with all other fronts of the keyspace; without limits it only grows.
  ///   - keepsWrites: over a log, whether a value is in memory once it is written; else once it is read.
  ///   - remembersAbsence: whether memory also keeps that a key was not there when it was asked for.
  ///   - clock: the clock that memory goes by over anything but a log; nil: by the time of what is behind.
  ///   - cost: what a value counts towards the cost limit; 1 for each value if there is no such closure. With one, an absent
  ///     key counts 64.
  @inlinable
  public init(
    _ back: Back,
    limits: MemoryLimits = MemoryLimits(),
    keepsWrites: Bool = true,
    remembersAbsence: Bool = false,
    clock: Options.Clock? = nil,
    cost: (@Sendable (Value) -> Int)? = nil
  ) {
    core = HybridCore(
      back,
      .limited(limits),
      keepsWrites: keepsWrites,
      remembersAbsence: remembersAbsence,
      clock,
      cost,
      front: { WriteFront($0) }
    )
  }

  /// Memory ahead of `back` that is part of another front's, with its manners.
  @inlinable
  init<Other>(_ back: Back, sharing other: HybridCore<Other>, cost: (@Sendable (Value) -> Int)? = nil) {
    core = HybridCore(
      back,
      .shared(other.pool),
      keepsWrites: other.keepsWrites,
      remembersAbsence: other.remembersAbsence,
      other.clock,
      cost,
      front: { WriteFront($0) }
    )
  }

  /// What is behind memory.
  @inlinable public var back: Back { core.back }

  /// The name of what is behind.
  public var name: String { core.back.name }

  /// The time that memory goes by: that of what is behind, or of the clock that it was given.
  public var time: WallTime { WallTime(millisecondsSince1970: core.plane.clock()) }

  /// The identity of what is behind: both give the same values.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity { try core.back.identity(of: key) }
}

// MARK: Reading

extension HybridStorage: AsyncReadableStorage where Back: AsyncReadableStorage {
  /// What memory knows of `key`: reads by tasks do not change threads for it.
  @inlinable
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    if core.passes(call) { return try core.back.held(key, call) }
    return core.plane.entry(try core.held(key), call)
  }

  /// As `read`: what is not in memory is read from behind, and kept.
  @inlinable
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    let held = try core.held(key)
    if !core.passes(call) {
      switch core.plane.entry(held, call) {
      case .entry(let entry): return entry
      case .absent: return nil
      case .unknown: break
      }
    }
    let ticket = core.plane.beginFill(held)
    let found: Entry<Value>?
    // Memory was asked here, and not behind.
    do throws(StorageError) { found = try await core.back.asyncRead(key, call.forOtherPart) } catch {
      return try core.spare(held, call, error)
    }
    core.keep(found, held, call, ticket)
    return found
  }
}

extension HybridStorage: ReadableStorage where Back: ReadableStorage {
  /// The value under `key`, from memory or from behind, and what is known of it; nil when the key is absent or expired.
  ///
  /// - Throws: what reading behind throws.
  @inlinable
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    let held = try core.held(key)
    if !core.passes(call) {
      switch core.plane.entry(held, call) {
      case .entry(let entry): return entry
      case .absent: return nil
      case .unknown: break
      }
    }
    return try readBehind(key, held, call)
  }

  /// The value under `key`, from memory or from behind; nil when the key is absent or expired. As `read`, with less to copy.
  @inlinable
  public func value(forKey key: Key) throws(StorageError) -> Value? {
    let held = try core.held(key)
    if core.isUsable, let found = core.plane.value(held) { return found }
    return try readBehind(key, held, StorageRequest.Read())?.value
  }

  @inlinable
  func readBehind(_ key: Key, _ held: Key.Held, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    let ticket = core.plane.beginFill(held)
    let found: Entry<Value>?
    do throws(StorageError) { found = try core.back.read(key, call) } catch { return try core.spare(held, call, error) }
    core.keep(found, held, call, ticket)
    return found
  }

  /// The entries of several keys. What memory does not know is read from behind together, and kept.
  @inlinable
  public func read(several keys: [Key], _ call: StorageRequest.Read) throws(StorageError) -> [Entry<Value>?] {
    var entries = [Entry<Value>?](repeating: nil, count: keys.count)
    var missing: [(position: Int, held: Key.Held, ticket: FrontPlane<Key, Value>.Ticket)] = []
    for (position, key) in keys.enumerated() {
      let held = try core.held(key)
      if !core.passes(call) {
        switch core.plane.entry(held, call) {
        case .entry(let entry):
          entries[position] = entry
          continue
        case .absent: continue
        case .unknown: break
        }
      }
      missing.append((position, held, core.plane.beginFill(held)))
    }
    if missing.isEmpty, !keys.isEmpty { return entries }
    let found = try core.back.read(several: missing.map { keys[$0.position] }, call)
    for (miss, entry) in zip(missing, found) {
      core.keep(entry, miss.held, call, miss.ticket)
      entries[miss.position] = entry
    }
    return entries
  }

  /// What is known of the value under `key`. What memory does not know is asked behind, and not brought into memory.
  public func peek(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Void>? {
    if !core.passes(call) {
      switch core.plane.entry(try core.held(key), call) {
      case .entry(let entry): return entry.map { _ in }
      case .absent: return nil
      case .unknown: break
      }
    }
    return try core.back.peek(key, call)
  }
}

// MARK: Writing

extension HybridStorage: AsyncWritableStorage where Back: AsyncWritableStorage {
  /// Writes behind; see `write`.
  @inlinable
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    let held = try core.held(key)
    let ticket = core.begin(held)
    var receipt: StorageRequest.Receipt?
    defer { core.end(ticket, held, call, receipt) }
    let done = try await core.back.asyncWrite(key, call)
    receipt = done
    return done
  }
}

extension HybridStorage: WritableStorage where Back: WritableStorage {
  /// Writes behind; over a log the value is in memory then, unless another write came at the same time.
  ///
  /// - Throws: what writing behind throws.
  @inlinable
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    let held = try core.held(key)
    let ticket = core.begin(held)
    var receipt: StorageRequest.Receipt?
    defer { core.end(ticket, held, call, receipt) }
    let done: StorageRequest.Receipt
    if let log = core.log, let held = held as? StorageRequest.HeldBytes {
      done = try log.write(keyBytes: held.bytes, call)
    } else {
      done = try core.back.write(key, call)
    }
    receipt = done
    return done
  }
}

extension HybridStorage: StorageRequest.AsyncUpdatable where Back: StorageRequest.AsyncUpdatable {}

extension HybridStorage: UpdatableStorage where Back: UpdatableStorage {}

// MARK: Memory

extension HybridStorage {
  /// What memory may hold at most, for all views that share it together.
  public var limits: MemoryLimits { core.pool.limits }

  /// What memory holds and what it did, for all views that share it together.
  public var statistics: MemoryStatistics { core.pool.statistics }

  /// Drops `key` from memory, for all views that share it; what is behind stays.
  public func removeInMemory(forKey key: Key) { core.removeInMemory(key) }

  /// Drops everything from memory, for all views that share it; what is behind stays.
  public func removeAllInMemory() { core.pool.removeAll() }

  /// Evicts values from memory, of all views that share it, until they cost at most `cost`: for when the system is short of
  /// memory.
  public func trim(toCost cost: Int) { core.pool.trim(toCost: cost) }

  /// Evicts values from memory, of all views that share it, until there are at most `count`.
  public func trim(toCount count: Int) { core.pool.trim(toCount: count) }
}

extension HybridStorage: MemoryBacked {
  var memoryStatistics: MemoryStatistics? { statistics }
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
  public func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try core.back.forEachKey(onFailure: failure, body)
  }

  /// How many entries there are behind.
  public func count() throws(StorageError) -> Int {
    try core.back.count()
  }
}

extension HybridStorage: OrderedStorage where Back: OrderedStorage {
  /// Calls `body` with each key of a range behind and its entry, in order; see ``OrderedStorage``.
  public func forEachEntry(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try core.back.forEachEntry(in: range, order: order, limit: limit, onFailure: failure, body)
  }

  /// Calls `body` with each key of a range behind, in order; see ``OrderedStorage``.
  public func forEachKey(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try core.back.forEachKey(in: range, order: order, limit: limit, onFailure: failure, body)
  }
}

extension HybridStorage: ClearableStorage where Back: ClearableStorage {
  /// Empties both tiers.
  public func removeAll(durability: Durability?) throws(StorageError) {
    try core.removingAll { () throws(StorageError) in try core.back.removeAll(durability: durability) }
  }

  /// Removes expired values from both tiers; returns how many there were behind memory.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int {
    core.pool.removeExpired(now: core.plane.clock())
    return try core.back.removeExpired()
  }
}

extension HybridStorage: ObservableStorage where Back: ObservableStorage {
  /// Calls `body` with every change behind; see ``ObservableStorage``.
  public func observe(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try core.back.observe(only: key, body)
  }

  /// Calls `body` with every change behind, with those of a batch at once; see ``ObservableStorage``.
  public func observeBatches(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken {
    try core.back.observeBatches(only: key, body)
  }
}

extension HybridStorage: ByteBacked where Back: ByteBacked {
  func viewed<New: Sendable>(as transformer: Transformer<New>) throws(StorageError) -> Storage<Key, New> {
    Storage(HybridStorage<Storage<Key, New>>(try core.back.viewed(as: transformer), sharing: core))
  }

  func add(_ write: StorageRequest.Write<Value>, _ key: Key, to batch: inout WriteBatch) throws(StorageError) {
    guard core.broadcaster != nil else { throw .notBytes(name) }
    try core.back.add(write, key, to: &batch)
  }

  func entry(forKey key: Key, in transaction: inout LogStore.Transaction) throws(StorageError) -> Entry<Value>? {
    try core.back.entry(forKey: key, in: &transaction)
  }
}

extension HybridStorage: CheckableStorage {
  func forEachFinding(
    progress: (Double) throws(StorageError) -> Void,
    _ body: (Finding<Key, Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try findAll(of: core.back, progress: progress, body)
  }
}

extension HybridStorage {
  /// Another typed view of the same bytes and the same memory: both views' values count towards the same limits.
  ///
  /// - Parameters:
  ///   - transformer: the form of the values.
  ///   - cost: what a value counts towards the cost limit, in the unit that this view counts in; 1 for each value if there is no such
  ///     closure.
  @inlinable
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

extension HybridStorage: LogBacked where Back: LogBacked {
  var logView: LogBacking? { core.back.logView }
}

extension StorageProtocol where Key: StorageKey {
  /// This storage with memory ahead of it; ``HybridStorage`` says what that does, and has more to choose.
  @inlinable
  public func cached(_ limits: MemoryLimits = MemoryLimits(), remembersAbsence: Bool = false) -> HybridStorage<Self> {
    HybridStorage(self, limits: limits, remembersAbsence: remembersAbsence)
  }
}
