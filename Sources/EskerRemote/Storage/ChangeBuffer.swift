internal import EskerPlatform

/// What is told to whoever iterates over the changes of a storage: passes them on, and says so where some did not fit.
///
/// Who iterates may run on an executor that takes locks when it is handed a task, or that runs it at once, so nothing is reported under a
/// lock: one thread tells, and others leave it what they have.
final class ChangeBuffer<Key: Sendable>: Sendable {
  /// How many changes wait to be taken.
  static var limit: Int { 1_024 }

  private struct State {
    var waiting: [RemoteChange<Key>] = []
    var isNotifying = false
    /// How many changes still fit, at least.
    var room = ChangeBuffer.limit
  }

  private let continuation: AsyncStream<RemoteChange<Key>>.Continuation
  private let state = Guarded(State(), .leaf)

  private init(_ continuation: AsyncStream<RemoteChange<Key>>.Continuation) { self.continuation = continuation }

  /// A buffer and what is iterated over, which the buffer must not keep alive: it ends when nobody has it any more.
  static func make() -> (stream: AsyncStream<RemoteChange<Key>>, buffer: ChangeBuffer<Key>) {
    // The last place is for the doubt about what did not fit.
    let (stream, continuation) = AsyncStream.makeStream(
      of: RemoteChange<Key>.self,
      bufferingPolicy: .bufferingOldest(limit + 1)
    )
    return (stream, ChangeBuffer(continuation))
  }

  /// Calls `body` when the iteration ends.
  func onTermination(_ body: @escaping @Sendable () -> Void) { continuation.onTermination = { _ in body() } }

  func add(_ change: RemoteChange<Key>) {
    let isFirst = state.withLock { state in
      // As many again may come while one is being told.
      if state.waiting.count < Self.limit { state.waiting.append(change) } else { state.waiting = [.doubtful] }
      defer { state.isNotifying = true }
      return !state.isNotifying
    }
    guard isFirst else { return }
    while let (changes, room) = next() {
      let left = changes.reduce(room) { notify($1, $0) }
      state.withLock { $0.room = left }
    }
  }

  /// What is to be told next; nil if there is nothing more.
  private func next() -> (changes: [RemoteChange<Key>], room: Int)? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isNotifying = false
        return nil
      }
      defer { state.waiting = [] }
      return (state.waiting, state.room)
    }
  }

  /// Tells a change, if it is known to fit or some were taken; otherwise there is a doubt behind all that is reported. How many still fit.
  private func notify(_ change: RemoteChange<Key>, _ room: Int) -> Int {
    var room = room
    if room == 0 { room = yield(.doubtful) }
    return room == 0 ? 0 : yield(change)
  }

  /// How many changes still fit behind it, besides the last doubt.
  private func yield(_ change: RemoteChange<Key>) -> Int {
    switch continuation.yield(change) {
    case .enqueued(let remaining): max(0, remaining - 1)
    case .dropped: 0
    case .terminated: Self.limit
    @unknown default: 0
    }
  }
}
