internal import EskerPlatform

/// The changes that wait for a task, and a count of those for which there is no room: `AsyncStream` by itself drops silently.
///
/// The observer holds it, and it does not hold the observation: whoever iterates does.
final class ChangeFeed<Key: Sendable, Value: Sendable>: Sendable {
  private struct State {
    /// The changes in the stream, less the calls that take one: not above zero for a task that would have to wait.
    var waiting = 0
    /// The changes for which there was no room, and of which the task has not been notified.
    var dropped = 0
  }

  let stream: AsyncStream<StorageChange<Key, Value>>
  private let continuation: AsyncStream<StorageChange<Key, Value>>.Continuation
  private let state = Guarded<State>(State(), .leaf)

  init(buffer: Int) {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(max(2, buffer)))
  }

  /// What is added from now on, as long as somebody has it.
  func changes(until token: ObservationToken) -> StorageChanges<Key, Value> {
    // A task that is cancelled may release the sequence much later.
    continuation.onTermination = { [weak token] _ in token?.cancel() }
    return StorageChanges(token: token, feed: self)
  }

  /// Changes come one after the other.
  func add(_ change: StorageChange<Key, Value>) {
    if case .closed = change { return continuation.finish() }
    state.withLock { state in
      if state.dropped > 0 {
        guard yield(.missed(state.dropped), &state) else {
          state.dropped += Self.weight(of: change)
          return
        }
        state.dropped = 0
      }
      if !yield(change, &state) { state.dropped += Self.weight(of: change) }
    }
  }

  /// Whether there was room for it, or nobody takes any more.
  private func yield(_ change: StorageChange<Key, Value>, _ state: inout State) -> Bool {
    switch continuation.yield(change) {
    case .dropped: return false
    case .enqueued: state.waiting += 1
    default: break
    }
    return true
  }

  /// Called before the stream is asked for a change. Returns instead what there was no room for, where nothing comes before it:
  /// the stream would wait for the next change, which may never come.
  func take() -> StorageChange<Key, Value>? {
    state.withLock { state in
      guard state.waiting <= 0, state.dropped > 0 else {
        state.waiting -= 1
        return nil
      }
      defer { state.dropped = 0 }
      return .missed(state.dropped)
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
      if let missed = feed.take() { return missed }
      return await base.next(isolation: actor)
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(token: token, feed: feed, base: feed.stream.makeAsyncIterator())
  }
}
