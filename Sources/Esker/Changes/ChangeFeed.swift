internal import EskerPlatform

/// What a feed holds: a change, or a batch of them.
protocol Observed: Sendable {
  /// How many changes it stands for.
  var changeCount: Int { get }
  /// Whether nothing follows.
  var isLast: Bool { get }
  /// Notes that changes were dropped.
  static func missed(_ count: Int) -> Self
}

extension StorageChange: Observed {
  var changeCount: Int { if case .missed(let count) = self { count } else { 1 } }
  var isLast: Bool { if case .closed = self { true } else { false } }
}

extension StorageChange.Batch: Observed {
  var changeCount: Int { changes.reduce(0) { $0 + $1.changeCount } }
  var isLast: Bool { changes.last?.isLast == true }
  static func missed(_ count: Int) -> Self { Self([.missed(count)]) }
}

/// The changes or batches that wait for a task, and a count of the changes for which there is no room: `AsyncStream` by itself drops
/// silently.
///
/// The observer holds it, and it does not hold the observation: whoever iterates does.
final class ChangeFeed<Element: Observed>: Sendable {
  private struct State {
    /// The elements in the stream, less the calls that take one: not above zero for a task that would have to wait.
    var waiting = 0
    /// The changes for which there was no room, and of which the task has not been notified.
    var dropped = 0
  }

  let stream: AsyncStream<Element>
  private let continuation: AsyncStream<Element>.Continuation
  private let state = Guarded<State>(State(), .leaf)

  init(buffer: Int) {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(max(2, buffer)))
  }

  /// What is added from now on, as long as somebody has it.
  func elements(until token: ObservationToken) -> StorageChanges<Element> {
    // A task that is cancelled may release the sequence much later.
    continuation.onTermination = { [weak token] _ in token?.cancel() }
    return StorageChanges(token: token, feed: self)
  }

  /// Elements come one after the other.
  func add(_ element: Element) {
    if element.isLast { return continuation.finish() }
    state.withLock { state in
      if state.dropped > 0 {
        guard yield(.missed(state.dropped), &state) else {
          state.dropped += element.changeCount
          return
        }
        state.dropped = 0
      }
      if !yield(element, &state) { state.dropped += element.changeCount }
    }
  }

  /// Whether there was room for it, or nobody takes any more.
  private func yield(_ element: Element, _ state: inout State) -> Bool {
    switch continuation.yield(element) {
    case .dropped: return false
    case .enqueued: state.waiting += 1
    default: break
    }
    return true
  }

  /// Called before the stream is asked for an element. Returns instead what there was no room for, where nothing comes before it:
  /// the stream would wait for the next change, which may never come.
  func take() -> Element? {
    state.withLock { state in
      guard state.waiting <= 0, state.dropped > 0 else {
        state.waiting -= 1
        return nil
      }
      defer { state.dropped = 0 }
      return .missed(state.dropped)
    }
  }
}

/// The changes of a storage, or its batches, for a task to wait for. It and its iterators keep the observation: when they are gone, it
/// ends.
struct StorageChanges<Element: Observed>: AsyncSequence, Sendable {
  let token: ObservationToken
  let feed: ChangeFeed<Element>

  struct AsyncIterator: AsyncIteratorProtocol {
    let token: ObservationToken
    let feed: ChangeFeed<Element>
    var base: AsyncStream<Element>.Iterator

    mutating func next() async -> Element? { await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Element? {
      if let missed = feed.take() { return missed }
      return await base.next(isolation: actor)
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(token: token, feed: feed, base: feed.stream.makeAsyncIterator())
  }
}
