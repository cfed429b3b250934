internal import EskerPlatform

extension IOThreads {
  /// Runs `body` on one of the threads while the task is suspended.
  ///
  /// - Throws: what `body` throws; ``StorageError/cancelled`` if the task was cancelled before `body` began. Once begun, it
  ///   ends, and its outcome is returned.
  nonisolated(nonsending) func run<R: Sendable>(
    _ body: @escaping @Sendable () throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    try await run(orThrow: .cancelled, body)
  }
}
