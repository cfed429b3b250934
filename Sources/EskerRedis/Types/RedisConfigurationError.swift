#if Redis
  /// A setting of ``RedisConfiguration`` with which no client can work.
  public struct RedisConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The setting, such as `heartbeat`.
    public var setting: String
    /// What it is, and what it has to be.
    public var reason: String

    /// As a sentence.
    public var description: String { "RedisConfiguration.\(setting) is \(reason)" }
  }

  extension RedisConfiguration {
    /// Intervals may not be longer: nobody would notice anything in time.
    private static let longest = Duration.seconds(3_600)
    private static let shortest = Duration.milliseconds(1)

    /// Throws of the first setting that is not valid.
    func check() throws(RedisConfigurationError) {
      func fail(_ setting: String, _ reason: String) throws(RedisConfigurationError) -> Never {
        throw RedisConfigurationError(setting: setting, reason: reason)
      }
      if addresses.isEmpty { try fail("addresses", "empty; give one at least") }
      for address in addresses where !(1...65_535).contains(address.port) {
        try fail("addresses", "not valid: \(address.port) is no port, which are 1 to 65535")
      }
      let intervals = [
        ("lease", lease), ("heartbeat", heartbeat), ("silence", silence), ("connectTimeout", connectTimeout),
      ]
      for (name, value) in intervals where value < Self.shortest || value > Self.longest {
        try fail(name, "\(value); it has to be from \(Self.shortest) to \(Self.longest)")
      }
      if heartbeat >= lease {
        try fail("heartbeat", "\(heartbeat); it has to be shorter than the lease, which is \(lease)")
      }
      for (name, value) in [("startTimeout", startTimeout), ("drainTimeout", drainTimeout)] where value < .zero {
        try fail(name, "\(value); it must not be negative")
      }
      if replyLimit < 1 { try fail("replyLimit", "\(replyLimit); it has to be positive") }
      if bulkThreshold < 0 { try fail("bulkThreshold", "\(bulkThreshold); it must not be negative") }
      if user != nil, password == nil, credentials == nil {
        try fail("user", "given without a password; give that too")
      }
    }
  }
#endif
