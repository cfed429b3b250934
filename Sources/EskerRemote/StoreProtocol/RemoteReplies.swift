/// The place of a message among all of its domain: the generation, and the index of the message on the connection that serves it.
public struct RemoteStamp: Comparable, Hashable, Sendable {
  /// The generation of the domain when the request was sent, or, of a change, when it arrived. 0 is none.
  public var generation: UInt32
  /// Grows with each message of the connection.
  public var index: UInt64

  /// A stamp from its parts.
  public init(generation: UInt32, index: UInt64) {
    self.generation = generation
    self.index = index
  }

  /// Whether the first arrived earlier. Says something only of two stamps of one domain and generation.
  public static func < (left: RemoteStamp, right: RemoteStamp) -> Bool {
    (left.generation, left.index) < (right.generation, right.index)
  }
}

/// A reply and its place in the order of messages.
public struct Stamped<Reply: Sendable>: Sendable {
  /// What was answered.
  public var reply: Reply
  /// Its place.
  public var stamp: RemoteStamp
  /// Whether changes after this reply are told on the same connection, so that it may be kept. Not if it came from a replica, by ASK, on
  /// a connection for big values, or while the lease of the domain was over.
  public var isKeepable: Bool
  /// Of a read of ``RemoteSource/any``: an instant at which, or after which, what was read was what the owner had; nil if that cannot be
  /// shown. Everything that the owner had answered before that instant is in it.
  public var currentAt: RemoteInstant?

  /// A reply from its parts.
  public init(_ reply: Reply, at stamp: RemoteStamp, isKeepable: Bool = true, currentAt: RemoteInstant? = nil) {
    self.reply = reply
    self.stamp = stamp
    self.isKeepable = isKeepable
    self.currentAt = currentAt
  }
}

/// What a reply is given to.
public typealias RemoteCompletion<Reply: Sendable> = @Sendable (Result<Stamped<Reply>, RemoteError>) -> Void

/// Whom a read may ask.
public enum RemoteSource: Sendable {
  /// The owner, under a lease.
  case owner
  /// Whoever is there: the owner if it has a lease, otherwise replicas too. Such a reply is never keepable, and as old as the replica is
  /// behind, which nothing bounds; ``Stamped/currentAt`` says what can be shown. That there is nothing is never shown: a replica does not
  /// know of keys that are moving.
  case any
}

/// What a check found.
public enum RemoteChecked: Hashable, Sendable {
  /// The value still has that version. No more than the envelope was moved.
  case same
  /// There is something else, or, with nil, nothing.
  case changed(RemoteValue?)
  /// What is there does not have that version; what it is has to be read.
  case different
}

/// What was found by a write on a condition.
public enum RemoteFound: Hashable, Sendable {
  /// Nothing.
  case absent
  /// A foreign value, without a version.
  case foreign
  /// A value of this version.
  case version(RemoteVersion)

  /// The version; nil where there is nothing, or something foreign.
  var version: RemoteVersion? {
    if case .version(let version) = self { return version }
    return nil
  }
}
