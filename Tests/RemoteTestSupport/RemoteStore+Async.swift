public import EskerRemote

/// Requests for tasks. A task that resumes has no place in the order of messages, so the core uses the completions, and only tests and
/// benchmarks these.
///
/// The task waits for the completion also if it is cancelled; the deadline bounds that.
extension RemoteStore {
  /// Reads what is under a key.
  public func get(
    _ key: RemoteKey,
    from source: RemoteSource = .owner,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteValue?> {
    try await awaited { reply in get(key, from: source, by: deadline) { reply.land($0) } }
  }

  /// Asks whether what is under a key still has a version.
  public func check(
    _ key: RemoteKey,
    _ version: RemoteVersion,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteChecked> {
    try await awaited { reply in check(key, version, by: deadline) { reply.land($0) } }
  }

  /// Stores a value.
  public func set(
    _ key: RemoteKey,
    _ value: RemoteValue,
    if condition: RemoteCondition = .always,
    as write: RemoteWriteID,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteWritten> {
    try await awaited { reply in set(key, value, if: condition, as: write, by: deadline) { reply.land($0) } }
  }

  /// Removes what is under a key.
  public func remove(
    _ key: RemoteKey,
    if condition: RemoteCondition = .always,
    as write: RemoteWriteID,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteWritten> {
    try await awaited { reply in remove(key, if: condition, as: write, by: deadline) { reply.land($0) } }
  }

  /// Gives the value that is there another life.
  public func touch(
    _ key: RemoteKey,
    _ envelope: RemoteEnvelope,
    if condition: RemoteCondition = .always,
    as write: RemoteWriteID,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteWritten> {
    try await awaited { reply in touch(key, envelope, if: condition, as: write, by: deadline) { reply.land($0) } }
  }

  /// Replays a write that waited in a queue.
  public func apply(
    _ key: RemoteKey,
    _ intent: RemoteIntent,
    as write: RemoteWriteID,
    by deadline: RemoteInstant
  ) async throws(RemoteError) -> Stamped<RemoteApplied> {
    try await awaited { reply in apply(key, intent, as: write, by: deadline) { reply.land($0) } }
  }

  /// Waits until completed writes are on replicas.
  public func replicated(_ key: RemoteKey, to count: Int, by deadline: RemoteInstant) async throws(RemoteError) -> Int {
    try await awaited { reply in replicated(key, to: count, by: deadline) { reply.land($0) } }
  }
}

/// Suspends the task until `body` has led to a reply. What calls it is a closure of one reference, which takes no memory of its own.
///
/// Safety: the continuation is resumed by the reply, which resumes it once.
private func awaited<Reply: Sendable>(_ body: (AwaitedReply<Reply>) -> Void) async throws(RemoteError) -> Reply {
  let reply = AwaitedReply<Reply>()
  unsafe await withUnsafeContinuation { continuation in
    unsafe reply.continuation = continuation
    body(reply)
  }
  return try reply.take().get()
}

/// Where a result waits for its task. The task frees it, on the thread that made it more often than not: to free what another thread
/// has made is dear.
///
/// Safety: the task touches it before it is suspended and after it is resumed, and whoever lands in between, once: a second one finds
/// no continuation.
@safe
private final class AwaitedReply<Reply: Sendable>: @unchecked Sendable {
  var continuation: UnsafeContinuation<Void, Never>?
  private var result: Result<Reply, RemoteError>?

  func land(_ result: Result<Reply, RemoteError>) {
    guard let continuation = unsafe continuation.take() else { return }
    self.result = result
    unsafe continuation.resume()
  }

  func take() -> Result<Reply, RemoteError> { result ?? .failure(.stopped) }
}
