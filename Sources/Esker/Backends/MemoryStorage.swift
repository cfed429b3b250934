public import EskerMemory
public import Synchronization

/// Values kept in memory, as they are: nothing is encoded, and nothing survives the process.
///
/// ```swift
/// let covers = MemoryStorage<String, Image>(limits: MemoryLimits(cost: 64 << 20)) { $0.byteCount }
/// try covers.set(image, forKey: "blue", expiry: .after(.seconds(3600)))
/// ```
///
/// The limits hold at every moment: when room is needed, the values least likely to be asked for again are evicted. A value that
/// costs more than the whole limit is not kept. Reading takes no lock. Safe to use from any thread.
public final class MemoryStorage<Key: StorageKey, Value: Sendable>: UpdatableStorage {
  /// What the storage is called in errors and measurements.
  public let name: String
  @usableFromInline let cache: MemoryCache<Key.Held, Value>
  /// Whether there was ever anything in it that expires. Reading the clock takes as long as finding the value. Relaxed: it
  /// is set before the first such entry is put, and a read that finds it unset may count as one from before that.
  @usableFromInline let mayExpire = Atomic<Bool>(false)
  @usableFromInline let clock: Options.Clock
  @usableFromInline let keys = Key.keyTransformer
  private let defaultExpiry: Expiry
  private let cost: (@Sendable (Value) -> Int)?
  private let number = StorageRequest.newStorage()
  /// A counter: relaxed.
  private let lastWrite = Atomic<UInt64>(0)
  let changes = ChangeQueue<Key.Held, MemoryChange<Key.Held, Value>> { _ in 0 }

  /// An empty storage.
  ///
  /// - Parameters:
  ///   - name: what it is called in errors.
  ///   - limits: what it may hold at most; without limits it only grows.
  ///   - defaultExpiry: when values expire that are set without an expiry.
  ///   - clock: the clock that expiry follows; its wall clock is used.
  ///   - cost: what a value counts towards the cost limit, in any unit; 1 for each value if there is no such closure.
  public init(
    name: String = "memory",
    limits: MemoryLimits = MemoryLimits(),
    defaultExpiry: Expiry = .never,
    clock: Options.Clock = .system,
    cost: (@Sendable (Value) -> Int)? = nil
  ) {
    self.name = name
    self.defaultExpiry = defaultExpiry
    self.clock = clock
    self.cost = cost
    cache = MemoryCache(limits: limits)
  }

  /// The time by the clock that the storage was made with.
  public var time: WallTime { clock.now() }

  /// The storage and the key's bytes.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    try key.identity(in: number, by: keys, named: name)
  }

  @inlinable @inline(__always)
  var now: Int64 { mayExpire.load(ordering: .relaxed) ? clock.milliseconds : .min }

  @inlinable @inline(__always)
  func held(_ key: Key) throws(StorageError) -> Key.Held {
    do { return try key.held(by: keys) } catch { throw .key("\(key)", view: name, underlying: error) }
  }

  // MARK: Reading

  /// The value under `key`, when it expires and which write stored it; nil when the key is absent or expired. Takes no lock,
  /// unless the value has expired: a plain read removes it, so that one that allows expired values finds nothing afterwards.
  ///
  /// A call that skips memory is answered as well, since memory is all there is. It follows one that was counted, so it only looks:
  /// it counts neither as a hit nor as a miss, and removes nothing.
  @inlinable
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    if call.skipsMemory || call.counting != .all {
      guard !call.skipsMemory, call.counting == .hits else { return try looked(key, call) }
      guard try looked(key, call) != nil else { return nil }
    }
    guard let found = cache.entry(try held(key), now: call.allowsExpired ? .min : now) else { return nil }
    return Self.entry(found.value, found.expiry, found.version)
  }

  @usableFromInline
  func looked(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    guard let found = cache.look(try held(key)), call.allowsExpired || found.expiry > now else { return nil }
    return Self.entry(found.value, found.expiry, found.version)
  }

  /// The entry: memory is all there is.
  @inlinable
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    guard let found = try read(key, call) else { return .absent }
    return .entry(found)
  }

  /// As `read`, where it is called.
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    try read(key, call)
  }

  @inlinable
  static func entry(_ value: Value, _ expiry: Int64, _ version: UInt64) -> Entry<Value> {
    Entry(
      value,
      origin: .memory,
      expiry: Expiry(milliseconds: expiry),
      version: SequenceNumber(rawValue: version)
    )
  }

  // MARK: Writing

  /// Writes; see ``WritableStorage``. A value that costs more than the whole limit is not kept, nor is the one that it replaces.
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    let held = try held(key)
    if case (.always, .set(let value)) = (call.condition, call.action) {
      let entry = made(value, expires(call.expiry ?? defaultExpiry))
      cache.put(
        entry.value,
        forKey: held,
        cost: entry.cost,
        expiry: entry.expiry,
        version: entry.version,
        now: now
      )
      return StorageRequest.Receipt(
        isDone: true,
        version: SequenceNumber(rawValue: entry.version),
        expiry: Expiry(milliseconds: entry.expiry)
      )
    }
    // Where time decides it is read; what expires may come in while this is under way.
    var isTimed = call.expiry != nil
    if case .extend = call.action { isTimed = true }
    let now = isTimed ? clock.milliseconds : now
    // What a value costs, and what time it is, is the caller's code, which must not run under the lock.
    var new: MemoryEntry<Value>?
    var expiry = Int64.max
    switch call.action {
    case .set(let value): new = made(value, expires(call.expiry ?? defaultExpiry))
    case .touch, .extend: expiry = expires(call.expiry ?? defaultExpiry)
    case .remove: break
    }
    return cache.update(held, now: now) { current in
      var receipt = StorageRequest.Receipt(isDone: call.condition.holds(current?.version), wasThere: current != nil)
      guard receipt.isDone else { return receipt }
      switch call.action {
      case .set:
        current = new
      case .remove:
        current = nil
      case .touch, .extend:
        receipt.isDone = current != nil
        guard let entry = current else { return receipt }
        if call.action.changes(entry.expiry, to: expiry, now) {
          current = MemoryEntry(entry.value, cost: entry.cost, expiry: expiry, version: nextWrite())
        }
      }
      if let current {
        receipt.version = SequenceNumber(rawValue: current.version)
        receipt.expiry = Expiry(milliseconds: current.expiry)
      }
      return receipt
    }
  }

  /// As `write`, where it is called.
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    if Task.isCancelled { throw .cancelled }
    return try write(key, call)
  }

  private func made(_ value: Value, _ expiry: Int64) -> MemoryEntry<Value> {
    MemoryEntry(value, cost: cost?(value) ?? 1, expiry: expiry, version: nextWrite())
  }

  private func nextWrite() -> UInt64 { lastWrite.wrappingAdd(1, ordering: .relaxed).newValue }

  private func expires(_ expiry: Expiry) -> Int64 {
    if expiry == .never { return .max }
    mayExpire.store(true, ordering: .relaxed)
    return expiry.resolved(at: WallTime(millisecondsSince1970: clock.milliseconds)).milliseconds ?? .max
  }
}

extension Options.Clock {
  /// The wall clock's time, before the stored expiry of values that never expire.
  @inlinable
  var milliseconds: Int64 { min(now().millisecondsSince1970, .max - 1) }
}

extension StorageRequest.Condition {
  /// Whether the condition holds where the present value was stored by the write with that number.
  func holds(_ write: UInt64?) -> Bool {
    switch self {
    case .always: true
    case .absent: write == nil
    case .present: write != nil
    case .version(let version): write == version.rawValue
    }
  }
}

extension StorageRequest.Write.Action {
  /// Whether a value gets the new expiry, in milliseconds.
  func changes(_ old: Int64, to new: Int64, _ now: Int64) -> Bool {
    guard case .extend = self else { return old != new }
    // Lives and gains that no number can say are beyond any reason to write.
    let (gain, isBoundless) = new.subtractingReportingOverflow(old)
    let (life, isEndless) = new.subtractingReportingOverflow(now)
    return old != .max && !isBoundless && !isEndless && gain > 0 && gain >= life / 8
  }
}

extension MemoryStorage {
  /// What the storage holds and what it did since it was made.
  public var statistics: MemoryStatistics { cache.statistics }

  /// Evicts values until they cost at most `cost`: for when the system is short of memory.
  public func trim(toCost cost: Int) { cache.trim(toCost: cost) }

  /// Evicts values until there are at most `count`.
  public func trim(toCount count: Int) { cache.trim(toCount: count) }
}

extension MemoryStorage: EnumerableStorage, ClearableStorage {
  /// Calls `body` with each key and entry; those that come or go meanwhile may be seen or not.
  ///
  /// - Complexity: O(entries).
  public func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try cache.forEach(now: now) { (held, found) throws(StorageError) in
      let key: Key
      do throws(StorageError) { key = try self.key(of: held) } catch { return try failure(error) }
      try body(key, Self.entry(found.value, found.expiry, found.version))
    }
  }

  /// Calls `body` with each key; those that come or go meanwhile may be seen or not.
  public func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try cache.forEach(now: now) { (held, _) throws(StorageError) in
      let key: Key
      do throws(StorageError) { key = try self.key(of: held) } catch { return try failure(error) }
      try body(key)
    }
  }

  func key(of held: Key.Held) throws(StorageError) -> Key {
    do { return try Key.key(of: held, by: keys) } catch { throw .key("\(held)", view: name, underlying: error) }
  }

  /// How many values there are.
  ///
  /// - Complexity: O(1) as long as nothing in it expires, O(entries) from then on.
  public func count() throws(StorageError) -> Int {
    let now = now
    if now == .min { return cache.count }
    var count = 0
    cache.forEach(now: now) { _, _ in count += 1 }
    return count
  }

  /// Removes everything. A value that is set meanwhile may stay.
  public func removeAll(durability: Durability?) throws(StorageError) { cache.removeAll() }

  /// Removes the values that are expired now; returns how many there were.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int { cache.removeExpired(now: now) }
}
