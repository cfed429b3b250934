#if Redis
  internal import EskerRemote

  // The usual requests of tasks, in one object each. The task holds it until it goes on, and frees it, on the thread that made it more
  // often than not: to free what another thread has made is dear.

  /// Of a task that is suspended.
  ///
  /// Safety: the task touches what it adds to a request before it is handed over and after it is resumed, the loop in between. Requests
  /// are answered once.
  @safe
  final class AwaitedGet: GetRequest, @unchecked Sendable {
    private var continuation: UnsafeContinuation<Void, Never>?
    private var result: Result<Stamped<RemoteValue?>, RemoteError>?

    func result(from client: Client) async throws(RemoteError) -> Stamped<RemoteValue?> {
      unsafe await withUnsafeContinuation { continuation in
        unsafe self.continuation = continuation
        client.submit(self)
      }
      return try (result.take() ?? .failure(.stopped)).get()
    }

    override func tell(_ result: Result<Stamped<RemoteValue?>, RemoteError>) {
      guard let continuation = unsafe continuation.take() else { return }
      self.result = result
      unsafe continuation.resume()
    }
  }

  /// Of a task that is suspended.
  ///
  /// Safety: the task touches what it adds to a request before it is handed over and after it is resumed, the loop in between. Requests
  /// are answered once.
  @safe
  final class AwaitedWrite: WriteRequest, @unchecked Sendable {
    private var continuation: UnsafeContinuation<Void, Never>?
    private var result: Result<Stamped<RemoteWritten>, RemoteError>?

    func result(from client: Client) async throws(RemoteError) -> Stamped<RemoteWritten> {
      unsafe await withUnsafeContinuation { continuation in
        unsafe self.continuation = continuation
        client.submit(self)
      }
      return try (result.take() ?? .failure(.stopped)).get()
    }

    override func tell(_ result: Result<Stamped<RemoteWritten>, RemoteError>) {
      guard let continuation = unsafe continuation.take() else { return }
      self.result = result
      unsafe continuation.resume()
    }
  }
#endif
