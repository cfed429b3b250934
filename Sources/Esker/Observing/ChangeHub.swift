internal import EskerPlatform
internal import Synchronization

/// A change of a keyspace in bytes, as the log has it.
struct ByteChange: Sendable {
  enum Action: Sendable {
    case put(before: [UInt8]?, after: [UInt8])
    case removal(before: [UInt8])
    case removalOfAll
    case removalOfExpired(Int)
    case missed(Int)
  }

  /// The write's place in the history of the store.
  var sequence: UInt64
  /// Empty for what concerns no single key.
  var key: [UInt8]
  var action: Action
}

/// Tells observers of a keyspace what changes in it.
///
/// There is one hub for each keyspace of an open store, shared by all views. A writer *enters before it writes* and *leaves
/// after*, with the change and its sequence number. The hub tells changes in the order of those numbers: one is told once
/// every writer is gone that may yet bring a smaller number. So no lock is held while anybody writes, and none while an
/// observer runs: observers have a thread of their own, which lives while there are observers.
///
/// Whoever feeds the hub decides what is heard: views do so today. The engine can do it in their stead by the same bracket,
/// with the bytes of the key, for batches, direct puts, expiry and eviction too.
@usableFromInline
final class ChangeHub: @unchecked Sendable {
  typealias Receiver = @Sendable (ByteChange) -> Void

  /// Changes that may wait to be told; what comes beyond is counted.
  static let capacity = 8192

  @usableFromInline let keyspace: Keyspace
  private let observerCount = Atomic<Int>(0)
  private let frontCount = Atomic<Int>(0)
  private let windowCount = Atomic<Int>(0)
  private let lock = Lock()
  private let condition = Condition()
  // Guarded by `lock`.
  private var observers: [(id: UInt64, key: [UInt8]?, receiver: Receiver)] = []
  private var lastID: UInt64 = 0
  /// Who is writing, and the last sequence number there was before; in the order of entering, so the first has the least.
  private var writers: [(ticket: UInt64, start: UInt64)] = []
  /// What waits to be told, by sequence number.
  private var waiting: [ByteChange] = []
  private var missed = 0
  private var isRunning = false
  private var identities: [String: StorageIdentity] = [:]
  private var fronts: [any WriteFront] = []
  private var windows: [any Flushable] = []
  private var watches: [EngineWatch] = []

  init(keyspace: Keyspace) {
    self.keyspace = keyspace
  }

  /// The hub that all views of the keyspace share.
  @usableFromInline
  static func hub(of keyspace: Keyspace) -> ChangeHub { HubRegistry.hub(of: keyspace) }

  /// Whether anybody listens. A writer that finds nobody need not tell what it does.
  @usableFromInline
  var isObserved: Bool { observerCount.load(ordering: .relaxed) > 0 }

  /// Whether a write has to be announced, to observers or to memory ahead of the keyspace.
  @usableFromInline
  var isWatched: Bool { observerCount.load(ordering: .relaxed) > 0 || isFronted }

  /// Whether there is memory ahead of the keyspace.
  ///
  /// Looked at before a write and after it: sequentially, so that a front which is added meanwhile is seen by the writer, or
  /// sees the write.
  @usableFromInline
  var isFronted: Bool { frontCount.load(ordering: .sequentiallyConsistent) > 0 }

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

  // MARK: Writers

  /// Announces a write; returns what `leaveWrite` is to be called with.
  func enterWrite() -> UInt64 {
    lock.withLock {
      lastID += 1
      writers.append((lastID, keyspace.store.lastSequence.rawValue))
      return lastID
    }
  }

  /// Ends a write, with what it changed, if anything.
  func leaveWrite(_ ticket: UInt64, _ change: ByteChange?) {
    lock.withLock {
      writers.removeAll { $0.ticket == ticket }
      if let change, !observers.isEmpty { add(change) }
      if !waiting.isEmpty || missed > 0 { condition.signal() }
    }
  }

  private func add(_ change: ByteChange) {
    if case .missed(let count) = change.action { return missed += count }
    guard waiting.count < Self.capacity else { return missed += 1 }
    // Nearly always at the end: writers overlap only so far.
    var place = waiting.count
    while place > 0, waiting[place - 1].sequence > change.sequence { place -= 1 }
    waiting.insert(change, at: place)
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
    frontCount.store(fronts.count, ordering: .sequentiallyConsistent)
    windowCount.store(windows.count, ordering: .sequentiallyConsistent)
  }

  /// Runs `write`, which changes what is under `key`, between telling all fronts that it begins and that it has ended.
  ///
  /// The engine tells fronts of what is written past the views; views also keep them from filling while a value only waits
  /// to be written.
  func announcing<R, Failure: Error>(
    _ key: RawSpan,
    _ write: () throws(Failure) -> R
  ) throws(Failure) -> R {
    let entered = currentFronts
    for front in entered { front.enterWrite(key) }
    defer {
      for front in entered { front.leaveWrite(key) }
      settle(key, entered)
    }
    return try write()
  }

  /// Runs `write`, which removes everything, as `announcing` does.
  func announcingRemovalOfAll<R, Failure: Error>(_ write: () throws(Failure) -> R) throws(Failure) -> R {
    let entered = currentFronts
    for front in entered { front.enterRemovalOfAll() }
    defer {
      for front in entered { front.leaveRemovalOfAll() }
      for front in currentFronts where !entered.contains(where: { $0 === front }) {
        front.enterRemovalOfAll()
        front.leaveRemovalOfAll()
      }
    }
    return try write()
  }

  /// After a write that was announced to `entered` only: fronts that came meanwhile may have read what was before.
  @usableFromInline
  func settle(_ key: RawSpan, _ entered: [any WriteFront] = []) {
    for front in currentFronts where !entered.contains(where: { $0 === front }) {
      front.enterWrite(key)
      front.leaveWrite(key)
    }
  }

  private var currentFronts: [any WriteFront] {
    isFronted ? lock.withLock { fronts } : []
  }

  /// Whether a front may have values that are not written yet.
  @usableFromInline
  var mayBeBehind: Bool { windowCount.load(ordering: .relaxed) > 0 }

  /// Writes what fronts have not written yet, except one that asks on its own behalf.
  @usableFromInline
  func catchUp(except own: (any Flushable)? = nil) throws(StorageError) {
    guard mayBeBehind else { return }
    for window in lock.withLock({ windows }) where window !== own { try window.flush() }
  }

  /// Whether fronts other than `own` have values that are not written yet.
  func isBehind(except own: any Flushable) -> Bool {
    lock.withLock { windows.contains { $0 !== own && !$0.isEmpty } }
  }

  // MARK: Observers

  /// Calls `receiver` with every change from now on, or with those of `key` and those that concern all keys.
  func observe(key: [UInt8]?, _ receiver: @escaping Receiver) throws(StorageError) -> Observation {
    let id = try lock.withLock { () throws(StorageError) -> UInt64 in
      if !isRunning { try start() }
      lastID += 1
      observers.append((lastID, key, receiver))
      observerCount.store(observers.count, ordering: .relaxed)
      return lastID
    }
    return Observation { [self] in remove(id) }
  }

  /// Called with the lock held.
  private func start() throws(StorageError) {
    do throws(PlatformError) {
      _ = try WorkerThread(name: "esker-observe") { [self] in run() }
      isRunning = true
    } catch {
      throw .back(name: keyspace.name, underlying: error)
    }
  }

  private func remove(_ id: UInt64) {
    lock.withLock {
      observers.removeAll { $0.id == id }
      observerCount.store(observers.count, ordering: .relaxed)
      if observers.isEmpty { condition.signal() }
    }
  }

  private func run() {
    while let (changes, receivers) = next() {
      for change in changes {
        for (id, key, receiver) in receivers where Self.concerns(change, key) {
          // Cancelled meanwhile, by an earlier call perhaps.
          guard lock.withLock({ observers.contains { $0.id == id } }) else { continue }
          receiver(change)
        }
      }
    }
  }

  private static func concerns(_ change: ByteChange, _ key: [UInt8]?) -> Bool {
    guard let key else { return true }
    switch change.action {
    case .put, .removal: return change.key == key
    case .removalOfAll, .removalOfExpired, .missed: return true
    }
  }

  /// Waits for changes that no writer under way can precede; nil when nobody listens any more.
  private func next() -> ([ByteChange], [(id: UInt64, key: [UInt8]?, receiver: Receiver)])? {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if observers.isEmpty {
        waiting = []
        missed = 0
        isRunning = false
        return nil
      }
      let limit = writers.first?.start ?? .max
      let ready = waiting.prefix { $0.sequence <= limit }.count
      if ready > 0 || (missed > 0 && waiting.isEmpty) {
        var changes = Array(waiting[..<ready])
        waiting.removeFirst(ready)
        // What was not kept came after all that was.
        if missed > 0, waiting.isEmpty {
          changes.append(ByteChange(sequence: 0, key: [], action: .missed(missed)))
          missed = 0
        }
        return (changes, observers)
      }
      condition.wait(lock)
    }
  }
}
