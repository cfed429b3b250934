internal import EskerPlatform
internal import Synchronization

/// What all views of a keyspace of an open store share: their identities, the memory ahead of it, and who observes it.
///
/// The engine tells of every write to the keyspace, be it made by a view or past all views: fronts before and after it takes
/// effect, observers what it changed.
///
/// Safety: threads may share it, since what changes is atomic or only touched by a holder of `lock`.
@usableFromInline
final class ChangeHub: @unchecked Sendable {
  @usableFromInline let keyspace: Keyspace
  private let changes = ChangeQueue<[UInt8], KeyspaceChange> { $0.byteCount }
  /// Changes under `lock`. Relaxed: a window is counted before anything is added to it. So a thread that has learned of a
  /// waiting value from the one that set it finds the window counted, and any other may count as having come before.
  private let windowCount = Atomic<Int>(0)
  private let lock = Lock(.hub)
  // Guarded by `lock`.
  private var identities: [String: StorageIdentity] = [:]
  private var fronts: [any WriteFront] = []
  private var windows: [any Flushable] = []
  private var watches: [EngineWatch] = []
  /// The memory that all fronts share.
  let frontMemory = KeyspaceMemory()

  init(keyspace: Keyspace) {
    self.keyspace = keyspace
  }

  /// The hub that all views of the keyspace share.
  @usableFromInline
  static func hub(of keyspace: Keyspace) -> ChangeHub { HubRegistry.hub(of: keyspace) }

  /// The identity that all views of this keyspace with the same types and forms share.
  @usableFromInline
  func identity<Key, Value>(keys: KeyTransformer<Key>, values: Transformer<Value>) -> StorageIdentity {
    let view = "\(keys.id) \(ObjectIdentifier(Key.self)) \(values.id) \(ObjectIdentifier(Value.self))"
    return lock.withLock {
      if let identity = identities[view] { return identity }
      let identity = StorageIdentity()
      identities[view] = identity
      return identity
    }
  }

  // MARK: Fronts

  /// Adds memory ahead of the keyspace, and what it has not written yet, if it may have such.
  func add(_ front: any WriteFront, _ window: (any Flushable)?) {
    let watch = EngineWatch(front)
    lock.withLock {
      fronts.append(front)
      watches.append(watch)
      if let window { windows.append(window) }
      countFronts()
    }
    keyspace.addWatcher(watch)
  }

  func remove(_ front: any WriteFront, _ window: (any Flushable)?) {
    let watch = lock.withLock { () -> EngineWatch? in
      let watch = watches.first { $0.front === front }
      watches.removeAll { $0.front === front }
      fronts.removeAll { $0 === front }
      windows.removeAll { $0 === window }
      countFronts()
      return watch
    }
    if let watch { keyspace.removeWatcher(watch) }
  }

  /// Called with the lock held.
  private func countFronts() {
    windowCount.store(windows.count, ordering: .relaxed)
    keyspace.setAhead(fronts.isEmpty ? nil : self, mayHoldBack: !windows.isEmpty)
  }

  /// Runs `body`, which puts a value for `key` where it waits to be written, between telling all fronts that a write begins
  /// and that it has ended: what they read meanwhile is not kept.
  ///
  /// Of what is written to the log the engine tells them.
  func announcing<R, Failure: Error>(
    _ key: RawSpan,
    _ body: () throws(Failure) -> R
  ) throws(Failure) -> R {
    let entered = currentFronts
    for front in entered { front.enterWrite(key) }
    defer {
      for front in entered { front.leaveWrite(key) }
      // Those that came meanwhile may have read what was before.
      for front in currentFronts where !entered.contains(where: { $0 === front }) {
        front.enterWrite(key)
        front.leaveWrite(key)
      }
    }
    return try body()
  }

  var currentFronts: [any WriteFront] { lock.withLock { fronts } }

  var currentWindows: [any Flushable] {
    mayBeBehind ? lock.withLock { windows } : []
  }

  /// Whether a front may have values that are not written yet.
  @usableFromInline
  var mayBeBehind: Bool { windowCount.load(ordering: .relaxed) > 0 }

  /// Whether the calling thread is writing what waited ahead of the keyspace.
  var isWrittenHere: Bool { currentWindows.contains(where: \.isWrittenHere) }

  /// What is to be written before anything else; nothing to the code of keys and values that are just being written.
  var windowsToWriteFirst: [any Flushable] { isWrittenHere ? [] : currentWindows }

  /// Writes what fronts have not written yet, except one that asks on its own behalf.
  ///
  /// - Throws: what keeps anything from being written. That a value could not be written for a reason of its own concerns who
  ///   set it.
  @usableFromInline
  func catchUp(except own: (any Flushable)? = nil) throws(StorageError) {
    for window in windowsToWriteFirst where window !== own { try window.writeWaiting() }
  }

  /// Whether fronts other than `own` have values that are not written yet.
  func isBehind(except own: any Flushable) -> Bool {
    currentWindows.contains { $0 !== own && !$0.isEmpty }
  }

  // MARK: Observers

  /// Calls `receiver` with every change from now on, or with those of `key` and those that concern all keys.
  func observe(
    key: [UInt8]?,
    _ receiver: @escaping ChangeQueue<[UInt8], KeyspaceChange>.Receiver
  ) throws(StorageError) -> ObservationToken {
    try changes.observe(
      key,
      feed: { [self] (isObserved) throws(StorageError) in
        guard isObserved else { return keyspace.removeListener(changes) }
        do throws(StoreError) { try keyspace.addListener(changes) } catch {
          guard case .readOnly = error else { throw .store(error) }
          throw .unsupported(operation: "be observed in a store opened read-only", view: keyspace.name)
        }
      },
      receiver
    )
  }
}

extension ChangeQueue: ChangeListener where Key == [UInt8], Change == KeyspaceChange {
  func hear(_ key: [UInt8]?, _ change: () -> KeyspaceChange) { add(key, change) }
}

extension KeyspaceChange {
  /// What its keys and values take.
  fileprivate var byteCount: Int {
    switch self {
    case .put(let key, let before, let after): key.count + ((try? before?.get())?.count ?? 0) + after.count
    case .loss(let key, let before, _): key.count + ((try? before.get())?.count ?? 0)
    case .emptied: 0
    }
  }
}
