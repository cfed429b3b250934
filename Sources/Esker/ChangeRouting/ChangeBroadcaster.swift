internal import EskerPlatform

/// What all views of a keyspace of an open store share: their numbers, the memory ahead of it, and who observes it.
///
/// The engine reports every write to the keyspace, whether it is made by a view or directly: to fronts before and after it takes
/// effect, to observers with what it changed.
///
/// Safety: threads may share it, since what changes is atomic or only touched by a holder of `lock`.
@usableFromInline
final class ChangeBroadcaster: @unchecked Sendable {
  @usableFromInline let keyspace: Keyspace
  private let changes = ChangeQueue<[UInt8], KeyspaceChange> { $0.byteCount }
  private let lock = Lock(.broadcaster)
  // Guarded by `lock`.
  private var numbers: [String: UInt64] = [:]
  private var watches: [FrontWriteWatcher] = []
  /// The memory that all fronts share.
  let frontMemory = KeyspaceMemory()

  @usableFromInline
  init(keyspace: Keyspace) {
    self.keyspace = keyspace
  }

  /// The broadcaster that all views of the keyspace share.
  @usableFromInline
  static func broadcaster(of keyspace: Keyspace) -> ChangeBroadcaster {
    ChangeBroadcasterRegistry.broadcaster(of: keyspace)
  }

  /// The number that all views of this keyspace share whose values have that form.
  @usableFromInline
  func number(ofForm form: String) -> UInt64 {
    lock.withLock {
      if let number = numbers[form] { return number }
      let number = StorageRequest.newStorage()
      numbers[form] = number
      return number
    }
  }

  // MARK: Fronts

  /// Adds memory ahead of the keyspace; returns what ``remove(_:)`` is to be given.
  func add(_ front: WriteFront) -> FrontWriteWatcher {
    let watch = FrontWriteWatcher(front)
    lock.withLock { watches.append(watch) }
    keyspace.addWatcher(watch)
    return watch
  }

  func remove(_ watch: FrontWriteWatcher) {
    lock.withLock { watches.removeAll { $0 === watch } }
    keyspace.removeWatcher(watch)
  }

  /// Drops a key from all fronts.
  func drop(_ key: RawSpan) {
    for watch in lock.withLock({ watches }) {
      if let ticket = watch.front.enterWrite(key) { watch.front.leaveWrite(ticket, nil) }
      watch.front.release()
    }
  }

  // MARK: Observers

  /// Calls `receiver` with every change from now on, or with those of `key` and those that concern all keys; with those of a batch at
  /// once, if it takes batches.
  func observe(
    key: [UInt8]?,
    takesBatches: Bool = false,
    _ receiver: @escaping ChangeQueue<[UInt8], KeyspaceChange>.Receiver
  ) throws(StorageError) -> ObservationToken {
    try changes.observe(
      key,
      takesBatches: takesBatches,
      feed: { [self] (isObserved) throws(StorageError) in
        guard isObserved else { return keyspace.removeListener(changes) }
        do throws(StoreError) { try keyspace.addListener(changes) } catch {
          guard case .readOnly = error else { throw .store(error) }
          throw .unsupported(
            operation: "be observed in a store opened read-only",
            view: shownName(ofKeyspace: keyspace.name)
          )
        }
      },
      receiver
    )
  }
}

extension ChangeQueue: ChangeListener where Key == [UInt8], Change == KeyspaceChange {
  func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange) { add(key, change) }

  func didEnd(_ error: StoreError) { end(error) }
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
