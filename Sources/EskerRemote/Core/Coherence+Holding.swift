internal import EskerLog
internal import EskerPlatform

// Keys of which a write waits in a queue: as long as they are held, nothing near is trusted and nothing that is read is kept.
extension Coherence {
  /// Holds a key, once more if it is held already. Reads that have begun are joined by nobody from now on, and not kept.
  func hold(_ key: [UInt8]) {
    if faults.contains(.trustQueued) { return }
    let hash = key.withBytes { self.hash(of: $0) }
    state.withLock { state in
      state.held[hash, default: 0] += 1
      distrust(key, hash, &state)
    }
  }

  /// Undoes one ``hold(_:)``.
  func release(_ key: [UInt8]) {
    if faults.contains(.trustQueued) { return }
    let hash = key.withBytes { self.hash(of: $0) }
    state.withLock { state in
      guard let count = state.held[hash] else { return }
      state.held[hash] = count > 1 ? count - 1 : nil
    }
  }

  /// From now on leases are reported.
  func observeLeases() { state.withLock { $0.leasesAreObserved = true } }

  /// Writes, and suspends until there is an outcome; at most a little longer than `limit`.
  ///
  /// - Parameter answered: told the outcome before the caller is, and before the next write of the key has one.
  func write(
    _ key: RemoteKey,
    _ action: RemoteAction,
    within limit: Duration,
    keep: (@Sendable (UInt32) -> Void)? = nil,
    answered: (@Sendable (Result<WriteOutcome, RemoteError>) -> Void)? = nil
  ) async -> Result<WriteOutcome, RemoteError> {
    let deadline = now().advanced(by: limit)
    var timer: Task<Void, any Error>?
    defer { timer?.cancel() }
    return await withCheckedContinuation { continuation in
      write(key, action, by: deadline, keep: keep) { outcome in
        answered?(outcome)
        continuation.resume(returning: outcome)
      }
      // The core has no clock of its own to wake up by. Not before: it would not find the write.
      timer = Task {
        try await Task.sleep(for: limit.bounded + .milliseconds(20))
        expire(key)
      }
    }
  }
}
