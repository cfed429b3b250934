#if Redis
  internal import EskerRemote

  /// Reads a value. One without an envelope takes a second request, for its expiry. Subclasses know who asked.
  ///
  /// Safety: what it adds to a request is constant.
  class GetRequest: Request, @unchecked Sendable {
    init(_ key: RemoteKey, by deadline: RemoteInstant) { super.init(.get, key, .read, by: deadline) }

    func deliver(_ result: Result<Stamped<RemoteValue?>, RemoteError>) {}

    final override func answer(_ answer: Answer, from host: any RequestHost) {
      guard case .success(.bytes(let bytes)) = answer.result else {
        // Within the other nil, which says that the reply was none of this kind.
        return deliver(answer.map { $0.isNull ? .some(nil) : nil })
      }
      let value = RemoteValue(stored: bytes)
      guard value.envelope != nil else { return readForeign(for: host) }
      deliver(.success(Stamped(value, at: answer.stamp, isKeepable: answer.isKeepable)))
    }

    private func readForeign(for host: any RequestHost) {
      var command = RESPCommand(.readForeign, arguments: 0)
      command.add(host.prefix, key.bytes)
      host.submit(
        Question(.made(command), key, kind, by: deadline) { [self] answer in
          deliver(answer.map { RedisStore.found($0, count: 2) })
        }
      )
    }
  }

  /// Of one who gave a completion.
  ///
  /// Safety: what it adds to a request is constant.
  final class CompletedGet: GetRequest, @unchecked Sendable {
    private let completion: RemoteCompletion<RemoteValue?>

    init(
      _ key: RemoteKey,
      by deadline: RemoteInstant,
      then completion: @escaping RemoteCompletion<RemoteValue?>
    ) {
      self.completion = completion
      super.init(key, by: deadline)
    }

    override func deliver(_ result: Result<Stamped<RemoteValue?>, RemoteError>) { completion(result) }
  }

  /// One of several.
  ///
  /// Safety: what it adds to a request is constant.
  final class GetOfSeveral: GetRequest, @unchecked Sendable {
    private let index: Int
    private let each: @Sendable (Int, Result<Stamped<RemoteValue?>, RemoteError>) -> Void

    init(
      _ key: RemoteKey,
      _ index: Int,
      by deadline: RemoteInstant,
      _ each: @escaping @Sendable (Int, Result<Stamped<RemoteValue?>, RemoteError>) -> Void
    ) {
      self.index = index
      self.each = each
      super.init(key, by: deadline)
    }

    override func deliver(_ result: Result<Stamped<RemoteValue?>, RemoteError>) { each(index, result) }
  }

  /// Any other read.
  ///
  /// Safety: what it adds to a request is constant.
  final class Question: Request, @unchecked Sendable {
    private let told: @Sendable (Answer) -> Void

    init(
      _ command: Command,
      _ key: RemoteKey,
      _ kind: Kind = .read,
      by deadline: RemoteInstant,
      then told: @escaping @Sendable (Answer) -> Void
    ) {
      self.told = told
      super.init(command, key, kind, by: deadline)
    }

    override func answer(_ answer: Answer, from host: any RequestHost) { told(answer) }
  }

  extension Answer {
    /// For the caller.
    func map<Reply>(_ body: (RESPValue) -> Reply?) -> Result<Stamped<Reply>, RemoteError> {
      switch result {
      case .failure(let error): return .failure(error)
      case .success(let value):
        guard let reply = body(value) else { return .failure(.refused(code: "REPLY", message: "an unexpected reply")) }
        return .success(Stamped(reply, at: stamp, isKeepable: isKeepable))
      }
    }
  }
#endif
