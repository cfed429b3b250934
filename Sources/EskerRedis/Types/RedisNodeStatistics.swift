#if Redis
  /// The figures of one server, as the client sees it.
  public struct RedisNodeStatistics: Hashable, Sendable {
    /// What state a server is in.
    public enum State: String, Hashable, Sendable {
      /// There is no connection.
      case disconnected
      /// There is one, and no lease: the majority is asked.
      case suspended
      /// Its slots are served, and changes are reported.
      case leased
    }

    /// What is counted, since the client began.
    public struct Counters: Hashable, Sendable {
      /// Requests that were written.
      public var requests = 0
      /// Replies to requests.
      public var replies = 0
      /// Keys of which changes were reported.
      public var pushes = 0
      /// Times at which all slots of the server were raised, by reason.
      public var raised: [String: Int] = [:]
      /// Leases that ended, other than by a lost connection.
      public var suspensions = 0
      /// How long it was connected without a lease.
      public var suspended: Duration = .zero
      /// Replies that sent a request elsewhere.
      public var redirects = 0
      /// Replies over the limit.
      public var skipped = 0
      /// Connections that were made.
      public var connections = 0
    }

    /// Where it is, as `host:port`.
    public var address: String
    /// Its state.
    public var state: State
    /// How many domains it owns.
    public var domains: Int
    /// How long its lease goes on.
    public var leaseLeft: Duration
    /// Commands whose reply is awaited.
    public var inFlight: Int
    /// Requests that wait for those.
    public var queued: Int
    /// How long the last heartbeat took.
    public var roundTrip: Duration?
    /// What is counted.
    public var counters: Counters
  }
#endif
