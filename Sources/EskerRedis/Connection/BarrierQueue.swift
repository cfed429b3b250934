#if Redis
  internal import EskerRemote

  /// Those that wait until replicas have what was written. One question is under way at a time and answers all that came before it.
  struct BarrierQueue {
    struct Waiter {
      var count: Int
      var deadline: RemoteInstant
      var then: @Sendable (Result<Int, RemoteError>) -> Void
    }

    private var waiting: [Waiter] = []
    private var asking: [Waiter] = []

    mutating func add(_ waiter: Waiter) { waiting.append(waiter) }

    /// Those whose question is to be sent next; nil while another is under way, or if nobody waits.
    mutating func next() -> [Waiter]? {
      guard asking.isEmpty, !waiting.isEmpty else { return nil }
      asking = waiting.sorted { $0.count < $1.count }
      waiting = []
      return asking
    }

    /// What was asked for is answered.
    mutating func answered() -> [Waiter] {
      defer { asking = [] }
      return asking
    }

    /// Gives those whose deadline has passed, which wait no more.
    mutating func expire(_ now: RemoteInstant) -> [Waiter] {
      guard waiting.contains(where: { $0.deadline <= now }) else { return [] }
      defer { waiting.removeAll { $0.deadline <= now } }
      return waiting.filter { $0.deadline <= now }
    }

    /// Gives all, which wait no more.
    mutating func removeAll() -> [Waiter] {
      defer { (waiting, asking) = ([], []) }
      return asking + waiting
    }
  }
#endif
