#if Redis
  internal import EskerRemote

  /// Those that wait until replicas have what was written.
  ///
  /// They are asked for in rounds: a write, and questions how many replicas have it. Each question waits for the least that somebody
  /// wants, until the first deadline, and its answer is one to all whom it suffices or who cannot wait longer. Who comes meanwhile is in
  /// the next round, since the write of this one may be ahead of theirs.
  struct BarrierQueue {
    struct Waiter {
      var count: Int
      var deadline: RemoteInstant
      var then: @Sendable (Result<Int, RemoteError>) -> Void
    }

    /// What the server is to be asked next.
    struct Question: Equatable {
      /// Whether a write comes first.
      var beginsRound: Bool
      var count: Int
      /// How long the server may look for an answer.
      var milliseconds: Int
    }

    /// After this time a round ends if others wait for the next one.
    private static let usualRound = Duration.seconds(1)
    private static let longestRound = Duration.seconds(8)
    /// How long after a deadline the server's answer to it is still waited for.
    private static let grace = Duration.milliseconds(100)

    private var waiting: [Waiter] = []
    private var asking: [Waiter] = []
    private var roundBegan = RemoteInstant(nanoseconds: 0)
    /// Doubled after a round in which nobody got what they wanted: with replicas that are always that far behind, nobody ever would.
    private var round = usualRound
    private var hasSufficed = false
    private var asked: Question?

    /// How long the server may be silent because of the question that is under way.
    var patience: Duration { .milliseconds(asked?.milliseconds ?? 0) }

    mutating func add(_ waiter: Waiter) { waiting.append(waiter) }

    /// What is to be asked next; nil while a question is under way, or if nobody waits.
    mutating func next(_ now: RemoteInstant) -> Question? {
      guard asked == nil else { return nil }
      let isOver = asking.isEmpty || now >= roundBegan.advanced(by: round)
      let beginsRound = isOver && !waiting.isEmpty
      if beginsRound {
        round = asking.isEmpty || hasSufficed ? Self.usualRound : min(round * 2, Self.longestRound)
        hasSufficed = false
        asking += waiting
        waiting = []
        roundBegan = now
      }
      guard let least = asking.map(\.count).min(), let first = asking.map(\.deadline).min() else { return nil }
      let end = min(first, now.advanced(by: round))
      let left = end > now ? (end.nanoseconds - now.nanoseconds) / 1_000_000 : 0
      asked = Question(beginsRound: beginsRound, count: max(0, least), milliseconds: Int(left) + 1)
      return asked
    }

    /// So many replicas have it. Gives those to whom that is an answer, who wait no more.
    mutating func answered(_ count: Int, _ now: RemoteInstant) -> [Waiter] {
      asked = nil
      hasSufficed = hasSufficed || asking.contains { $0.count <= count }
      return take { $0.count <= count || $0.deadline <= now }
    }

    /// The round has failed. Gives those that were in it, who wait no more.
    mutating func failed() -> [Waiter] {
      asked = nil
      return take { _ in true }
    }

    private mutating func take(_ isTaken: (Waiter) -> Bool) -> [Waiter] {
      defer { asking.removeAll(where: isTaken) }
      return asking.filter(isTaken)
    }

    /// Gives those whose deadline has passed without an answer, who wait no more.
    mutating func expire(_ now: RemoteInstant) -> [Waiter] {
      let late = waiting.filter { $0.deadline <= now }
      if !late.isEmpty { waiting.removeAll { $0.deadline <= now } }
      return late + take { now >= $0.deadline.advanced(by: Self.grace) }
    }

    /// Gives all, who wait no more.
    mutating func removeAll() -> [Waiter] {
      defer { self = BarrierQueue() }
      return asking + waiting
    }
  }
#endif
