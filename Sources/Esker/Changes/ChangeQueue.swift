internal import EskerPlatform
internal import Synchronization

/// Changes on their way to observers.
///
/// Whoever makes changes adds them in their order, under whatever lock gives them that order; a thread of the queue's own
/// delivers them, and lives while there are observers. A change is built only if somebody observes it and there is room. Changes
/// for which there is no room are counted for each observer, and reported after those that came before.
///
/// Nothing that observers or callers own is released under the queue's lock: its end may call the queue.
///
/// Safety: threads may share it, since what changes is atomic or only touched by a holder of `lock`; keys and changes are
/// `Sendable`.
final class ChangeQueue<Key: Hashable & Sendable, Change: Sendable>: @unchecked Sendable {
  /// What an observer is notified of.
  enum Notice {
    case change(Change)
    case missed(Int)
    /// The last notification.
    case ended
  }

  typealias Receiver = @Sendable (Notice) -> Void

  /// Changes that may wait, and bytes they may take together, besides those being delivered.
  static var capacity: Int { 8192 }
  static var byteCapacity: Int { 64 << 20 }

  private final class Observer: Sendable {
    let key: Key?
    /// The first change it receives.
    let start: UInt64
    let receiver: Receiver
    /// Relaxed: a call that is about to begin may still be made.
    let isCancelled = Atomic<Bool>(false)

    init(_ key: Key?, from start: UInt64, _ receiver: @escaping Receiver) {
      self.key = key
      self.start = start
      self.receiver = receiver
    }
  }

  /// What the thread takes out at once.
  private struct Batch {
    var first: UInt64 = 0
    var changes: [(key: Key?, change: Change)] = []
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
  }

  private let bytes: @Sendable (Change) -> Int
  private let lock = Lock(.changes)
  private let condition = Condition()
  /// Held while observers come and go, and while the source of changes is notified of it; taken before any lock that changes are
  /// made under.
  private let registering = Lock(.registering)
  // Guarded by `lock`.
  private var waiting = Batch()
  private var waitingBytes = 0
  private var isFull = false
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
    // The thread sleeps only when there is nothing.
    if waiting.isEmpty { condition.signal() }
    if isFull || waiting.changes.count >= Self.capacity || waitingBytes >= Self.byteCapacity {
      // All that comes now is missed, until there is room again: so it is behind all that waits.
      isFull = true
      for observer in waiting.observers(key) {
        waiting.missed[ObjectIdentifier(observer), default: (observer, 0)].count += 1
      }
    } else {
      let change = change()
      waiting.changes.append((key, change))
      waitingBytes += bytes(change)
    }
  }

  /// Whether there are observers.
  var isObserved: Bool { lock.withLock { waiting.isObserved } }

  /// Nothing changes any more: observers are notified after the last change, and released. To observe throws `reason` from now on.
  func end(_ reason: StoreError) {
    lock.withLock {
      self.reason = reason
      condition.signal()
    }
  }

  // MARK: Observers

  /// Calls `receiver` with each change from now on, or with those of `key` and those of all keys.
  ///
  /// `feed` is called with true before the first observer receives anything, and with false when the last one has gone: it sees to
  /// it that changes are added.
  func observe(
    _ key: Key?,
    feed: @escaping @Sendable (Bool) throws(StorageError) -> Void,
    _ receiver: @escaping Receiver
  ) throws(StorageError) -> ObservationToken {
    let observer = try registering.withLock { () throws(StorageError) -> Observer in
      let (observer, isFirst) = try lock.withLock { () throws(StorageError) in
        if let reason { throw .store(reason) }
        try start()
        let isFirst = !waiting.isObserved
        let observer = Observer(key, from: waiting.first + UInt64(waiting.changes.count), receiver)
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
    while let batch = next() {
      for (position, (key, change)) in batch.changes.enumerated() {
        let number = batch.first + UInt64(position)
        for observer in batch.observers(key) where observer.start <= number { notify(observer, .change(change)) }
      }
      for (observer, count) in batch.missed.values { notify(observer, .missed(count)) }
      guard batch.isLast else { continue }
      for observer in batch.observers(nil) { notify(observer, .ended) }
      return
    }
  }

  private func notify(_ observer: Observer, _ notice: Notice) {
    // Cancelled meanwhile, by an earlier call perhaps.
    if !observer.isCancelled.load(ordering: .relaxed) { observer.receiver(notice) }
  }

  /// Waits for changes, and takes them all; nil when nobody listens any more.
  private func next() -> Batch? {
    // Released after the lock.
    var undelivered = Batch()
    defer { withExtendedLifetime(undelivered) {} }
    return lock.withLock {
      while true {
        if waiting.isObserved, waiting.isEmpty, !isEnded {
          condition.wait(lock)
          continue
        }
        var batch = waiting
        waiting.first += UInt64(batch.changes.count)
        waiting.changes = []
        waiting.missed = [:]
        waitingBytes = 0
        isFull = false
        if batch.isObserved, !isEnded { return batch }
        isRunning = false
        if batch.isObserved {
          waiting.ofAll = []
          waiting.ofKey = [:]
          batch.isLast = true
          return batch
        }
        undelivered = batch
        return nil
      }
    }
  }
}
