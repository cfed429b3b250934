#if Redis
  public import EskerRemote
  public import ServiceLifecycle
  internal import Tracing

  /// What a cluster and a single server have in common: a remote store for near copies that are kept coherent.
  ///
  /// All functions may be called from any thread. Requests of many tasks are gathered and written together.
  ///
  /// Safety: has constants alone; only this module makes subclasses, which add nothing.
  public class RedisStore: RemoteStore, Service, @unchecked Sendable {
    let client: Client

    init(_ mode: Client.Mode, _ configuration: RedisConfiguration) throws {
      client = try Client(mode, configuration)
      if let factory = configuration.metrics {
        let metrics = RedisMetrics(factory)
        client.onSecond = { metrics.report($0) }
      }
    }

    // MARK: Life

    /// Connects to all primaries; see ``/EskerRemote/RemoteStore/start(prefix:sink:)``.
    ///
    /// A store starts once. After an error it goes on trying to reach its servers by itself, until it is stopped: wait for ``health()``
    /// instead of starting again. If the task is cancelled, the store is stopped, for good.
    ///
    /// - Parameters:
    ///   - prefix: Without braces, which would put all keys into one slot.
    ///   - sink: What changes, generations and leases are told to.
    /// - Throws: At once if every server refuses: ``/EskerRemote/RemoteError/refused(code:message:)`` if user or password are wrong,
    ///   or a right is missing, ``/EskerRemote/RemoteError/unsupported(_:)`` if it is too old or not of this kind. When the time is over and
    ///   no server has given a lease: the same if one refuses, otherwise ``/EskerRemote/RemoteError/unavailable(until:)``.
    ///   ``/EskerRemote/RemoteError/stopped`` if the task is cancelled, ``/EskerRemote/RemoteError/unsupported(_:)`` if this was called
    ///   before, whatever came of that.
    public func start(prefix: [UInt8], sink: any RemoteSink) async throws(RemoteError) {
      try await client.start(prefix, sink)
    }

    /// Refuses what is new, waits for what is under way, at most as long as the configuration says, and ends all connections.
    public func stop() async { await client.stop() }

    /// Waits for the graceful shutdown of the service group, and stops.
    public func run() async throws {
      try? await gracefulShutdown()
      await stop()
    }

    /// Whether the store can do its work now, and since when: for probes of readiness.
    public func health() async -> RedisHealth { await client.onLoop { [client] in client.health() } }

    /// The figures of all servers that are or were in use.
    public func statistics() async -> [RedisNodeStatistics] { await client.onLoop { [client] in client.statistics() } }

    /// Runs tasks on the client's own thread, for those that do little but ask this store:
    ///
    /// ```swift
    /// await withTaskExecutorPreference(store.executor) { await serve(connection) }
    /// ```
    ///
    /// Neither their requests nor the replies change threads then. What they compute delays all replies of this store, and the
    /// heartbeats by which it holds its leases; they must never block.
    public var executor: any TaskExecutor { client.executor }

    // MARK: Domains

    /// 16,384 for a cluster, 1 for a single server.
    public var domainCount: Int { client.mode == .cluster ? HashSlot.count : 1 }

    /// The largest value, with its envelope.
    public var valueLimit: Int { client.configuration.replyLimit }

    /// The slot of a key behind the prefix. O(length of the key); allocates nothing.
    public func domain(of key: RawSpan) -> UInt16 {
      client.mode == .cluster ? HashSlot.slot(key, behind: client.keyspace.load()?.crc ?? 0) : 0
    }

    /// The clock of a domain's owner, asked every two seconds; nil before it is known.
    public func time(of domain: UInt16) -> ServerTime? {
      client.published.withLock { published in
        guard Int(domain) < published.owners.count else { return nil }
        let owner = Int(published.owners[Int(domain)])
        return published.times.indices.contains(owner) ? published.times[owner] : nil
      }
    }

    // MARK: Reads

    /// Reads what is under a key. A value without an envelope takes a second request, for its expiry.
    public func get(
      _ key: RemoteKey,
      from source: RemoteSource,
      by deadline: RemoteInstant,
      then completion: @escaping RemoteCompletion<RemoteValue?>
    ) {
      let completion = isTraced ? traced("get", completion) : completion
      if source == .any { return getAnywhere(key, deadline, completion) }
      client.submit(CompletedGet(key, by: deadline, then: completion))
    }

    /// From this call on heartbeats ask primaries of clusters how far they are.
    public func observeReplicas() { client.observeReplicas() }

    /// A value and its expiry, as scripts give them; nil within the other nil if there is none.
    static func found(_ reply: RESPValue, count: Int) -> RemoteValue?? {
      guard let elements = reply.elements, elements.count == count else { return nil }
      guard case .bytes(let bytes) = elements[0] else { return .some(nil) }
      return RemoteValue(stored: bytes, foreignExpiry: UInt64(max(0, elements[1].integer ?? 0)))
    }

    private func getAnywhere(
      _ key: RemoteKey,
      _ deadline: RemoteInstant,
      _ completion: @escaping RemoteCompletion<RemoteValue?>
    ) {
      var command = RESPCommand(.readAnywhere, arguments: 0)
      command.add(client.prefix, key.bytes)
      let question = Question(.made(command), key, .readAnywhere, by: deadline) { [weak client] answer in
        var result = answer.map { Self.found($0, count: 3) }
        if case .success(var stamped) = result, case .success(let reply) = answer.result,
          let text = reply.elements?.last?.text
        {
          stamped.currentAt = client?.instant(of: key.domain, InfoText(lines: text))
          result = .success(stamped)
        }
        completion(result)
      }
      client.submit(question)
    }

    /// Asks for the envelope alone: 31 bytes are received.
    public func check(
      _ key: RemoteKey,
      _ version: RemoteVersion,
      by deadline: RemoteInstant,
      then completion: @escaping RemoteCompletion<RemoteChecked>
    ) {
      let completion = traced("check", completion)
      client.submit(Question(.head, key, by: deadline) { completion(Self.checked($0, version)) })
    }

    private static func checked(
      _ answer: Answer,
      _ version: RemoteVersion
    ) -> Result<Stamped<RemoteChecked>, RemoteError> {
      answer.map { reply in
        guard case .bytes(let head) = reply, RemoteFound(head: head) == .version(version) else { return .different }
        return .same
      }
    }

    /// Reads what is under each of several keys. They are handed over together, and go out in one write for each server.
    public func get(
      several keys: [RemoteKey],
      by deadline: RemoteInstant,
      each: @escaping @Sendable (Int, Result<Stamped<RemoteValue?>, RemoteError>) -> Void
    ) {
      client.submit(
        keys.enumerated().map { GetOfSeveral($1, $0, by: deadline, each) }
      )
    }

    /// Checks each of several keys. They are handed over together, and go out in one write for each server.
    public func check(
      several keys: [(key: RemoteKey, version: RemoteVersion)],
      by deadline: RemoteInstant,
      each: @escaping @Sendable (Int, Result<Stamped<RemoteChecked>, RemoteError>) -> Void
    ) {
      client.submit(
        keys.enumerated().map { index, item in
          Question(.head, item.key, by: deadline) { each(index, Self.checked($0, item.version)) }
        }
      )
    }

    // MARK: Writes

    /// Stores a value: by a plain SET, unless the condition is a version.
    public func set(
      _ key: RemoteKey,
      _ value: RemoteValue,
      if condition: RemoteCondition,
      as write: RemoteWriteID,
      by deadline: RemoteInstant,
      then completion: @escaping RemoteCompletion<RemoteWritten>
    ) {
      let completion = isTraced ? traced("set", completion) : completion
      guard value.stored.count <= valueLimit else {
        return completion(.failure(.tooLarge(size: value.stored.count, limit: valueLimit)))
      }
      if case .version = condition {
        return change(key, "set", condition, [value.stored, decimal(value.expiry)], write, deadline, completion)
      }
      client.submit(
        WriteRequest(
          .set(value.stored, expiry: value.expiry, condition),
          key,
          as: write,
          by: deadline,
          read: Self.reader(condition),
          then: condition == .absent ? finding(key, deadline, completion) : completion
        )
      )
    }

    /// A completion that also finds out what is there, if that is why nothing was stored: the refusal does not say.
    private func finding(
      _ key: RemoteKey,
      _ deadline: RemoteInstant,
      _ completion: @escaping RemoteCompletion<RemoteWritten>
    ) -> RemoteCompletion<RemoteWritten> {
      { [client] result in
        guard case .success(let refusal) = result, case .refused = refusal.reply else { return completion(result) }
        client.submit(
          Question(.head, key, by: deadline) { answer in
            let found: Result<Stamped<RemoteWritten>, RemoteError> = answer.map { reply in
              guard case .bytes(let bytes) = reply else { return nil }
              return .refused(RemoteFound(head: bytes))
            }
            if case .success = found { completion(found) } else { completion(result) }
          }
        )
      }
    }

    /// Removes what is under a key: by DEL, unless there is a condition on what is there.
    public func remove(
      _ key: RemoteKey,
      if condition: RemoteCondition,
      as write: RemoteWriteID,
      by deadline: RemoteInstant,
      then completion: @escaping RemoteCompletion<RemoteWritten>
    ) {
      let completion = traced("remove", completion)
      guard condition == .always || condition == .present else {
        return change(key, "del", condition, [], write, deadline, completion)
      }
      let read: WriteRequest<RemoteWritten>.Reader = { reply, isEchoed in
        reply.integer.map { .done(isEchoed: isEchoed, wasThere: $0 > 0) }
      }
      let readPresent: WriteRequest<RemoteWritten>.Reader = { reply, isEchoed in
        reply.integer.map { $0 == 0 ? .refused(.absent) : .done(isEchoed: isEchoed, wasThere: true) }
      }
      client.submit(
        WriteRequest(
          .delete,
          key,
          as: write,
          by: deadline,
          read: condition == .present ? readPresent : read,
          then: completion
        )
      )
    }

    /// Rewrites the envelope and the server's expiry, in one step of the server.
    public func touch(
      _ key: RemoteKey,
      _ envelope: RemoteEnvelope,
      if condition: RemoteCondition,
      as write: RemoteWriteID,
      by deadline: RemoteInstant,
      then completion: @escaping RemoteCompletion<RemoteWritten>
    ) {
      var bytes: [UInt8] = []
      envelope.append(to: &bytes)
      // From the expiry on: the flags in front of it stay.
      change(
        key,
        "touch",
        condition,
        [Array(bytes[4...]), decimal(envelope.expiry)],
        write,
        deadline,
        traced("touch", completion)
      )
    }

    /// Replays a write from a queue, in one step of the server.
    public func apply(
      _ key: RemoteKey,
      _ intent: RemoteIntent,
      as write: RemoteWriteID,
      by deadline: RemoteInstant,
      then completion: @escaping RemoteCompletion<RemoteApplied>
    ) {
      let completion = traced("apply", completion)
      let value = intent.value?.stored ?? []
      guard value.count <= valueLimit else {
        return completion(.failure(.tooLarge(size: value.count, limit: valueLimit)))
      }
      var command = RESPCommand(.write, arguments: 6, room: value.count + 160)
      command.add(client.prefix, key.bytes)
      command.add("apply")
      command.add(intent.base?.code ?? [])
      command.add(value)
      command.add(decimal(intent.value?.expiry ?? 0))
      command.add(intent.version.bytes)
      command.add(intent.value == nil ? "del" : "set")
      let read: WriteRequest<RemoteApplied>.Reader = { reply, _ in
        guard let (code, found) = Self.scripted(reply) else { return nil }
        return code == 1 ? .applied : code == 2 ? .already : .superseded(by: found)
      }
      client.submit(WriteRequest(.made(command), key, as: write, by: deadline, read: read, then: completion))
    }

    /// Waits for replicas; those who wait at the same time share one question, and who comes later waits for theirs: a second, or up to
    /// eight if replicas are behind.
    public func replicated(
      _ key: RemoteKey,
      to count: Int,
      by deadline: RemoteInstant,
      then completion: @escaping @Sendable (Result<Int, RemoteError>) -> Void
    ) {
      client.replicated(key.domain, count, deadline, completion)
    }
  }
#endif
