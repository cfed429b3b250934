#if Redis
  internal import EskerRemote

  /// What the client knows of one server.
  ///
  /// Safety: used by the client's loop alone.
  final class Node: @unchecked Sendable {
    let address: RedisAddress
    /// Its place among the client's nodes.
    let index: Int
    /// Its name in the cluster.
    var id: String?
    /// Whether connections to it are wanted: it is a primary, or a seed while nothing else is known.
    var isWanted = false
    /// Whether it was reached and did not take us: another password, version or kind of server.
    var isRefusing = false
    var lanes: [Connection.Role: Connection] = [:] { didSet { main = lanes[.main] } }
    /// The connection for requests and changes. Kept beside the others, since each request looks for it.
    private(set) var main: Connection?

    /// The configuration epoch, or of a single server its run, that was confirmed.
    var epoch: UInt64?
    var run: String?
    /// When the majority confirmed that it is what it was held to be; nil: it has to be asked.
    var confirmedAt: RemoteInstant?
    /// When the main connection's handshake ended.
    var readyAt = RemoteInstant.distantFuture
    var leaseUntil = RemoteInstant(nanoseconds: 0)
    /// Slots by which its lease is told.
    var slots: [Range<Int>] = []
    /// What is read to see whether it serves its slots.
    var heartbeatKey: String?

    var heartbeats = 0
    var nextHeartbeat = RemoteInstant(nanoseconds: 0)
    /// The write behind which the main connection stood still when a spare one began to connect.
    var heldWrite: Request?
    /// When the next try may be made.
    var nextSpare = RemoteInstant(nanoseconds: 0)
    var breaker = CircuitBreaker()
    /// Connections of which it is not known that the server has ended them.
    var past: [(id: UInt64, address: String)] = []
    var time: ServerTime?
    var replicas: [RedisAddress] = []
    /// Where it was at its last heartbeat that led to a lease.
    var witnessed: WitnessedPlace?
    var barrier = BarrierQueue()
    var counters = RedisNodeStatistics.Counters()
    /// Of the last heartbeat.
    var roundTripNanoseconds: UInt64?
    var suspendedSince: RemoteInstant?

    init(_ address: RedisAddress, index: Int) {
      self.address = address
      self.index = index
    }

    /// The main connection, if its handshake is done.
    var ready: Connection? { main.flatMap { $0.isReady ? $0 : nil } }

    var isConfirmed: Bool { confirmedAt != nil }
  }

  /// Keeps from trying a server again and again that cannot be reached: five failures open it, then one try at a time is made.
  struct CircuitBreaker {
    static let mostFailures = 5

    private(set) var failures = 0
    /// When the next try may be made.
    private(set) var nextTry = RemoteInstant(nanoseconds: 0)

    var isOpen: Bool { failures >= Self.mostFailures }

    mutating func fail(_ now: RemoteInstant, _ random: inout some RandomNumberGenerator) {
      failures += 1
      nextTry = now.advanced(by: Backoff.delay(failures, &random))
    }

    mutating func succeed() { self = CircuitBreaker() }
  }

  /// 10 ms, doubled each time, at most a second; a random part of it, so that clients do not come together.
  enum Backoff {
    static func delay(_ attempt: Int, _ random: inout some RandomNumberGenerator) -> Duration {
      let most = min(1_000_000, 10_000 << min(max(attempt - 1, 0), 7))
      return .microseconds(Int.random(in: 1...most, using: &random))
    }
  }
#endif
