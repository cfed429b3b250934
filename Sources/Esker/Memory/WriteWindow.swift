internal import EskerPlatform
internal import Synchronization

/// What was set and is not written behind yet.
///
/// Whoever sets adds to it; a thread of Esker's writes what has gathered, in the order in which the keys came. A value that is
/// set again before its turn is written once.
final class WriteWindow<Key: Hashable & Sendable, Value: Sendable>: Flushable, @unchecked Sendable {
  struct Pending: Sendable {
    var value: Value
    var expiry: Expiry?
  }

  private let limit: Int
  private let write: @Sendable (WriteWindow, FrontKey<Key>, Pending) throws(StorageError) -> Void
  private let count = Atomic<Int>(0)
  private let lock = Lock()
  /// Held by who writes behind; taken before `lock`.
  private let writing = Lock()
  // Guarded by `lock`.
  private var order: [FrontKey<Key>] = []
  private var pending: [FrontKey<Key>: Pending] = [:]
  private var underway: [FrontKey<Key>: Pending] = [:]
  private var isScheduled = false
  private var failure: StorageError?

  /// `write` writes one value behind.
  init(limit: Int, _ write: @escaping @Sendable (WriteWindow, FrontKey<Key>, Pending) throws(StorageError) -> Void) {
    self.limit = max(1, limit)
    self.write = write
  }

  /// Whether nothing waits.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// What waits for a key.
  func pending(_ key: FrontKey<Key>) -> Pending? {
    if isEmpty { return nil }
    return lock.withLock { pending[key] ?? underway[key] }
  }

  /// Whether a value was set for a key since the one that is being written.
  func isSuperseded(_ key: FrontKey<Key>) -> Bool {
    lock.withLock { pending[key] != nil }
  }

  /// Adds a value, writing what waits first if the window is full.
  ///
  /// - Throws: what writing in the background failed of since the last time anybody was told; nothing is added then.
  func add(_ key: FrontKey<Key>, _ value: Pending) throws(StorageError) {
    while true {
      let (isAdded, starts) = try lock.withLock { () throws(StorageError) -> (Bool, Bool) in
        try throwFailure()
        if pending[key] == nil {
          if pending.count + underway.count >= limit { return (false, false) }
          order.append(key)
          count.wrappingAdd(1, ordering: .acquiringAndReleasing)
        }
        pending[key] = value
        defer { isScheduled = true }
        return (true, !isScheduled)
      }
      if starts { IOThreads.shared.submit { [self] in writeInBackground() } }
      if isAdded { return }
      try flush()
    }
  }

  /// Writes what waits, and returns when it is written.
  ///
  /// - Throws: what a write failed of, then or in the background before. What failed keeps waiting, unless it can never be
  ///   written.
  func flush() throws(StorageError) {
    try lock.withLock { () throws(StorageError) in try throwFailure() }
    if isEmpty { return }
    try writing.withLock { () throws(StorageError) in
      while let (key, value) = next() {
        do throws(StorageError) {
          try write(self, key, value)
          end(key, nil)
        } catch {
          end(key, error.isOfTheValue ? nil : value)
          throw error
        }
      }
    }
  }

  /// Called with the lock held.
  private func throwFailure() throws(StorageError) {
    guard let error = failure else { return }
    failure = nil
    throw error
  }

  private func writeInBackground() {
    lock.withLock { isScheduled = false }
    do throws(StorageError) { try flush() } catch { lock.withLock { failure = error } }
  }

  /// Called by who holds `writing`: what is to be written next.
  private func next() -> (FrontKey<Key>, Pending)? {
    lock.withLock {
      guard !order.isEmpty else { return nil }
      let key = order.removeFirst()
      guard let value = pending.removeValue(forKey: key) else { return nil }
      underway[key] = value
      return (key, value)
    }
  }

  /// What was underway is written, or `kept` to be tried again; a value set meanwhile supersedes it.
  private func end(_ key: FrontKey<Key>, _ kept: Pending?) {
    lock.withLock {
      underway[key] = nil
      if let kept, pending[key] == nil {
        pending[key] = kept
        order.insert(key, at: 0)
      } else {
        count.wrappingSubtract(1, ordering: .acquiringAndReleasing)
      }
    }
  }
}

extension StorageError {
  /// Whether the value or key is at fault, so that trying again is of no use.
  fileprivate var isOfTheValue: Bool {
    switch self {
    case .encoding, .decoding, .key, .rejected, .unsupported: true
    case .store(.keyTooLong), .store(.valueTooLong): true
    case .store, .back, .producer, .cancelled: false
    }
  }
}
