internal import EskerMemory
internal import EskerPlatform

/// What all copies of a hybrid storage share.
@usableFromInline
final class HybridCore<Back: UpdatableStorage>: Sendable where Back.Key: Hashable {
  @usableFromInline typealias Key = Back.Key
  @usableFromInline typealias Value = Back.Value

  @usableFromInline let back: Back
  @usableFromInline let plane: FrontPlane<Key, Value>
  let pool: MemoryPool
  let clock: StoreClock
  let writing: WritePolicy
  let remembersAbsence: Bool
  /// The log, if that is what is behind: its views tell the plane of their writes.
  let log: LogStorage<Key, Value>?

  init(
    _ back: Back,
    _ memory: FrontMemory,
    _ writing: WritePolicy,
    _ remembersAbsence: Bool,
    _ clock: StoreClock,
    _ cost: (@Sendable (Value) -> Int)?
  ) {
    let log = (back as? Storage<Key, Value>)?.table.base as? LogStorage<Key, Value> ?? back as? LogStorage<Key, Value>
    var now: @Sendable () -> Int64 = { clock.now().millisecondsSince1970 }
    if let store = log?.keyspace.store { now = { store.time.millisecondsSince1970 } }
    let pool =
      switch memory {
      case .shared(let pool): pool
      case .limited(let limits): log?.hub.frontMemory.pool(limits) ?? MemoryPool(limits: limits)
      }
    let plane = FrontPlane(pool: pool, cost: cost, keys: log?.keys, clock: now)
    self.back = back
    self.pool = pool
    self.clock = clock
    self.writing = writing
    self.remembersAbsence = remembersAbsence
    self.log = log
    self.plane = plane
    log?.hub.add(plane)
  }

  deinit {
    log?.hub.remove(plane)
  }

  // MARK: Reading

  /// Reads behind what memory does not have, and keeps it.
  @usableFromInline
  func entryBehind(_ key: Key) throws(StorageError) -> Entry<Value>? {
    let ticket = plane.beginFill(key)
    let found = try back.entry(forKey: key)
    if let found {
      plane.fill(key, found.value, expiry: found.expiry, ticket)
    } else if remembersAbsence {
      plane.fill(key, nil, expiry: .never, ticket)
    }
    return found
  }

  // MARK: Writing

  func set(_ value: Value, _ key: Key, _ expiry: Expiry?) throws(StorageError) {
    guard let log else {
      return try announcing(key) { () throws(StorageError) in try back.set(value, forKey: key, expiry: expiry) }
    }
    let version = try log.put(value, forKey: key, expiry: expiry)
    guard writing == .through, let version else { return plane.cache.release(key) }
    // As a reader would: only if this very write is what the log has since the ticket was taken.
    let ticket = plane.beginFill(key)
    guard let known = log.metadata(forKey: key), known.version == version else { return }
    plane.fill(key, value, expiry: known.expiry, ticket)
  }

  func remove(_ key: Key) throws(StorageError) -> Bool {
    try announcing(key) { () throws(StorageError) in try back.removeValue(forKey: key) }
  }

  func update<R>(
    _ key: Key,
    _ expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try announcing(key) { () throws(StorageError) in
      try back.update(forKey: key, expiry: expiry, body)
    }
  }

  func removeAll(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    if log != nil { return try body() }
    plane.enterRemovalOfAll()
    defer {
      plane.leaveRemovalOfAll()
      plane.release()
    }
    try body()
  }

  // MARK: Memory

  /// Drops a key from the memory of all views.
  func removeInMemory(_ key: Key) {
    guard let log else {
      plane.cache.remove(key)
      return
    }
    // A key that cannot become bytes is nowhere.
    try? log.withBytes(of: key) { (bytes) throws(StorageError) in log.hub.drop(bytes) }
  }

  /// Runs `body`, which writes behind, between telling memory that a write begins and that it has ended. A log does so itself.
  private func announcing<R>(_ key: Key, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    if log != nil {
      defer { plane.cache.release(key) }
      return try body()
    }
    plane.enterWrite(key)
    defer { plane.leaveWrite(key) }
    return try body()
  }
}
