/// Identifies a write within the process.
public struct RemoteWriteID: Hashable, Sendable {
  /// Its number, never used twice with one store.
  public let number: UInt64

  /// A write's number.
  public init(_ number: UInt64) { self.number = number }
}

/// On what condition a write takes effect. Checking and writing are one atomic step of the server.
public enum RemoteCondition: Hashable, Sendable {
  /// Unconditionally.
  case always
  /// There is nothing, not even a foreign value.
  case absent
  /// There is something.
  case present
  /// There is a value of this version.
  case version(RemoteVersion)
}

/// What a write did.
public enum RemoteWritten: Hashable, Sendable {
  /// The condition held, and the write took effect.
  ///
  /// `isEchoed` says that ``RemoteSink/changed(_:domain:at:)`` may also be called for this very write, as it is after a script. What was
  /// written cannot be kept then. `wasThere`: whether there was a value before, of a removal; nil if the server did not say.
  case done(isEchoed: Bool, wasThere: Bool?)
  /// The condition did not hold, and nothing was changed.
  case refused(RemoteFound)
}

/// A write that was acknowledged while the remote store could not be reached, to be replayed.
public struct RemoteIntent: Hashable, Sendable {
  /// What is written, an envelope with the intent's own version; nil: the key is removed.
  public var value: RemoteValue?
  /// The version that was given when the write was acknowledged, also to a removal.
  public var version: RemoteVersion
  /// What the writer believed to be there; nil if it did not know.
  public var base: RemoteFound?

  /// An intent from its parts.
  public init(_ value: RemoteValue?, version: RemoteVersion, base: RemoteFound?) {
    self.value = value
    self.version = version
    self.base = base
  }
}

/// What the replay of an intent came to.
public enum RemoteApplied: Hashable, Sendable {
  /// It was applied now; as ``RemoteWritten/done(isEchoed:wasThere:)``, an echo may follow.
  case applied
  /// It had been applied before: what is there has its version, or, for a removal, there is nothing.
  case already
  /// What is there counts as newer and was left.
  case superseded(by: RemoteFound)
}

/// What became of a write whose caller was told ``RemoteError/unknownOutcome``.
public enum RemoteOutcome: Hashable, Sendable {
  /// The reply came after all.
  case answered(RemoteWritten, at: RemoteStamp)
  /// The reply of a replay came after all.
  case applied(RemoteApplied, at: RemoteStamp)
  /// It was not executed and never will be.
  case notExecuted
  /// Nobody will know. It may still be executed, but not after any request of a later generation of its domain.
  case lost
}
