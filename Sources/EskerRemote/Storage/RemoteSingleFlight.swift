internal import EskerPlatform

/// How processes agree on which of them produces a value: by a lock, a key of its own in the remote store that runs out by itself.
///
/// The lock spares work and promises nothing: who cannot have it and cannot wait produces too, and what is stored is decided by
/// conditions, as without it. <doc:SingleFlight> says more.
public struct RemoteSingleFlight: Hashable, Sendable {
  /// How long a lock outlives the last sign of life of the process that has it, and so what it costs those who wait when that process
  /// dies. While a producer runs, its lock is renewed each half of this. At least 10 ms.
  public var lockLifetime = Duration.seconds(10)

  /// For how long the lock of one producer is renewed. When it has run out after that, the next process that waits produces too, so that a
  /// producer that hangs does not hold up all processes. What the first one makes is still stored if it comes first.
  public var producerLimit = Duration.seconds(60)

  /// For how long an answer about the lock is waited for, before the value is produced without one; at most the storage's
  /// ``RemoteOptions/hardTimeout``. A second is more than reconnecting or the move of a domain takes.
  public var lockTimeout = Duration.seconds(1)

  /// Locks that live 10 seconds, for producers that take a minute at most.
  public init() {}

  /// How long a lock lives, within what makes sense.
  var lifetime: Duration { max(lockLifetime, .milliseconds(10)).bounded }
}
