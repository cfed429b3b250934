internal import EskerLog

/// The requests for tasks that need no coherence of near copies: tools and tests. A task that resumes has no place in the order of
/// messages, so the core uses the completions.
///
/// The task waits for the completion also if it is cancelled; the deadline bounds that.
extension RemoteStore {
  /// A key of this store.
  public func key(_ bytes: [UInt8]) -> RemoteKey { RemoteKey(bytes, domain: bytes.withBytes { domain(of: $0) }) }

  /// Reads what is under a key.
  public func get(
    _ key: RemoteKey,
    from source: RemoteSource = .owner,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteValue?> {
    try await result { get(key, from: source, by: deadline, then: $0) }
  }

  /// Asks whether what is under a key still has a version.
  public func check(
    _ key: RemoteKey,
    _ version: RemoteVersion,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteChecked> {
    try await result { check(key, version, by: deadline, then: $0) }
  }

  /// Stores a value.
  public func set(
    _ key: RemoteKey,
    _ value: RemoteValue,
    if condition: RemoteCondition = .always,
    as write: RemoteWriteID,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteWritten> {
    try await result { set(key, value, if: condition, as: write, by: deadline, then: $0) }
  }

  /// Removes what is under a key.
  public func remove(
    _ key: RemoteKey,
    if condition: RemoteCondition = .always,
    as write: RemoteWriteID,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteWritten> {
    try await result { remove(key, if: condition, as: write, by: deadline, then: $0) }
  }

  /// Gives the value that is there another life.
  public func touch(
    _ key: RemoteKey,
    _ envelope: RemoteEnvelope,
    if condition: RemoteCondition = .always,
    as write: RemoteWriteID,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteWritten> {
    try await result { touch(key, envelope, if: condition, as: write, by: deadline, then: $0) }
  }

  /// Replays a write that waited in a queue.
  public func apply(
    _ key: RemoteKey,
    _ intent: RemoteIntent,
    as write: RemoteWriteID,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteApplied> {
    try await result { apply(key, intent, as: write, by: deadline, then: $0) }
  }

  /// Waits until completed writes are on replicas.
  public func replicated(_ key: RemoteKey, to count: Int, by deadline: RemoteInstant) async throws(RemoteError) -> Int {
    try await result { replicated(key, to: count, by: deadline, then: $0) }
  }
}

/// Suspends the task until `body` has called what it is given.
private func result<Reply: Sendable>(
  _ body: (@escaping @Sendable (Result<Reply, RemoteError>) -> Void) -> Void
) async throws(RemoteError) -> Reply {
  let result = await withCheckedContinuation { continuation in body { continuation.resume(returning: $0) } }
  return try result.get()
}
