public import EskerMemory
internal import EskerPlatform

/// What all copies of a hybrid storage share.
@usableFromInline
final class HybridCore<Back: StorageProtocol>: Sendable where Back.Key: StorageKey {
  @usableFromInline typealias Key = Back.Key
  @usableFromInline typealias Value = Back.Value

  @usableFromInline let back: Back
  /// The back, if it is a log whose keys have the form that memory keeps: then a key is encoded once for both.
  @usableFromInline let log: LogStorage<Key, Value>?
  @usableFromInline let plane: FrontPlane<Key, Value>
  @usableFromInline let pool: MemoryPool
  @usableFromInline let clock: Options.Clock?
  @usableFromInline let keepsWrites: Bool
  @usableFromInline let remembersAbsence: Bool
  /// The keyspace behind, if there is one: it notifies the plane of all writes.
  @usableFromInline let broadcaster: ChangeBroadcaster?
  /// False where the front would not be notified of what is written: of a view whose keys have another form than their type's, and of a
  /// store that another process writes.
  @usableFromInline let isUsable: Bool
  @usableFromInline let keys: KeyTransformer<Key>
  /// How the keyspace notifies the plane.
  private let watch: FrontWriteWatcher?

  /// - Parameter front: makes the front of the plane, where the types are known.
  @usableFromInline
  init(
    _ back: Back,
    _ memory: FrontMemory,
    keepsWrites: Bool,
    remembersAbsence: Bool,
    _ clock: Options.Clock?,
    _ cost: (@Sendable (Value) -> Int)?,
    front: (FrontPlane<Key, Value>) -> WriteFront
  ) {
    let behind = (back as? any LogBacked)?.logView
    let broadcaster = behind?.broadcaster
    var now: @Sendable () -> Int64 = { min(back.time.millisecondsSince1970, .max - 1) }
    if let store = broadcaster?.keyspace.store {
      now = { store.time.millisecondsSince1970 }
    } else if let clock {
      now = { clock.milliseconds }
    }
    let pool =
      switch memory {
      case .shared(let pool): pool
      case .limited(let limits): broadcaster?.frontMemory.pool(limits) ?? MemoryPool(limits: limits)
      }
    let plane = FrontPlane<Key, Value>(pool: pool, cost: cost, clock: now)
    self.back = back
    self.pool = pool
    self.clock = clock
    self.keepsWrites = keepsWrites
    self.remembersAbsence = remembersAbsence
    self.broadcaster = broadcaster
    self.plane = plane
    keys = Key.keyTransformer
    let isOwnForm = behind.map { [id = keys.id] in $0.formOfKeys == id } ?? false
    log = isOwnForm ? back as? LogStorage<Key, Value> : nil
    isUsable = behind.map { [id = keys.id] in $0.formOfKeys == id && !$0.broadcaster.keyspace.store.isReadOnly } ?? true
    watch = broadcaster?.add(front(plane))
  }

  deinit {
    if let watch { broadcaster?.remove(watch) }
  }

  @usableFromInline
  func unusable(_ key: Key, _ error: any Error) -> StorageError { .key("\(key)", view: back.name, underlying: error) }

  @inlinable @inline(__always)
  func held(_ key: Key) throws(StorageError) -> Key.Held {
    do { return try key.held(by: keys) } catch { throw unusable(key, error) }
  }

  // MARK: Reading

  /// Whether a read goes past memory.
  @inlinable @inline(__always)
  func passes(_ call: StorageRequest.Read) -> Bool { call.skipsMemory || !isUsable }

  /// What memory has, without a version, where what is behind failed to answer for an entry; throws the failure if it has nothing.
  @usableFromInline
  func spare(
    _ key: Key.Held,
    _ call: StorageRequest.Read,
    _ failure: StorageError
  ) throws(StorageError) -> Entry<Value>? {
    if case .cancelled = failure { throw failure }
    guard isUsable, call.needsVersion, call.acceptsUnversioned,
      case .entry(let found) = plane.entry(key, call.forSpare)
    else { throw failure }
    return found
  }

  /// Keeps what was read behind.
  @inlinable
  func keep(
    _ found: Entry<Value>?,
    _ key: Key.Held,
    _ call: StorageRequest.Read,
    _ ticket: FrontPlane<Key, Value>.Ticket
  ) {
    guard isUsable, !call.allowsExpired else { return }
    if let found {
      guard found.isKeepable else { return }
      plane.fill(key, found.value, expiry: found.expiry, version: found.version, ticket)
    } else if remembersAbsence {
      plane.fill(key, nil, expiry: .never, version: nil, ticket)
    }
  }

  // MARK: Writing

  /// Called before a write behind; what `end` is to be given. A log notifies the plane of its writes itself.
  @inlinable
  func begin(_ key: Key.Held) -> WriteTicket? { broadcaster == nil ? plane.enterWrite(key) : nil }

  /// Called after a write behind; `receipt` is nil if it failed.
  @inlinable
  func end(
    _ ticket: WriteTicket?,
    _ key: Key.Held,
    _ call: StorageRequest.Write<Value>,
    _ receipt: StorageRequest.Receipt?
  ) {
    if let ticket { return plane.leaveWrite(ticket) }
    if isUsable, keepsWrites, let receipt, receipt.isDone, let version = receipt.version,
      case .set(let value) = call.action, plane.fill(key, value, expiry: receipt.expiry, ofWrite: version)
    {
      return
    }
    plane.release(key)
  }

  func removingAll(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    if broadcaster != nil { return try body() }
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
    // A key that cannot become bytes is nowhere.
    guard let broadcaster else {
      if let held = try? key.held(by: keys) { plane.cache.remove(held) }
      return
    }
    guard let identity = try? back.identity(of: key) else { return }
    identity.key.withBytes { broadcaster.drop($0) }
  }
}
