internal import EskerPlatform

/// The changes that wait for a task, and a count of those for which there is no room: `AsyncStream` by itself drops silently.
///
/// The observer holds it, and it does not hold the observation: whoever iterates does.
final class ChangeFeed<Key: Sendable, Value: Sendable>: Sendable {
  let stream: AsyncStream<StorageChange<Key, Value>>
  private let continuation: AsyncStream<StorageChange<Key, Value>>.Continuation
  private let dropped = Guarded<Int>(0, .leaf)

  init(buffer: Int) {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(max(2, buffer)))
  }

  /// What is added from now on, as long as somebody has it.
  func changes(until token: ObservationToken) -> StorageChanges<Key, Value> {
    // A task that is cancelled may let go much later.
    continuation.onTermination = { [weak token] _ in token?.cancel() }
    return StorageChanges(token: token, feed: self)
  }

  /// Changes come one after the other.
  func add(_ change: StorageChange<Key, Value>) {
    if case .closed = change { return continuation.finish() }
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

  /// What there was no room for when everything ended.
  func takeDropped() -> StorageChange<Key, Value>? {
    dropped.withLock { count in
      defer { count = 0 }
      return count > 0 ? .missed(count) : nil
    }
  }

  private static func weight(of change: StorageChange<Key, Value>) -> Int {
    if case .missed(let count) = change { count } else { 1 }
  }
}

/// The changes of a storage, for a task to wait for. It and its iterators keep the observation: when they are gone, it ends.
struct StorageChanges<Key: Sendable, Value: Sendable>: AsyncSequence, Sendable {
  let token: ObservationToken
  let feed: ChangeFeed<Key, Value>

  struct AsyncIterator: AsyncIteratorProtocol {
    let token: ObservationToken
    let feed: ChangeFeed<Key, Value>
    var base: AsyncStream<StorageChange<Key, Value>>.Iterator

    mutating func next() async -> StorageChange<Key, Value>? { await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> StorageChange<Key, Value>? {
      if let change = await base.next(isolation: actor) { return change }
      return feed.takeDropped()
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(token: token, feed: feed, base: feed.stream.makeAsyncIterator())
  }
}
