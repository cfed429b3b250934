internal import EskerPlatform

/// Feeds a stream of changes and counts what it has no room for: `AsyncStream` by itself drops silently.
final class ChangeFeed<Key: Sendable, Value: Sendable>: Sendable {
  let stream: AsyncStream<StorageChange<Key, Value>>
  private let continuation: AsyncStream<StorageChange<Key, Value>>.Continuation
  private let dropped = Guarded<Int>(0, .leaf)

  init(buffer: Int) {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(max(2, buffer)))
  }

  /// Ends the observation with the stream.
  func hold(_ observation: ObservationToken) {
    continuation.onTermination = { _ in observation.cancel() }
  }

  /// Changes come one after the other.
  func yield(_ change: StorageChange<Key, Value>) {
    dropped.withLock { count in
      if count > 0 {
        guard case .enqueued = continuation.yield(.missed(count)) else {
          count += Self.weight(of: change)
          return
        }
        count = 0
      }
      if case .dropped = continuation.yield(change) { count += Self.weight(of: change) }
    }
  }

  private static func weight(of change: StorageChange<Key, Value>) -> Int {
    if case .missed(let count) = change { count } else { 1 }
  }
}
