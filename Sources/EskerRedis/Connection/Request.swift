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

  /// A request of the seam on its way.
  ///
  /// Safety: made by its caller, handed to the client's loop through the inbox, and from then on touched by that loop alone.
  final class Request: @unchecked Sendable {
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

    let command: RESPCommand
    let slot: UInt16
    let kind: Kind
    let deadline: RemoteInstant
    /// Goes by the connection for big values.
    var isBulk: Bool
    private let answer: @Sendable (Answer) -> Void
    private let settle: (@Sendable (Answer?) -> Void)?

    var state = State.waiting
    /// The slot's when it was sent last.
    var generation: UInt32 = 0
    var redirects = 0
    var attempts = 0
    /// Not sent again before.
    var notBefore = RemoteInstant(nanoseconds: 0)
    /// Why it was not executed, the last time.
    var failure: String?
    /// Whether it counts among those that wait.
    var isCounted = true
    /// Whether the text of its script is sent with it, since the server does not have that.
    var sendsWhole = false
    /// The node that is asked although the slot is not yet its own.
    var asked: Int?
    /// Tells keys apart whose values are big.
    var keyHash = 0

    init(
      _ command: RESPCommand,
      slot: UInt16,
      kind: Kind,
      deadline: RemoteInstant,
      isBulk: Bool = false,
      answer: @escaping @Sendable (Answer) -> Void,
      settle: (@Sendable (Answer?) -> Void)? = nil
    ) {
      self.command = command
      self.slot = slot
      self.kind = kind
      self.deadline = deadline
      self.isBulk = isBulk
      self.answer = answer
      self.settle = settle
    }

    var bytes: [UInt8] { sendsWhole ? command.whole : command.bytes }

    /// Gives the caller its answer. A second one settles a write whose outcome was unknown.
    func finish(_ answer: Answer) {
      switch state {
      case .waiting, .sent:
        state = .done
        self.answer(answer)
      case .abandoned:
        state = .done
        settle?(answer)
      case .done: break
      }
    }

    func fail(_ error: RemoteError) { finish(Answer(result: .failure(error))) }

    /// Answers the caller now, while the reply is still to come.
    func abandon() {
      guard state == .sent else { return }
      state = .abandoned
      answer(Answer(result: .failure(kind == .write ? .unknownOutcome : .timedOut)))
    }

    /// The reply will never come; the caller has been answered by ``abandon()``.
    func lose() {
      guard state == .abandoned else { return }
      state = .done
      settle?(nil)
    }
  }
#endif
