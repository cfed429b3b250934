#if Redis
  internal import EskerPlatform
  internal import EskerRemote

  /// Requests on their way from many tasks to the client's loop, and the limits of how many may wait.
  final class Inbox: Sendable {
    static let mostWaiting = 64 << 10
    static let mostBytesWaiting = 64 << 20

    private struct State {
      var requests: [Request] = []
      var waiting = 0
      var bytes = 0
      var isOpen = false
      /// Whether the loop is going to look, since it was woken or is about to end a turn.
      var isAwaited = false

      /// Whether there is room for a request, which then counts.
      mutating func admit(_ request: Request) -> Bool {
        let size = request.size
        guard waiting < Inbox.mostWaiting, bytes + size <= Inbox.mostBytesWaiting || waiting == 0 else { return false }
        waiting += 1
        bytes += size
        return true
      }
    }

    private let state = Guarded(State(), .leaf)

    /// What came of handing a request in.
    enum Admission {
      /// The loop has to be woken.
      case first
      case behindOthers
      case refused(RemoteError)
    }

    func open() { state.withLock { $0.isOpen = true } }

    /// From now on nothing is admitted.
    func close() { state.withLock { $0.isOpen = false } }

    func add(_ request: Request) -> Admission {
      state.withLock { state in
        guard state.isOpen else { return .refused(.stopped) }
        guard state.admit(request) else { return .refused(.unavailable(until: nil)) }
        state.requests.append(request)
        defer { state.isAwaited = true }
        return state.isAwaited ? .behindOthers : .first
      }
    }

    /// Hands in several at once; gives those that were refused, and whether the loop has to be woken.
    func add(_ requests: [Request]) -> (refused: ArraySlice<Request>, error: RemoteError, isFirst: Bool) {
      state.withLock { state in
        guard state.isOpen else { return (requests[...], .stopped, false) }
        let taken = requests.firstIndex { !state.admit($0) } ?? requests.count
        state.requests += requests[..<taken]
        guard taken > 0 else { return (requests[...], .unavailable(until: nil), false) }
        defer { state.isAwaited = true }
        return (requests[taken...], .unavailable(until: nil), !state.isAwaited)
      }
    }

    /// Announces a call of ``take()``, so that other threads need not wake the loop.
    func expect() { state.withLock { $0.isAwaited = true } }

    /// Takes all, in the order in which they came.
    func take() -> [Request] {
      state.withLock { state in
        state.isAwaited = false
        let taken = state.requests
        state.requests = []
        state.requests.reserveCapacity(taken.count)
        return taken
      }
    }

    /// Some wait no more.
    func release(_ count: Int, bytes: Int) {
      guard count > 0 else { return }
      state.withLock { state in
        state.waiting -= count
        state.bytes -= bytes
      }
    }
  }
#endif
