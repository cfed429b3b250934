#if Redis
  internal import EskerRemote
  internal import Tracing

  extension RedisStore {
    func decimal(_ number: UInt64) -> [UInt8] { Array(String(number).utf8) }

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
      let read: WriteRequest<RemoteWritten>.Reader = { reply, _ in
        guard let (code, found) = Self.scripted(reply) else { return nil }
        // What a script writes is told to this connection, too.
        return code == 1 ? .done(isEchoed: true, wasThere: found != .absent) : .refused(found)
      }
      client.submit(WriteRequest(.made(command), key, as: write, by: deadline, read: read, then: completion))
    }

    /// What the script answered.
    static func scripted(_ reply: RESPValue) -> (code: Int64, found: RemoteFound)? {
      guard let elements = reply.elements, elements.count == 2, let code = elements[0].integer,
        case .bytes(let bytes) = elements[1],
        let found = RemoteFound(code: bytes)
      else { return nil }
      return (code, found)
    }

    /// How the reply to a plain SET is read: null says that the condition did not hold. What was there is not known then, but that
    /// there was something.
    static func reader(_ condition: RemoteCondition) -> WriteRequest<RemoteWritten>.Reader {
      switch condition {
      case .absent: { $0.isNull ? .refused(.foreign) : .done(isEchoed: $1, wasThere: false) }
      case .present: { $0.isNull ? .refused(.absent) : .done(isEchoed: $1, wasThere: true) }
      default: { $0.isNull ? .refused(.absent) : .done(isEchoed: $1, wasThere: nil) }
      }
    }

    /// Whether there is who wants spans. Asked ahead of ``traced(_:_:)`` where it counts: a completion that goes in and out of a generic
    /// function is wrapped twice.
    var isTraced: Bool { client.configuration.tracer != nil }

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
