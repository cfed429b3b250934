public import EskerMemory
public import Synchronization

/// Values kept in memory, as they are: nothing is encoded, and nothing survives the process.
///
/// ```swift
/// let covers = MemoryStorage<String, Image>(limits: MemoryLimits(cost: 64 << 20)) { $0.byteCount }
/// try covers.set(image, forKey: "blue", expiry: .after(.seconds(3600)))
/// ```
///
/// The limits hold at every moment: what is least likely to be asked for again goes when room is needed. A value that costs
/// more than all that is allowed is not kept. Reading takes no lock. Safe to use from any thread.
public final class MemoryStorage<Key: Hashable & Sendable, Value: Sendable>: UpdatableStorage {
  /// What the storage is called in errors and measurements.
  public let name: String
  /// An identity of its own.
  public let identity = StorageIdentity()
  @usableFromInline let cache: MemoryCache<Key, Held<Value>>
  /// Whether there was ever anything in it that expires. Reading the clock takes as long as finding the value. Relaxed: it
  /// is set before the first such entry is put, and a read that finds it unset may count as one from before that.
  @usableFromInline let mayExpire = Atomic<Bool>(false)
  @usableFromInline let clock: StoreClock
  private let cost: (@Sendable (Value) -> Int)?
  /// A counter: relaxed.
  private let lastWrite = Atomic<UInt64>(0)
  let changes = ChangeQueue<Key, StorageChange<Key, Value>> { _ in 0 }

  /// An empty storage.
  ///
  /// - Parameters:
  ///   - name: what it is called in errors.
  ///   - limits: what it may hold at most; without limits it only grows.
  ///   - clock: the clock that expiry follows; its wall clock is used.
  ///   - cost: what a value counts towards the cost limit, in any unit; 1 for each value if there is no such closure.
  public init(
    name: String = "memory",
    limits: MemoryLimits = MemoryLimits(),
    clock: StoreClock = .system,
    cost: (@Sendable (Value) -> Int)? = nil
  ) {
    self.name = name
    self.clock = clock
    self.cost = cost
    cache = MemoryCache(limits: limits)
  }

  /// False: memory is never waited for.
  @inlinable public var mayBlock: Bool { false }

  @inlinable @inline(__always)
  var now: Int64 { mayExpire.load(ordering: .relaxed) ? clock.now().millisecondsSince1970 : .min }

  /// The value under `key`; nil when the key is absent or expired. Takes no lock.
  @inlinable
  public func value(forKey key: Key) throws(StorageError) -> Value? {
    guard let held = cache.get(key, now: now) else { return nil }
    return held.value
  }

  /// The value under `key` and when it goes; nil when the key is absent or expired.
  @inlinable
  public func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? {
    guard let found = cache.entry(key, now: now) else { return nil }
    return Self.entry(found.value, found.expiry)
  }

  /// The entry: memory is all there is.
  @inlinable
  public func residentEntry(forKey key: Key) throws(StorageError) -> Resident<Value> {
    guard let found = cache.entry(key, now: now) else { return .absent }
    return .present(Self.entry(found.value, found.expiry))
  }

  @inlinable
  static func entry(_ held: Held<Value>, _ expiry: Int64) -> Entry<Value> {
    Entry(held.value, origin: .memory, expiry: Expiry(milliseconds: expiry))
  }

  /// Keeps `value` under `key`, replacing what was there. Without an expiry it stays until it makes room for others.
  public func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {
    let entry = made(value, expires(expiry ?? .never))
    cache.put(entry.value, forKey: key, cost: entry.cost, expiry: entry.expiry, now: now)
  }

  /// Removes `key`; true when it was there.
  @discardableResult
  public func removeValue(forKey key: Key) throws(StorageError) -> Bool {
    cache.update(key, now: now) { entry in
      defer { entry = nil }
      return entry != nil
    }
  }

  /// Gives `body` the value under `key`, nil when there is none, and keeps what it leaves; see ``UpdatableStorage``.
  ///
  /// No lock is held while `body` runs: what it leaves is kept only if the value is still the one that it saw.
  @discardableResult
  public func update<R>(
    forKey key: Key,
    expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    while true {
      let found = cache.entry(key, now: now)
      var value = found?.value.value
      let result = try body(&value)
      let kept = expiry.map(expires) ?? found?.expiry ?? .max
      let entry = value.map { made($0, kept) }
      let isDone = cache.update(key, now: now) { current in
        guard current?.value.write == found?.value.write else { return false }
        current = entry
        return true
      }
      if isDone { return result }
    }
  }

  private func made(_ value: Value, _ expiry: Int64) -> MemoryEntry<Held<Value>> {
    let write = lastWrite.wrappingAdd(1, ordering: .relaxed).newValue
    return MemoryEntry(Held(value: value, write: write), cost: cost?(value) ?? 1, expiry: expiry)
  }

  private func expires(_ expiry: Expiry) -> Int64 {
    if expiry == .never { return .max }
    mayExpire.store(true, ordering: .relaxed)
    return expiry.resolved(at: clock.now().millisecondsSince1970).milliseconds ?? .max
  }
}

/// A value and the number of the write that brought it.
@usableFromInline
struct Held<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let write: UInt64

  init(value: Value, write: UInt64) {
    self.value = value
    self.write = write
  }
}

extension MemoryStorage {
  /// What the storage holds and what it did since it was made.
  public var statistics: MemoryStatistics { cache.statistics }

  /// Lets go of values until they cost at most `cost`: for when the system is short of memory.
  public func trim(toCost cost: Int) { cache.trim(toCost: cost) }

  /// Lets go of values until there are at most `count`.
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
    try cache.forEach(now: now) { (key, found) throws(StorageError) in
      try body(key, Self.entry(found.value, found.expiry))
    }
  }

  /// Calls `body` with each key; those that come or go meanwhile may be seen or not.
  public func forEachKey(_ body: (Key) throws(StorageError) -> Void) throws(StorageError) {
    try cache.forEach(now: now) { (key, _) throws(StorageError) in try body(key) }
  }

  /// How many values there are, expired ones that nobody asked for since included.
  public func count() throws(StorageError) -> Int { cache.count }

  /// Removes everything. A value that is set meanwhile may stay.
  public func removeAll() throws(StorageError) { cache.removeAll() }

  /// Removes what is expired now; how much there was.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int { cache.removeExpired(now: now) }
}
