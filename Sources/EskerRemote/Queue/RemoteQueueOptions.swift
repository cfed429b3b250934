public import EskerLog

/// How writes are queued: within which limits, and where.
public struct RemoteQueueOptions: Sendable {
  /// What is taken to be at the owner where neither memory nor the log says anything of a key.
  public enum Unknown: Hashable, Sendable {
    /// Nothing: a new key arrives. If there was a value all the same and it is removed meanwhile, the write brings the key back.
    case absent
    /// Something: a write loses where there is nothing when it is replayed, so nothing comes back that was removed, and new keys
    /// arrive only if their absence was known.
    case something
  }

  /// The log that the queue is kept in; nil for that of the storage. One with a capacity is refused: it evicts.
  public var log: LogStore?
  /// The most bytes of keys and values that may wait; a write that does not fit fails with ``RemoteQueueFull``.
  public var byteLimit = 64 << 20
  /// The most keys that may have a write that waits, some 400 bytes of memory each.
  public var countLimit = 100_000
  /// How long a write may wait. What is older is given up, and told as ``RemoteLoss/tooOld``.
  public var ageLimit = Duration.seconds(86_400)
  /// How many keys are replayed at the same time.
  public var concurrency = 16
  /// The longest pause after failures: it doubles from 20 ms up to this, and a random part of it is waited.
  public var greatestPause = Duration.seconds(5)
  /// What is taken to be there where nothing is known.
  public var unknown = Unknown.absent

  /// 64 MiB, 100,000 keys and a day, in the log of the storage.
  public init(log: LogStore? = nil) { self.log = log }
}

/// Why a write was not queued: nothing has happened.
public struct RemoteQueueFull: Error, Hashable, Sendable {
  /// How many keys wait.
  public var count: Int
  /// How many bytes of keys and values wait.
  public var bytes: Int
  /// How many would have to be taken for this write.
  public var needed: Int

  init(count: Int, bytes: Int, needed: Int) {
    self.count = count
    self.bytes = bytes
    self.needed = needed
  }
}

extension RemoteQueueFull: CustomStringConvertible {
  /// What is full, and what can be done.
  public var description: String {
    "the queue of writes is full: \(count) keys with \(bytes) bytes wait for the remote store, and \(needed) bytes more do not fit; "
      + "write again once it can be reached (`queueDrained()` waits for that), or raise `byteLimit` or `countLimit` of `RemoteQueueOptions`"
  }
}

/// What became of a queued write that did not arrive, or has not yet.
public enum RemoteLoss: Hashable, Sendable {
  /// What is at the owner counts as newer, and was left.
  case superseded(by: RemoteFound)
  /// It waited for longer than ``RemoteQueueOptions/ageLimit`` and was given up.
  case tooOld
  /// The owner refuses it. It stays queued and is tried again, more and more seldom, until it is too old; told once.
  case refused(RemoteError)
  /// Its record in the log cannot be read; it was left there and is not replayed.
  case unreadable
}

/// What waits in a queue of writes, and what became of the others since the process began.
public struct RemoteQueueStatistics: Hashable, Sendable {
  /// Keys with a write that waits.
  public var count = 0
  /// Their bytes, with those of the keys.
  public var bytes = 0
  /// How long ago the oldest of them was acknowledged; nil if there is none.
  public var oldestAge: Duration?
  /// Writes that arrived, also those that had before a crash.
  public var applied: UInt64 = 0
  /// Writes that a later one of the same key has replaced before they were sent.
  public var replaced: UInt64 = 0
  /// Writes that lost to something newer at the owner.
  public var superseded: UInt64 = 0
  /// Writes that were given up: too old, or with a record that cannot be read.
  public var failed: UInt64 = 0
  /// Attempts that failed and are repeated.
  public var retries: UInt64 = 0

  /// None.
  public init() {}
}
