#if Redis
  internal import EskerRemote

  /// What a write is answered with.
  protocol WriteReply: Sendable {
    /// As the sink is told it.
    func outcome(at stamp: RemoteStamp) -> RemoteOutcome
  }

  extension RemoteWritten: WriteReply {
    func outcome(at stamp: RemoteStamp) -> RemoteOutcome { .answered(self, at: stamp) }
  }

  extension RemoteApplied: WriteReply {
    func outcome(at stamp: RemoteStamp) -> RemoteOutcome { .applied(self, at: stamp) }
  }

  /// A write, or the replay of one. If its caller is told that the outcome is unknown, the sink is told later what it was.
  ///
  /// Safety: what it adds to a request is constant.
  final class WriteRequest<Reply: WriteReply>: Request, @unchecked Sendable {
    /// Reads the reply; nil if it is none of this kind.
    typealias Reader = @Sendable (RESPValue, _ isEchoed: Bool) -> Reply?

    private let write: RemoteWriteID
    private let read: Reader
    private let completion: RemoteCompletion<Reply>

    init(
      _ command: Command,
      _ key: RemoteKey,
      as write: RemoteWriteID,
      by deadline: RemoteInstant,
      read: @escaping Reader,
      then completion: @escaping RemoteCompletion<Reply>
    ) {
      self.write = write
      self.read = read
      self.completion = completion
      super.init(command, key, .write, by: deadline)
    }

    override func answer(_ answer: Answer, from host: any RequestHost) {
      completion(answer.map { read($0, answer.isEchoed) })
    }

    override func settle(_ answer: Answer?, from host: any RequestHost) {
      let settled: RemoteOutcome =
        switch answer?.result {
        case nil: .lost
        case .failure: .notExecuted
        case .success(let value)?: answer.flatMap { read(value, $0.isEchoed)?.outcome(at: $0.stamp) } ?? .lost
        }
      host.sink?.settled(write, settled)
    }
  }
#endif
