#if Redis
  internal import EskerRemote
  internal import Tracing

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

  extension RedisStore {
    static let get = RESPCommand("GET", words: 2)
    static let delete = RESPCommand("DEL", words: 2)
    private static let range = RESPCommand("GETRANGE", words: 4)

    func word(_ beginning: RESPCommand, _ key: RemoteKey) -> RESPCommand {
      let prefix = client.prefix
      var command = RESPCommand(beginning, room: prefix.count + key.bytes.count + 16)
      command.add(prefix, key.bytes)
      return command
    }

    /// Reads the envelope.
    func head(of key: RemoteKey) -> RESPCommand {
      var command = word(Self.range, key)
      command.add("0")
      command.add("23")
      return command
    }

    func decimal(_ number: UInt64) -> [UInt8] { Array(String(number).utf8) }

    func read(
      _ key: RemoteKey,
      _ command: RESPCommand,
      _ kind: Request.Kind,
      _ deadline: RemoteInstant,
      hashed: Bool = true,
      _ answer: @escaping @Sendable (Answer) -> Void
    ) {
      client.submit(reading(key, command, kind, deadline, hashed: hashed, answer))
    }

    func reading(
      _ key: RemoteKey,
      _ command: RESPCommand,
      _ kind: Request.Kind,
      _ deadline: RemoteInstant,
      hashed: Bool,
      _ answer: @escaping @Sendable (Answer) -> Void
    ) -> Request {
      let request = Request(command, slot: key.domain, kind: kind, deadline: deadline, answer: answer)
      if hashed { request.keyHash = key.bytes.hashValue }
      return request
    }

    /// A write by the script.
    func change(
      _ key: RemoteKey,
      _ what: String,
      _ condition: RemoteCondition,
      _ arguments: [[UInt8]],
      _ write: RemoteWriteID,
      _ deadline: RemoteInstant,
      _ completion: @escaping RemoteCompletion<RemoteWritten>
    ) {
      var command = RESPCommand(.write, arguments: 2 + arguments.count, room: arguments.reduce(160) { $0 + $1.count })
      command.add(client.prefix, key.bytes)
      command.add(what)
      command.add(condition.code)
      for argument in arguments { command.add(argument) }
      send(
        key,
        command,
        write,
        deadline,
        { reply, _ in
          guard let (code, found) = Self.scripted(reply) else { return nil }
          // What a script writes is told to this connection, too.
          return code == 1 ? .done(isEchoed: true, wasThere: found != .absent) : .refused(found)
        },
        completion
      )
    }

    /// What the script answered.
    static func scripted(_ reply: RESPValue) -> (code: Int64, found: RemoteFound)? {
      guard let elements = reply.elements, elements.count == 2, let code = elements[0].integer,
        case .bytes(let bytes) = elements[1],
        let found = RemoteFound(code: bytes)
      else { return nil }
      return (code, found)
    }

    func send(
      _ key: RemoteKey,
      _ command: RESPCommand,
      _ write: RemoteWriteID,
      _ deadline: RemoteInstant,
      _ parse: @escaping @Sendable (RESPValue, Bool) -> RemoteWritten?,
      _ completion: @escaping RemoteCompletion<RemoteWritten>
    ) {
      send(key, command, write, deadline, parse, completion, outcome: { .answered($0, at: $1) })
    }

    /// Sends a write. If its caller is told that the outcome is unknown, the sink is told later what it was.
    func send<Reply: Sendable>(
      _ key: RemoteKey,
      _ command: RESPCommand,
      _ write: RemoteWriteID,
      _ deadline: RemoteInstant,
      _ parse: @escaping @Sendable (RESPValue, Bool) -> Reply?,
      _ completion: @escaping RemoteCompletion<Reply>,
      outcome: @escaping @Sendable (Reply, RemoteStamp) -> RemoteOutcome
    ) {
      let request = Request(
        command,
        slot: key.domain,
        kind: .write,
        deadline: deadline,
        isBulk: command.bytes.count > client.configuration.bulkThreshold,
        answer: { answer in completion(answer.map { parse($0, answer.isEchoed) }) },
        settle: { [weak client] answer in
          let settled: RemoteOutcome =
            switch answer?.result {
            case nil: .lost
            case .failure: .notExecuted
            case .success(let value)?:
              if let answer, let reply = parse(value, answer.isEchoed) { outcome(reply, answer.stamp) } else { .lost }
            }
          client?.sink?.settled(write, settled)
        }
      )
      client.submit(request)
    }

    /// A completion that ends a span, if there is who wants one.
    func traced<Reply>(_ name: String, _ completion: @escaping RemoteCompletion<Reply>) -> RemoteCompletion<Reply> {
      guard let tracer = client.configuration.tracer else { return completion }
      let span = tracer.startAnySpan("redis \(name)", ofKind: .client)
      span.attributes["db.system.name"] = "redis"
      span.attributes["db.operation.name"] = name
      return { result in
        if case .failure(let error) = result {
          span.recordError(error)
          span.setStatus(SpanStatus(code: .error))
        }
        span.end()
        completion(result)
      }
    }
  }
#endif
