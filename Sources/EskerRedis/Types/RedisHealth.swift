#if Redis
  public import EskerRemote

  /// Whether a store can do its work.
  public struct RedisHealth: Hashable, Sendable {
    /// What can be asked and written.
    public enum Status: String, Hashable, Sendable {
      /// All domains are served, and changes of them are reported.
      case available
      /// Some are.
      case degraded
      /// None is: the store was not started, cannot reach its servers, or was stopped.
      case unavailable
    }

    /// What can be asked and written.
    public var status: Status
    /// Since when the status is what it is.
    public var since: ContinuousClock.Instant
    /// How many servers there are to be connected to: the primaries, or those that were given as long as these are not known.
    public var servers: Int
    /// How many of them there is a connection to.
    public var connected: Int
    /// How many of them have given a lease that is not over.
    public var leased: Int
    /// Why a server does not take the store, such as for a wrong password; nil if all that could be reached take it.
    public var refusal: RemoteError?
  }
#endif
