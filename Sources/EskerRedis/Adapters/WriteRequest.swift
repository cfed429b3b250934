#if Redis
  internal import EskerRemote

  /// A write. If its caller is told that the outcome is unknown, the sink is told later what it was. Subclasses know who asked.
  ///
  /// Safety: what it adds to a request is constant.
  class WriteRequest: Request, @unchecked Sendable {
    /// Reads the reply; nil if it is none of this kind.
    typealias Reader = @Sendable (RESPValue, _ isEchoed: Bool) -> RemoteWritten?

    private let write: RemoteWriteID
    private let read: Reader

    init(
      _ command: Command,
      _ key: RemoteKey,
      as write: RemoteWriteID,
      by deadline: RemoteInstant,
      read: @escaping Reader
    ) {
      self.write = write
      self.read = read
      super.init(command, key, .write, by: deadline)
    }

    func tell(_ result: Result<Stamped<RemoteWritten>, RemoteError>) {}

    final override func answer(_ answer: Answer, from host: any RequestHost) {
      tell(answer.map { read($0, answer.isEchoed) })
    }

    final override func settle(_ answer: Answer?, from host: any RequestHost) {
      host.settle(write, answer) { reply, answer in
        read(reply, answer.isEchoed).map { .answered($0, at: answer.stamp) }
      }
    }
  }

  /// Of one who gave a completion.
  ///
  /// Safety: what it adds to a request is constant.
  final class CompletedWrite: WriteRequest, @unchecked Sendable {
    private let completion: RemoteCompletion<RemoteWritten>

    init(
      _ command: Command,
      _ key: RemoteKey,
      as write: RemoteWriteID,
      by deadline: RemoteInstant,
      read: @escaping Reader,
      then completion: @escaping RemoteCompletion<RemoteWritten>
    ) {
      self.completion = completion
      super.init(command, key, as: write, by: deadline, read: read)
    }

    override func tell(_ result: Result<Stamped<RemoteWritten>, RemoteError>) { completion(result) }
  }

  /// The replay of a write.
  ///
  /// Safety: what it adds to a request is constant.
  final class ApplyRequest: Request, @unchecked Sendable {
    private let write: RemoteWriteID
    private let completion: RemoteCompletion<RemoteApplied>

    init(
      _ command: RESPCommand,
      _ key: RemoteKey,
      as write: RemoteWriteID,
      by deadline: RemoteInstant,
      then completion: @escaping RemoteCompletion<RemoteApplied>
    ) {
      self.write = write
      self.completion = completion
      super.init(.made(command), key, .write, by: deadline)
    }

    override func answer(_ answer: Answer, from host: any RequestHost) { completion(answer.map(Self.read)) }

    override func settle(_ answer: Answer?, from host: any RequestHost) {
      host.settle(write, answer) { reply, answer in Self.read(reply).map { .applied($0, at: answer.stamp) } }
    }

    private static func read(_ reply: RESPValue) -> RemoteApplied? {
      guard let (code, found) = RedisStore.scripted(reply) else { return nil }
      return code == 1 ? .applied : code == 2 ? .already : .superseded(by: found)
    }
  }

  extension RequestHost {
    /// Tells the sink.
    fileprivate func settle(
      _ write: RemoteWriteID,
      _ answer: Answer?,
      _ outcome: (RESPValue, Answer) -> RemoteOutcome?
    ) {
      let settled: RemoteOutcome =
        switch answer?.result {
        case nil: .lost
        case .failure: .notExecuted
        case .success(let value)?: answer.flatMap { outcome(value, $0) } ?? .lost
        }
      sink?.settled(write, settled)
    }
  }
#endif
