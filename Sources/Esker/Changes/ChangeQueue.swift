internal import EskerPlatform
internal import Synchronization

/// Changes on their way to observers.
///
/// Whoever makes changes adds them in their order, under whatever lock gives them that order; a thread of the queue's own
/// delivers them, and lives while there are observers. A change is built only if somebody observes it and there is room. Changes
/// for which there is no room are counted for each observer, and reported after those that came before.
///
/// Changes between `beginBatch` and `endBatch` belong together: an observer of batches gets those that concern it at once. So all of
/// them are queued or none, the thread takes them out together, and nobody begins to observe in between.
///
/// Nothing that observers or callers own is released under the queue's lock: its end may call the queue.
///
/// Safety: threads may share it, since what changes is atomic or only touched by a holder of `lock`; keys and changes are
/// `Sendable`.
final class ChangeQueue<Key: Hashable & Sendable, Change: Sendable>: @unchecked Sendable {
  /// What an observer is notified of.
  enum Notice {
    /// A change; for observers of batches all that a batch did, with its number.
    case changes([Change], batch: UInt64?)
    case missed(Int)
    /// The last notification.
    case ended
  }

  typealias Receiver = @Sendable (Notice) -> Void

  /// Changes that may wait, and bytes they may take together, besides those being delivered. A batch may begin below these limits and
  /// end above them.
  static var capacity: Int { 8192 }
  static var byteCapacity: Int { 64 << 20 }

  private final class Observer: Sendable {
    let key: Key?
    /// The first change it receives.
    let start: UInt64
    /// Whether it receives the changes of a batch at once.
    let takesBatches: Bool
    let receiver: Receiver
    /// Relaxed: a call that is about to begin may still be made.
    let isCancelled = Atomic<Bool>(false)

    init(_ key: Key?, from start: UInt64, takesBatches: Bool, _ receiver: @escaping Receiver) {
      self.key = key
      self.start = start
      self.takesBatches = takesBatches
      self.receiver = receiver
    }
  }

  /// What the thread takes out at once.
  private struct Portion {
    var first: UInt64 = 0
    var changes: [(key: Key?, batch: UInt64?, change: Change)] = []
    var ofAll: [Observer] = []
    var ofKey: [Key: [Observer]] = [:]
    /// How many changes each observer missed after these.
    var missed: [ObjectIdentifier: (observer: Observer, count: Int)] = [:]

    /// Whether nothing comes behind it.
    var isLast = false

    var isEmpty: Bool { changes.isEmpty && missed.isEmpty }
    var isObserved: Bool { !ofAll.isEmpty || !ofKey.isEmpty }

    func observers(_ key: Key?) -> [Observer] {
      guard let key else { return ofAll + ofKey.values.joined() }
      guard let further = ofKey[key] else { return ofAll }
      return ofAll + further
    }

    /// Where the batch ends whose first change is at `start`, or the single change there.
    func end(from start: Int) -> Int {
      guard let batch = changes[start].batch else { return start + 1 }
      return changes[start...].firstIndex { $0.batch != batch } ?? changes.count
    }
  }

  private let bytes: @Sendable (Change) -> Int
  private let lock = Lock(.changes)
  private let condition = Condition()
  /// Held while observers come and go, and while the source of changes is notified of it; taken before any lock that changes are
  /// made under.
  private let registering = Lock(.registering)
  // Guarded by `lock`.
  private var waiting = Portion()
  private var waitingBytes = 0
  private var isFull = false
  /// The number of the batch whose changes are being added.
  private var batch: UInt64?
  /// How many wait for its end, in order to observe.
  private var newcomers = 0
  private var isRunning = false
  /// Why nothing changes any more, if so.
  private var reason: StoreError?
  private var isEnded: Bool { reason != nil }

  /// An empty queue; `bytes` says what a change takes.
  init(bytes: @escaping @Sendable (Change) -> Int) {
    self.bytes = bytes
  }

  // MARK: Adding

  /// Adds a change of `key`, or of all keys, if anybody observes it.
  func add(_ key: Key?, _ change: () -> Change) {
    lock.lock()
    defer { lock.unlock() }
    if waiting.ofAll.isEmpty, key.map({ waiting.ofKey[$0] == nil }) ?? waiting.ofKey.isEmpty { return }
    // The thread sleeps only when there is nothing, and during a batch.
    if waiting.isEmpty, batch == nil { condition.signal() }
    if isFull || batch == nil && !hasRoom {
      // All that comes now is missed, until there is room again: so it is behind all that waits.
      isFull = true
      for observer in waiting.observers(key) {
        waiting.missed[ObjectIdentifier(observer), default: (observer, 0)].count += 1
      }
    } else {
      let change = change()
      waiting.changes.append((key, batch, change))
      waitingBytes += bytes(change)
    }
  }

  private var hasRoom: Bool { waiting.changes.count < Self.capacity && waitingBytes < Self.byteCapacity }

  /// What is added up to `endBatch` belongs to the batch with this number. If there is room now, that is so for all of it, however
  /// much that is; otherwise all of it is missed.
  func beginBatch(_ sequence: UInt64) {
    lock.withLock {
      batch = sequence
      if !hasRoom { isFull = true }
    }
  }

  func endBatch() {
    lock.withLock {
      batch = nil
      // The thread, and whoever is about to observe.
      condition.broadcast()
    }
  }

  /// Whether there are observers.
  var isObserved: Bool { lock.withLock { waiting.isObserved } }

  /// Whether somebody waits for the end of a batch. For tests.
  var isEndAwaited: Bool { lock.withLock { newcomers > 0 } }

  /// Nothing changes any more: observers are notified after the last change, and released. To observe throws `reason` from now on.
  func end(_ reason: StoreError) {
    lock.withLock {
      self.reason = reason
      condition.signal()
    }
  }

  // MARK: Observers

  /// Calls `receiver` with each change from now on, or with those of `key` and those of all keys; with all that a batch did at once,
  /// if it takes batches. Waits for the end of a batch that is being added.
  ///
  /// `feed` is called with true before the first observer receives anything, and with false when the last one has gone: it sees to
  /// it that changes are added.
  func observe(
    _ key: Key?,
    takesBatches: Bool = false,
    feed: @escaping @Sendable (Bool) throws(StorageError) -> Void,
    _ receiver: @escaping Receiver
  ) throws(StorageError) -> ObservationToken {
    let observer = try registering.withLock { () throws(StorageError) -> Observer in
      let (observer, isFirst) = try lock.withLock { () throws(StorageError) in
        newcomers += 1
        while batch != nil { condition.wait(lock) }
        newcomers -= 1
        if let reason { throw .store(reason) }
        try start()
        let isFirst = !waiting.isObserved
        let start = waiting.first + UInt64(waiting.changes.count)
        let observer = Observer(key, from: start, takesBatches: takesBatches, receiver)
        if let key { waiting.ofKey[key, default: []].append(observer) } else { waiting.ofAll.append(observer) }
        return (observer, isFirst)
      }
      do throws(StorageError) { if isFirst { try feed(true) } } catch {
        _ = remove(observer)
        throw error
      }
      return observer
    }
    return ObservationToken { [self] in
      observer.isCancelled.store(true, ordering: .relaxed)
      registering.withLock { if remove(observer) { try? feed(false) } }
    }
  }

  /// Called with the lock held.
  private func start() throws(StorageError) {
    if isRunning { return }
    do throws(PlatformError) {
      _ = try WorkerThread(name: "esker-observe") { [self] in run() }
      isRunning = true
    } catch {
      throw .back(name: "the observers' thread", underlying: error)
    }
  }

  /// Whether it was the last one. The caller holds the observer, so that it does not end here.
  private func remove(_ observer: Observer) -> Bool {
    lock.withLock {
      if let key = observer.key {
        waiting.ofKey[key]?.removeAll { $0 === observer }
        if waiting.ofKey[key]?.isEmpty == true { waiting.ofKey[key] = nil }
      } else {
        waiting.ofAll.removeAll { $0 === observer }
      }
      waiting.missed[ObjectIdentifier(observer)] = nil
      if waiting.isObserved { return false }
      condition.signal()
      return true
    }
  }

  // MARK: Telling

  private func run() {
    while let portion = next() {
      var position = 0
      while position < portion.changes.count {
        let end = portion.end(from: position)
        deliver(portion, position..<end)
        position = end
      }
      for (observer, count) in portion.missed.values { notify(observer, .missed(count)) }
      guard portion.isLast else { continue }
      for observer in portion.observers(nil) { notify(observer, .ended) }
      return
    }
  }

  /// Delivers a batch, or a single change.
  private func deliver(_ portion: Portion, _ positions: Range<Int>) {
    var parts: [(observer: Observer, changes: [Change])] = []
    var places: [ObjectIdentifier: Int] = [:]
    for position in positions {
      let (key, batch, change) = portion.changes[position]
      let number = portion.first + UInt64(position)
      for observer in portion.observers(key) where observer.start <= number {
        if !observer.takesBatches {
          notify(observer, .changes([change], batch: batch))
        } else if let place = places[ObjectIdentifier(observer)] {
          parts[place].changes.append(change)
        } else {
          places[ObjectIdentifier(observer)] = parts.count
          parts.append((observer, [change]))
        }
      }
    }
    let batch = portion.changes[positions.lowerBound].batch
    for (observer, changes) in parts { notify(observer, .changes(changes, batch: batch)) }
  }

  private func notify(_ observer: Observer, _ notice: Notice) {
    // Cancelled meanwhile, by an earlier call perhaps.
    if !observer.isCancelled.load(ordering: .relaxed) { observer.receiver(notice) }
  }

  /// Waits for changes, and takes them all; nil when nobody listens any more.
  private func next() -> Portion? {
    // Released after the lock.
    var undelivered = Portion()
    defer { withExtendedLifetime(undelivered) {} }
    return lock.withLock {
      while true {
        if waiting.isObserved, batch != nil || waiting.isEmpty && !isEnded {
          condition.wait(lock)
          continue
        }
        var portion = waiting
        waiting.first += UInt64(portion.changes.count)
        waiting.changes = []
        waiting.missed = [:]
        waitingBytes = 0
        isFull = false
        if portion.isObserved, !isEnded { return portion }
        isRunning = false
        if portion.isObserved {
          waiting.ofAll = []
          waiting.ofKey = [:]
          portion.isLast = true
          return portion
        }
        undelivered = portion
        return nil
      }
    }
  }
}
