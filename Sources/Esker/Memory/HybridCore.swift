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
  let window: WriteWindow<Key, Value>?
  @usableFromInline let hasWindow: Bool

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
    switch writing {
    case .back(let limit):
      window = WriteWindow(limit: limit, hub: log?.hub) { (window, key, value) throws(StorageError) in
        let tiers = Tiers(back: back, log: log, plane: plane, window: window)
        // Whoever finds the window empty takes what was in it for written as the store's durability says.
        try DeferredSyncs.suspend { () throws(StorageError) in
          try tiers.set(value.value, key.key, value.expiry, keeps: true)
        }
      }
    case .through, .around:
      window = nil
    }
    hasWindow = window != nil
    log?.hub.add(plane, window)
  }

  deinit {
    // Nobody is left to be told of what fails: `flush` is for that.
    try? window?.close()
    log?.hub.remove(plane, window)
  }

  private func waitingKey(_ key: Key) -> WaitingKey<Key> { WaitingKey(key, plane.distinction) }

  private var tiers: Tiers { Tiers(back: back, log: log, plane: plane, window: window) }

  // MARK: Reading

  /// Reads behind what memory does not have, and keeps it.
  @usableFromInline
  func entryBehind(_ key: Key) throws(StorageError) -> Entry<Value>? {
    try settleSpelling(of: key)
    let ticket = plane.beginFill(key)
    // First what waits in others: what waits here, if anything still does, is then the last.
    try log?.hub.catchUp(except: window)
    switch pending(key) {
    case .present(let entry): return entry
    case .absent: return nil
    case .unknown: break
    }
    let found: Entry<Value>?
    if let log {
      found = try log.storedEntry(key)
    } else {
      found = try back.entry(forKey: key)
    }
    if let found {
      plane.fill(key, found.value, expiry: found.expiry, ticket)
    } else if remembersAbsence {
      plane.fill(key, nil, expiry: .never, ticket)
    }
    return found
  }

  /// Has another spelling of the key written, if that waits: only behind is it known whether it is the same key.
  func settleSpelling(of key: Key) throws(StorageError) {
    guard case .unknownText = plane.distinction, let window, !window.isEmpty else { return }
    try window.writeOtherSpelling(of: waitingKey(key))
  }

  @inlinable @inline(__always)
  func residentEntry(_ key: Key) -> Resident<Value> {
    let resident = plane.resident(key)
    if hasWindow, case .unknown = resident { return residentInWindow(key) }
    return resident
  }

  @usableFromInline
  func residentInWindow(_ key: Key) -> Resident<Value> {
    if let window, let log, log.hub.isBehind(except: window) { return .unknown }
    return pending(key)
  }

  /// What waits to be written. Once it is expired the key is absent, whatever is still behind.
  private func pending(_ key: Key) -> Resident<Value> {
    guard let window, !window.isEmpty, let found = window.pending(waitingKey(key)) else { return .unknown }
    if case .at(let end) = found.expiry, end.millisecondsSince1970 <= plane.clock() { return .absent }
    return .present(Entry(found.value, origin: .memory, expiry: found.expiry ?? .never))
  }

  // MARK: Writing

  func set(_ value: Value, _ key: Key, _ expiry: Expiry?) throws(StorageError) {
    if let window {
      // What cannot be encoded or written must not be acknowledged.
      try log?.check(value, forKey: key)
      try log?.hub.catchUp(except: window)
      let kept = WriteWindow<Key, Value>.Pending(value: value, expiry: expiry?.resolved(at: plane.clock()))
      // Announced as a write: nobody who sees the value in the window finds in memory what it supersedes.
      try announce(key) { () throws(StorageError) in try window.add(waitingKey(key), kept) }
    } else {
      try tiers.set(value, key, expiry, keeps: writing == .through)
    }
  }

  func remove(_ key: Key) throws(StorageError) -> Bool {
    try flush()
    let wasThere = try announcingIfOwn(key) { () throws(StorageError) in try back.removeValue(forKey: key) }
    return wasThere
  }

  func update<R>(
    _ key: Key,
    _ expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try flush()
    return try announcingIfOwn(key) { () throws(StorageError) in
      try back.update(forKey: key, expiry: expiry, body)
    }
  }

  func removeAll(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    try flush()
    if log != nil { return try body() }
    plane.enterRemovalOfAll()
    defer {
      plane.leaveRemovalOfAll()
      plane.release()
    }
    try body()
  }

  func flush() throws(StorageError) { try window?.flush() }

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

  /// Runs `body` between entering and leaving, unless the log's view does so.
  private func announcingIfOwn<R>(_ key: Key, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    if log == nil { return try announce(key, body) }
    defer { plane.cache.release(key) }
    return try body()
  }

  private func announce<R>(_ key: Key, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    guard let log else {
      plane.enterWrite(key)
      defer { plane.leaveWrite(key) }
      return try body()
    }
    var result: R?
    defer { plane.cache.release(key) }
    try log.withBytes(of: key) { (bytes) throws(StorageError) in
      result = try log.hub.announcing(bytes, body)
    }
    guard let result else { throw .cancelled }
    return result
  }

  /// Writes behind, and to memory what is then known to be behind.
  private struct Tiers {
    let back: Back
    let log: LogStorage<Key, Value>?
    let plane: FrontPlane<Key, Value>
    let window: WriteWindow<Key, Value>?

    func set(_ value: Value, _ key: Key, _ expiry: Expiry?, keeps: Bool) throws(StorageError) {
      guard let log else {
        plane.enterWrite(key)
        defer { plane.leaveWrite(key) }
        return try back.set(value, forKey: key, expiry: expiry)
      }
      let version = try log.put(value, forKey: key, expiry: expiry)
      guard keeps, let version else { return plane.cache.release(key) }
      // As a reader would: only if this very write is what the log has since the ticket was taken.
      let ticket = plane.beginFill(key)
      if let window, window.isSuperseded(WaitingKey(key, plane.distinction)) { return }
      guard let known = log.metadata(forKey: key), known.version == version else { return }
      plane.fill(key, value, expiry: known.expiry, ticket)
    }
  }
}
