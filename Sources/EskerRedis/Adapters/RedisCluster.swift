#if Redis
  /// A cluster of Redis 7.0 or Valkey 7.2 servers, or later ones. Domains are its slots.
  ///
  /// Safety: adds nothing to what it inherits.
  public final class RedisCluster: RedisStore, @unchecked Sendable {
    /// A client of the cluster that the addresses are nodes of. Connects when it is started.
    ///
    /// - Throws: ``RedisConfigurationError`` for a setting with which no client can work; what NIOSSL throws if the configuration of TLS is
    ///   not valid.
    public init(_ configuration: RedisConfiguration) throws { try super.init(.cluster, configuration) }
  }

  /// A single Redis 7.0 or Valkey 7.2 server, or a later one, that is not in cluster mode. It has one domain.
  ///
  /// Safety: adds nothing to what it inherits.
  public final class RedisServer: RedisStore, @unchecked Sendable {
    /// A client of the server at the first address. Connects when it is started.
    ///
    /// - Throws: ``RedisConfigurationError`` for a setting with which no client can work; what NIOSSL throws if the configuration of TLS is
    ///   not valid.
    public init(_ configuration: RedisConfiguration) throws { try super.init(.server, configuration) }
  }
#endif
