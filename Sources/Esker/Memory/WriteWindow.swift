internal import EskerPlatform
internal import Synchronization

/// A key of a value that waits to be written: one for each key behind, as far as these are known apart.
struct WaitingKey<Key: Hashable & Sendable>: Hashable, Sendable {
  let key: Key
  /// What tells apart equal keys, if anything can.
  private let bytes: [UInt8]?

  init(_ key: Key, _ distinction: KeyDistinction<Key>) {
    self.key = key
    switch distinction {
    case .none, .unknownText: bytes = nil
    case .text: bytes = (key as? String).map { Array($0.utf8) }
    case .bytes(let keys): bytes = try? keys.encode(key)
    }
  }

  /// Whether an equal key is this one, whatever is behind.
  func isSpelled(as other: WaitingKey) -> Bool { haveSameText(key, other.key) }
}

/// What was set and is not written behind yet.
///
/// Whoever sets adds to it; a thread of Esker's writes what has gathered, in the order in which the keys came. A value that is
/// set again before its turn is written once.
///
/// No key, value or error is let go of under a lock: its end may call the storage.
///
/// Safety: threads may share it, since what changes is atomic or only touched by a holder of `lock`; keys and values are
/// `Sendable`.
final class WriteWindow<Key: Hashable & Sendable, Value: Sendable>: Flushable, @unchecked Sendable {
  struct Pending: Sendable {
    var value: Value
    var expiry: Expiry?
  }

  typealias Write = @Sendable (WriteWindow, WaitingKey<Key>, Pending) throws(StorageError) -> Void

  private let limit: Int
  /// That of the keyspace behind, if there is one.
  private let hub: ChangeHub?
  private let write: Write
  /// Changes under `lock`. A thread that finds nothing waiting acquires it, and so sees behind the window what was written
  /// there.
  private let count = Atomic<Int>(0)
  private let lock = Lock(.window)
  /// Held by who writes behind; taken before `lock`.
  private let writing = Lock(.writingBehind)
  /// The thread that holds `writing`, 0 for none. Relaxed: a thread only asks whether it is itself, and sees its own
  /// stores.
  private let writer = Atomic<UInt>(0)
  // Guarded by `lock`.
  private var order: [WaitingKey<Key>] = []
  private var pending: [WaitingKey<Key>: Pending] = [:]
  private var underway: [WaitingKey<Key>: Pending] = [:]
  private var isScheduled = false
  private var isClosed = false
  private var failure: StorageError?

  /// `write` writes one value behind.
  init(limit: Int, hub: ChangeHub?, _ write: @escaping Write) {
    self.limit = max(1, limit)
    self.hub = hub
    self.write = write
  }

  /// Whether nothing waits.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Whether the calling thread is writing something of this window behind.
  var isWrittenHere: Bool { writer.load(ordering: .relaxed) == Platform.currentThread }

  /// Whether the calling thread is writing behind. What the code of keys and values calls meanwhile waits neither for this thread nor
  /// for one that may be doing the same.
  private var isWritingHere: Bool { isWrittenHere || hub?.isWrittenHere ?? false }

  /// What waits for a key, spelled as it is here.
  func pending(_ key: WaitingKey<Key>) -> Pending? {
    lock.withLock { isSpelledOtherwise(key) ? nil : pending[key] ?? underway[key] }
  }

  /// Writes what waits if the key is among it in another spelling.
  ///
  /// - Throws: what keeps anything from being written.
  func writeOtherSpelling(of key: WaitingKey<Key>) throws(StorageError) {
    if lock.withLock({ isSpelledOtherwise(key) }) { try writeWaiting() }
  }

  /// Whether what waits for a key was set last in another spelling. Called with the lock held.
  private func isSpelledOtherwise(_ key: WaitingKey<Key>) -> Bool {
    if let place = pending.index(forKey: key) { return !pending[place].key.isSpelled(as: key) }
    if let place = underway.index(forKey: key) { return !underway[place].key.isSpelled(as: key) }
    return false
  }

  /// Whether a value was set for a key since the one that is being written.
  func isSuperseded(_ key: WaitingKey<Key>) -> Bool {
    lock.withLock { pending[key] != nil }
  }

  /// Adds a value, writing what waits first if the window is full, or has the key in another spelling.
  ///
  /// - Throws: what writing in the background failed of since the last time anybody was told, and that the store is closed;
  ///   nothing is added then.
  func add(_ key: WaitingKey<Key>, _ value: Pending) throws(StorageError) {
    while true {
      let outcome = try lock.withLock { () throws(StorageError) -> Addition in
        try throwFailure()
        if isClosed { throw .store(.closed) }
        if isSpelledOtherwise(key), !isWritingHere { return Addition() }
        if pending[key] == nil {
          // Who is writing cannot wait until there is room.
          if pending.count + underway.count >= limit, !isWritingHere { return Addition() }
          order.append(key)
          count.wrappingAdd(1, ordering: .acquiringAndReleasing)
        }
        defer { isScheduled = true }
        return Addition(isDone: true, starts: !isScheduled, replaced: pending.updateValue(value, forKey: key))
      }
      if outcome.starts { IOThreads.shared.submit { [self] in writeInBackground() } }
      if outcome.isDone { return }
      try flush()
    }
  }

  private struct Addition {
    var isDone = false
    var starts = false
    var replaced: Pending?
  }

  // MARK: Writing behind

  /// Writes what waits, and returns when it is written.
  ///
  /// - Throws: what a write failed of, then or in the background before. What failed keeps waiting, unless it can never be
  ///   written.
  func flush() throws(StorageError) {
    try lock.withLock { () throws(StorageError) in try throwFailure() }
    try writeAll()
    // Others may have written meanwhile what waited here, and dropped it.
    try lock.withLock { () throws(StorageError) in try throwFailure() }
  }

  /// Writes what waits, on behalf of one who has set none of it.
  ///
  /// - Throws: what keeps anything from being written. That a value could not be written for a reason of its own is kept for
  ///   the next one to set or flush.
  func writeWaiting() throws(StorageError) {
    while true {
      do throws(StorageError) {
        return try writeAll(remembering: \.isOfTheValue)
      } catch {
        guard error.isOfTheValue else { throw error }
      }
    }
  }

  /// Writes what waits and takes nothing any more. What cannot be written now never can, and is dropped.
  ///
  /// - Throws: what anything was not written for.
  func close() throws(StorageError) {
    _ = lock.withLock {
      isClosed = true
      // What failed before is tried once more, unless it is gone.
      return takePassingFailure()
    }
    do throws(StorageError) {
      try writeWaiting()
    } catch {
      let dropped = lock.withLock {
        let dropped = (order, pending, failure)
        count.wrappingSubtract(order.count, ordering: .acquiringAndReleasing)
        order = []
        pending = [:]
        failure = nil
        return dropped
      }
      withExtendedLifetime(dropped) {}
      throw error
    }
    // A try that was under way may have failed since. Its value was written by the next.
    _ = lock.withLock { takePassingFailure() }
    try lock.withLock { () throws(StorageError) in try throwFailure() }
  }

  /// What a value that waits for the next try failed of; nobody is told then. Called with the lock held.
  private func takePassingFailure() -> StorageError? {
    guard let error = failure, !error.isOfTheValue else { return nil }
    failure = nil
    return error
  }

  /// Called with the lock held.
  private func throwFailure() throws(StorageError) {
    guard let error = failure else { return }
    failure = nil
    throw error
  }

  private func writeInBackground() {
    lock.withLock { isScheduled = false }
    try? writeAll { _ in true }
  }

  /// Writes what waits; a failure is remembered for the next one who sets or flushes if `isRemembered` says so.
  private func writeAll(remembering isRemembered: (StorageError) -> Bool = { _ in false }) throws(StorageError) {
    if isEmpty || isWritingHere { return }
    while let attempt = writeNext(isRemembered) {
      if let failure = attempt.failure { throw failure }
    }
  }

  /// A value that was taken out to be written, and what that failed of.
  private struct Attempt {
    let key: WaitingKey<Key>
    let value: Pending
    var failure: StorageError?
  }

  /// Writes what is next; nil when nothing waits.
  private func writeNext(_ isRemembered: (StorageError) -> Bool) -> Attempt? {
    writing.withLock {
      guard let (key, value) = next() else { return nil }
      writer.store(Platform.currentThread, ordering: .relaxed)
      defer { writer.store(0, ordering: .relaxed) }
      var attempt = Attempt(key: key, value: value)
      do throws(StorageError) {
        try write(self, key, value)
        end(key, nil)
      } catch {
        end(key, error.isOfTheValue ? nil : value, isRemembered(error) ? error : nil)
        attempt.failure = error
      }
      return attempt
    }
  }

  /// Called by who holds `writing`: what is to be written next.
  private func next() -> (WaitingKey<Key>, Pending)? {
    lock.withLock {
      guard !order.isEmpty else { return nil }
      let key = order.removeFirst()
      guard let value = pending.removeValue(forKey: key) else { return nil }
      underway[key] = value
      return (key, value)
    }
  }

  /// Keeps one failure until somebody is told, and returns the other: that of a value that is lost is kept before that of one that
  /// is tried again. Called with the lock held.
  private func remember(_ error: StorageError?) -> StorageError? {
    guard let error else { return nil }
    if let kept = failure, kept.isOfTheValue || !error.isOfTheValue { return error }
    defer { failure = error }
    return failure
  }

  /// What was underway is written, or `kept` to be tried again; a value set meanwhile supersedes it.
  private func end(_ key: WaitingKey<Key>, _ kept: Pending?, _ remembered: StorageError? = nil) {
    _ = lock.withLock {
      // At once: whoever finds that nothing waits is told why.
      let untold = remember(remembered)
      underway[key] = nil
      if let kept, pending[key] == nil {
        pending[key] = kept
        order.insert(key, at: 0)
      } else {
        count.wrappingSubtract(1, ordering: .acquiringAndReleasing)
      }
      return untold
    }
  }
}

extension StorageError {
  /// Whether the value or key is at fault, so that trying again is of no use.
  var isOfTheValue: Bool {
    switch self {
    case .encoding, .decoding, .key, .rejected, .unsupported: true
    case .store(.keyTooLong), .store(.valueTooLong): true
    case .store, .back, .producer, .cancelled: false
    }
  }
}
