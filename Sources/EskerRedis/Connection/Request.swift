#if Redis
  internal import EskerRemote

  /// What came of a request.
  struct Answer: Sendable {
    var result: Result<RESPValue, RemoteError>
    var stamp = RemoteStamp(generation: 0, index: 0)
    var isKeepable = false
    /// Whether the server will tell this connection of the write, too.
    var isEchoed = false
  }

  /// What requests need when they are answered: who sends them.
  protocol RequestHost: AnyObject {
    var sink: (any RemoteSink)? { get }
    /// What stands before keys.
    var prefix: [UInt8] { get }
    func submit(_ request: Request)
  }

  /// A request of the seam on its way, in one object with its key and its caller. Subclasses read the answer.
  ///
  /// Safety: made by its caller, handed to the client's loop through the inbox, and from then on touched by that loop alone.
  class Request: @unchecked Sendable {
    enum Kind: Sendable {
      case read
      /// Whoever is there may answer, without a lease.
      case readAnywhere
      case write
    }

    enum State {
      case waiting
      case sent
      /// Its caller has been answered, and the reply is still to come.
      case abandoned
      case done
    }

    let command: Command
    let key: RemoteKey
    let kind: Kind
    let deadline: RemoteInstant
    /// About how many bytes it takes where it waits.
    let size: Int
    /// Goes by the connection for big values.
    final var isBulk = false

    final private(set) var state = State.waiting
    /// The slot's when it was sent last.
    final var generation: UInt32 = 0
    final var redirects = 0
    final var attempts = 0
    /// Not sent again before.
    final var notBefore = RemoteInstant(nanoseconds: 0)
    /// Why it was not executed, the last time.
    final var failure: String?
    /// Whether it counts among those that wait.
    final var isCounted = true
    /// Whether the text of its script is sent with it, since the server does not have that.
    final var sendsWhole = false
    /// The node that is asked although the slot is not yet its own.
    final var asked: Int?

    init(_ command: Command, _ key: RemoteKey, _ kind: Kind, by deadline: RemoteInstant) {
      self.command = command
      self.key = key
      self.kind = kind
      self.deadline = deadline
      size = command.size(key)
    }

    /// Tells the caller.
    func answer(_ answer: Answer, from host: any RequestHost) {}

    /// Tells the sink what became of a write whose caller was told that the outcome is unknown; nil: nobody will know.
    func settle(_ answer: Answer?, from host: any RequestHost) {}

    final var slot: UInt16 { key.domain }

    /// Its value may be so big that it had better come by the connection for those.
    final var readsValue: Bool {
      guard kind == .read else { return false }
      if case .head = command { return false }
      return true
    }

    final func encode(behind prefix: [UInt8], to output: inout RESPOutput) {
      command.encode(key, behind: prefix, isWhole: sendsWhole, to: &output)
    }

    final func wasSent() { state = .sent }

    /// It was not executed, and waits to be sent again.
    final func waitAgain() { state = .waiting }

    /// Gives the caller its answer. A second one settles a write whose outcome was unknown.
    final func finish(_ answer: Answer, from host: any RequestHost) {
      switch state {
      case .waiting, .sent:
        state = .done
        self.answer(answer, from: host)
      case .abandoned:
        state = .done
        settle(answer, from: host)
      case .done: break
      }
    }

    final func fail(_ error: RemoteError, from host: any RequestHost) {
      finish(Answer(result: .failure(error)), from: host)
    }

    /// Answers the caller now, while the reply is still to come.
    final func abandon(from host: any RequestHost) {
      guard state == .sent else { return }
      state = .abandoned
      answer(Answer(result: .failure(kind == .write ? .unknownOutcome : .timedOut)), from: host)
    }

    /// The reply will never come; the caller has been answered by ``abandon(from:)``.
    final func lose(from host: any RequestHost) {
      guard state == .abandoned else { return }
      state = .done
      settle(nil, from: host)
    }
  }
#endif
