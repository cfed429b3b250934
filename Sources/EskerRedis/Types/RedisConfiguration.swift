#if Redis
  public import CoreMetrics
  public import Logging
  public import NIOCore
  public import NIOSSL
  public import Tracing

  /// How a client reaches its servers.
  public struct RedisConfiguration: Sendable {
    /// A server's address.
    public struct Address: Hashable, Sendable {
      /// A name, or an address of IPv4 or IPv6 without brackets.
      public var host: String
      /// The port of TCP.
      public var port: Int

      /// An address; 6379 is the usual port.
      public init(_ host: String, port: Int = 6379) {
        self.host = host
        self.port = port
      }
    }

    /// Who a client is to a server.
    public struct Credentials: Hashable, Sendable {
      /// The name of the user; nil for `default`.
      public var user: String?
      /// The password, or a token in its place.
      public var password: String

      /// A user and a password.
      public init(user: String? = nil, password: String) {
        self.user = user
        self.password = password
      }
    }

    /// Of a cluster, some of its nodes, one of which must be reachable at the start. Of a single server, that one.
    ///
    /// A node that does not take the client, since its password is another, its version too old or its kind the wrong one, is logged and
    /// tried again, as one that cannot be reached; the start goes on with the others. If it is one of the cluster's primaries, its slots
    /// have no lease until it does.
    public var addresses: [Address]
    /// The name of the user; nil for `default`.
    public var user: String?
    /// The password; nil if none is asked for.
    public var password: String?
    /// Gives user and password for each connection that is made, in place of ``user`` and ``password``: for those that change while the
    /// client lives, such as tokens. Connections that are there stay as they are.
    ///
    /// Called for every server and connection, so a service that is asked for them should be asked only when what it gave last is about
    /// to end. If it throws, or takes longer than ``silence``, the connection is tried again as one that cannot be made.
    public var credentials: (@Sendable () async throws -> Credentials)?
    /// TLS, with what it trusts and shows; nil for plain TCP.
    public var tls: TLSConfiguration?
    /// The name that certificates must be for; nil for the host's own name or address.
    public var tlsName: String?
    /// The longest time for which a lease is trusted, counted from the heartbeat before the one that gave it: a lease also ends after half
    /// of the cluster's node timeout. Servers whose answers take half as long get none. From a millisecond to an hour, as are the three
    /// that follow.
    public var lease: Duration = .milliseconds(1_500)
    /// The time between two heartbeats; shorter than the lease, of which a third is the most that counts.
    public var heartbeat: Duration = .milliseconds(500)
    /// After this time without any byte a connection is closed.
    public var silence: Duration = .seconds(3)
    /// How long a connection may take to be made.
    public var connectTimeout: Duration = .seconds(1)
    /// How long ``/EskerRemote/RemoteStore/start(prefix:sink:)`` tries. Not negative; as long as you like.
    public var startTimeout: Duration = .seconds(10)
    /// How long stopping waits for what is under way. Not negative; as long as you like.
    public var drainTimeout: Duration = .seconds(5)
    /// Replies over this are not kept: whoever asked gets ``/EskerRemote/RemoteError/tooLarge(size:limit:)``. Also the largest value.
    public var replyLimit = 16 << 20
    /// Values over this go by a connection of their own, so that changes are reported without delay.
    public var bulkThreshold = 256 << 10
    /// Where the client runs: on one loop of it. Nil for the one of the process.
    public var eventLoopGroup: (any EventLoopGroup)?
    /// What is noted: connections made and lost, raised generations, settings that are not wise.
    public var logger: Logger
    /// Receives the figures of each node, once a second; nil for none.
    public var metrics: (any MetricsFactory)?
    /// Receives a span for each request; nil for none.
    public var tracer: (any Tracer)?

    /// A configuration.
    public init(_ addresses: [Address], logger: Logger = Logger(label: "esker.redis")) {
      self.addresses = addresses
      self.logger = logger
    }
  }
#endif
