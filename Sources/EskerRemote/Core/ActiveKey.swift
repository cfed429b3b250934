internal import Esker

/// A key that is being read from the remote store or written to it, and what was reported of it meanwhile.
struct ActiveKey {
  let key: RemoteKey
  var flights: [Flight] = []
  /// The write that is under way; the key is busy then.
  var write: PendingWrite?
  /// Writes that wait for it, in order.
  var waiting = FIFOQueue<PendingWrite>()
  /// Where the writes that have waited are in being sent.
  var succession = Succession.idle
  /// The last change that was reported.
  var lastChange = RemoteStamp(generation: 0, index: 0)

  init(_ key: RemoteKey) { self.key = key }

  var isIdle: Bool { flights.isEmpty && write == nil && waiting.isEmpty && succession == .idle }

  /// Whether a change was told that may be newer than a message.
  func wasChanged(since stamp: RemoteStamp) -> Bool {
    lastChange.generation == stamp.generation && lastChange.index >= stamp.index
  }

  /// One function sends the writes that have waited, one after the other. A store may answer before a request has returned: if each
  /// answer sent the next write, the stack would grow with each.
  enum Succession {
    /// Nobody sends.
    case idle
    /// A write is being sent.
    case sending
    /// That one has ended already, and `write` is the next.
    case due
  }

  /// The write is over. Gives the one that its caller has to send, if it is not left to whoever sends already.
  mutating func succeed() -> PendingWrite? {
    write = waiting.popFirst()
    guard write != nil else { return nil }
    defer { succession = succession == .idle ? .sending : .due }
    return succession == .idle ? write : nil
  }

  /// What whoever has sent a write has to send next.
  mutating func nextToSend() -> PendingWrite? {
    defer { succession = succession == .due ? .sending : .idle }
    return succession == .due ? write : nil
  }

  /// One read of the key, for all tasks that joined it.
  struct Flight {
    let id: UInt64
    /// Which of the views reads.
    let view: UInt64
    /// The generation of the domain when it began.
    let generation: UInt32
    /// What tasks share.
    let shared: any FlightObject
    /// Whether a read that begins now may have its result: nothing was reported or written since it began.
    var isJoinable = true
    /// Whether what it reads may be kept.
    var mayKeep: Bool
    /// Whether a write of our own was under way: what it reads may be older than that.
    var isOvertaken: Bool
    /// The reply, once it is there.
    var reply: RemoteStamp?
  }

  /// Called when a write of our own begins, and when it ends: what is being read may be older.
  mutating func detachFlights() {
    for index in flights.indices {
      flights[index].isJoinable = false
      flights[index].mayKeep = false
      flights[index].isOvertaken = true
    }
  }

  /// Called when a change was reported: what was read before may be older, what will be answered is not.
  mutating func noteChange(at stamp: RemoteStamp, keepingReplies: Bool) {
    if lastChange.generation != stamp.generation || lastChange < stamp { lastChange = stamp }
    for index in flights.indices {
      flights[index].isJoinable = false
      if !keepingReplies, let reply = flights[index].reply, reply.generation != stamp.generation || reply < stamp {
        flights[index].mayKeep = false
      }
    }
  }
}

/// What the tasks of one read share; the core only hands it to those who join.
protocol FlightObject: AnyObject, Sendable {}

extension FlightPromise: FlightObject {}

/// What is to be written.
enum RemoteAction: Sendable {
  case set(RemoteValue, RemoteCondition)
  case remove(RemoteCondition)
  case touch(RemoteEnvelope, RemoteCondition)
  case apply(RemoteIntent)
}

/// What a write came to: that of a replay is told as what it corresponds to.
enum WriteOutcome: Sendable {
  case written(RemoteWritten)
  case applied(RemoteApplied)

  /// Whether the write took effect on this request, so that what is there is what it wrote.
  var isDone: Bool {
    switch self {
    case .written(.done), .applied(.applied): true
    case .written(.refused), .applied: false
    }
  }

  /// Whether the change may be told to the connection that wrote.
  var isEchoed: Bool {
    if case .written(.done(let isEchoed, _)) = self { return isEchoed }
    return true
  }
}

/// A write of our own on its way.
struct PendingWrite: Sendable {
  let id: RemoteWriteID
  let action: RemoteAction
  let deadline: RemoteInstant
  /// Keeps what was written, as current in a generation, or in 0 if it may not be any more; called under the lock of the core.
  let keep: (@Sendable (UInt32) -> Void)?
  /// Called once, without a lock.
  let completion: @Sendable (Result<WriteOutcome, RemoteError>) -> Void
}
