internal import Esker

/// One read of a key, and the tasks that wait for it. It is no one task's: it goes on when all have stopped waiting, and is kept.
typealias RemoteFlight<Value: Sendable> = FlightPromise<Result<RemoteEntry<Value>?, StorageError>>

extension FlightPromise {
  /// As ``outcome(within:)``, for a storage of a name.
  func result<Value>(
    within limit: Duration?,
    of name: String
  ) async throws(StorageError) -> RemoteEntry<Value>? where Outcome == Result<RemoteEntry<Value>?, StorageError> {
    switch await outcome(within: limit) {
    case .landed(let outcome): try outcome.get()
    case .tooLate: throw RemoteError.timedOut.storageError(of: name)
    case .cancelled: throw .cancelled
    }
  }
}
