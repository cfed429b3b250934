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
      let size = request.command.bytes.count
      return state.withLock { state in
        guard state.isOpen else { return .refused(.stopped) }
        guard state.waiting < Self.mostWaiting, state.bytes + size <= Self.mostBytesWaiting || state.waiting == 0 else {
          return .refused(.unavailable(until: nil))
        }
        state.waiting += 1
        state.bytes += size
        state.requests.append(request)
        return state.requests.count == 1 ? .first : .behindOthers
      }
    }

    /// Hands in several at once; gives those that were refused, and whether the loop has to be woken.
    func add(_ requests: [Request]) -> (refused: ArraySlice<Request>, error: RemoteError, isFirst: Bool) {
      state.withLock { state in
        guard state.isOpen else { return (requests[...], .stopped, false) }
        let wasEmpty = state.requests.isEmpty
        var taken = 0
        for request in requests {
          let size = request.command.bytes.count
          guard state.waiting < Self.mostWaiting, state.bytes + size <= Self.mostBytesWaiting || state.waiting == 0
          else { break }
          state.waiting += 1
          state.bytes += size
          taken += 1
        }
        state.requests += requests[..<taken]
        return (requests[taken...], .unavailable(until: nil), wasEmpty && taken > 0)
      }
    }

    /// Takes all, in the order in which they came.
    func take() -> [Request] {
      state.withLock { state in
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

    var waiting: Int { state.withLock { $0.waiting } }
  }
#endif
