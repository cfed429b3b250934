#if Redis
  internal import EskerRemote
  internal import Logging
  internal import NIOCore
  internal import NIOPosix
  internal import NIOSSL

  extension Client: ConnectionDelegate {
    /// Begins to connect.
    @discardableResult
    func connect(_ node: Node, _ role: Connection.Role) -> Connection {
      let connection = Connection(
        role,
        of: node,
        prefix: prefix,
        replyLimit: configuration.replyLimit,
        delegate: self
      )
      node.lanes[role] = connection
      let security = security
      let name = configuration.tlsName ?? Self.name(node.address.host)
      ClientBootstrap(group: loop)
        .connectTimeout(TimeAmount(configuration.connectTimeout))
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            if let security {
              try channel.pipeline.syncOperations.addHandler(
                NIOSSLClientHandler(context: security, serverHostname: name)
              )
            }
            try channel.pipeline.syncOperations.addHandler(connection)
          }
        }
        .connect(host: node.address.host, port: node.address.port)
        .hop(to: loop)
        .whenFailure { connection.close("\($0)") }
      return connection
    }

    /// The name that a certificate is checked for; addresses are checked as such.
    private static func name(_ host: String) -> String? {
      host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." } ? nil : host
    }

    func connectionDidConnect(_ connection: Connection) {
      guard let credentials = configuration.credentials else {
        let user = configuration.user
        let known = configuration.password.map { RedisConfiguration.Credentials(user: user, password: $0) }
        return shakeHands(on: connection, known)
      }
      let limit = loop.scheduleTask(in: TimeAmount(configuration.silence)) {
        connection.close("no credentials in time")
      }
      Task { [weak self, loop] in
        let result: Result<RedisConfiguration.Credentials, any Error>
        do { result = .success(try await credentials()) } catch { result = .failure(error) }
        loop.execute { [weak self] in
          limit.cancel()
          self?.authenticate(on: connection, result)
        }
      }
    }

    private func authenticate(on connection: Connection, _ result: Result<RedisConfiguration.Credentials, any Error>) {
      guard !connection.isClosed else { return }
      switch result {
      case .success(let credentials):
        shakeHands(on: connection, credentials)
        connection.flush()
      case .failure(let error):
        lastError = .notExecuted("get credentials: \(error)")
        logger.error("no credentials", metadata: ["error": "\(error)"])
        connection.close("no credentials")
      }
    }

    /// Shakes hands, all in one write: who we are, the end of what was there before, changes, the time.
    private func shakeHands(on connection: Connection, _ credentials: RedisConfiguration.Credentials?) {
      var hello = ["HELLO", "3"]
      if let credentials { hello += ["AUTH", credentials.user ?? "default", credentials.password] }
      connection.control(RESPCommand(words: hello + ["SETNAME", "esker"])) { [weak self] in
        self?.greeted(connection, $0)
      }
      connection.control(RESPCommand("CLIENT", "INFO")) { [weak self] reply in
        if self?.refuseForbidden(reply, to: connection) == true { return }
        guard let info = reply.text.map(InfoText.init(words:)), let id = info.number("id"), let address = info["addr"]
        else {
          return connection.close("CLIENT INFO: \(reply)")
        }
        connection.identity = (id, address)
      }
      endPast(of: connection.node, on: connection)
      switch connection.role {
      case .main, .spare:
        tryRights(on: connection)
        var tracking = RESPCommand("CLIENT", words: 7)
        for word in ["TRACKING", "ON", "BCAST", "NOLOOP", "PREFIX"] { tracking.add(word) }
        tracking.add(prefix)
        connection.control(tracking) { [weak self] reply in
          if self?.refuseForbidden(reply, to: connection) == true { return }
          if let error = reply.error { connection.close("CLIENT TRACKING: \(error)") }
        }
        let asked = RemoteInstant.now
        connection.control(RESPCommand("TIME")) { [weak self] reply in
          guard let self, !connection.isClosed, !refuseForbidden(reply, to: connection) else { return }
          noteTime(connection.node, reply, asked: asked)
          connection.answered = asked
          becameReady(connection)
        }
      case .reader:
        connection.control(RESPCommand("READONLY")) { [weak self] _ in self?.becameReady(connection) }
      case .bulk, .barrier, .held:
        connection.control(RESPCommand("PING")) { [weak self] _ in self?.becameReady(connection) }
      }
    }

    private func greeted(_ connection: Connection, _ reply: RESPValue) {
      if let error = reply.error {
        refuse(.refused(code: error.code, message: error.message), by: connection.node)
        return connection.close("HELLO: \(error)")
      }
      let version = reply["version"]?.text ?? ""
      guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= 7 else {
        refuse(.unsupported("version \(version) of the server: 7.0 is the least"), by: connection.node)
        return connection.close("version \(version)")
      }
      let serverMode = reply["mode"]?.text ?? ""
      guard (serverMode == "cluster") == (mode == .cluster) else {
        refuse(.unsupported("a server whose mode is \(serverMode)"), by: connection.node)
        return connection.close("mode \(serverMode)")
      }
    }

    /// Tries what heartbeats, surveys and reconnections will need: a user without the right to it would get no lease, or none after the
    /// first lost connection. The connection that is to be ended does not exist.
    private func tryRights(on connection: Connection) {
      var read = RESPCommand("GET", words: 2)
      read.add(prefix, Self.ownBeat)
      var commands = [
        read, RESPCommand("CLIENT", "KILL", "ID", "1", "ADDR", "0.0.0.0:0"), RESPCommand("CLIENT", "TRACKINGINFO"),
      ]
      switch mode {
      case .cluster: commands += [RESPCommand("CLUSTER", "INFO"), RESPCommand("CLUSTER", "NODES")]
      case .server: commands.append(RESPCommand("INFO", "server", "replication"))
      }
      for command in commands {
        connection.control(command) { [weak self] in _ = self?.refuseForbidden($0, to: connection) }
      }
    }

    /// Whether the server says that the user has not the right to what was asked; the connection is closed then.
    private func refuseForbidden(_ reply: RESPValue, to connection: Connection) -> Bool {
      guard let error = reply.error, error.code == "NOPERM" else { return false }
      connection.close("\(error)")
      refuse(.refused(code: error.code, message: error.message), by: connection.node)
      return true
    }

    /// Ends the start if all whom it could reach refuse: trying again would not help. One that refuses among others may be a server of
    /// another time that is still in the list, and is tried again as one that cannot be reached.
    private func refuse(_ error: RemoteError, by node: Node) {
      lastError = error
      node.isRefusing = true
      logger.error("server refuses", metadata: ["server": "\(node.address)", "error": "\(error)"])
      guard nodes.allSatisfy({ !$0.isWanted || ($0.isRefusing && $0.ready == nil) }) else { return }
      startWaiter?(.failure(error))
      startWaiter = nil
    }

    /// Tells the server to end the connections of which it is not known that they are at their end, so that nothing that was sent on them
    /// is executed after what is sent from now on.
    func endPast(of node: Node, on connection: Connection) {
      for past in node.past {
        connection.control(RESPCommand("CLIENT", "KILL", "ID", String(past.id), "ADDR", past.address)) {
          [logger] reply in
          guard reply.integer != nil else {
            logger.error("cannot end a connection", metadata: ["server": "\(node.address)", "reply": "\(reply)"])
            return
          }
          node.past.removeAll { $0.id == past.id && $0.address == past.address }
        }
      }
    }

    private func becameReady(_ connection: Connection) {
      guard !connection.isClosed else { return }
      guard connection.role != .spare || takePlace(connection) else { return connection.close("not needed") }
      connection.isReady = true
      let node = connection.node
      node.counters.connections += 1
      if connection.role == .main {
        node.isRefusing = false
        node.readyAt = .now
        node.heartbeats = 0
        node.suspendedSince = node.readyAt
        needsSurvey = true
        logger.info("connected", metadata: ["server": "\(node.address)"])
        checkSettings(connection)
        beginSurvey(isUrgent: true)
      } else if connection.role == .barrier {
        askBarrier(node)
      }
      connection.pump()
    }

    func connectionWillRead(_ connection: Connection) {
      inbox.expect()
      executor.expect()
    }

    func connectionDidRead(_ connection: Connection) {
      executor.run()
      // What the tasks that were just answered ask for next goes out with the same write.
      drain()
      if drainDeadline != nil { finishStop() }
    }

    func connectionDidClose(_ connection: Connection, lost: [Request], unsent: [Request]) {
      let node = connection.node
      if node.lanes[connection.role] === connection { node.lanes[connection.role] = nil }
      let isBesides = connection.role == .spare || connection.role == .held
      // What was sent on these has been answered, if nothing is lost.
      if let identity = connection.identity, connection.role != .reader, !isBesides || !lost.isEmpty {
        node.past.append(identity)
      }
      logger.info(
        "connection lost",
        metadata: ["server": "\(node.address)", "role": "\(connection.role)", "reason": "\(connection.closeReason)"]
      )
      // One that is closed because it is not wanted is no failure.
      if !isStopped, !isBesides, node.isWanted || connection.role != .main { node.breaker.fail(.now, &random) }
      switch connection.role {
      case .main:
        loseTrust(in: node, connection.closeReason)
      case .bulk, .held:
        // What was lost may still be executed, until that connection is ended by the main one, ahead of the next lease.
        let slots = Set(lost.lazy.filter { $0.kind == .write }.map { Int($0.slot) })
        raise(slots.sorted(), "\(connection.role) connection lost")
      case .barrier: failBarrier(node)
      case .reader, .spare: break
      }
      for request in lost {
        if request.kind == .write {
          request.abandon(from: self)
        } else if request.state == .sent {
          request.waitAgain()
          if isStopped { conclude(request, .stopped) } else { parked.append(request) }
        }
      }
      for request in lost { request.lose(from: self) }
      for request in unsent { if isStopped { conclude(request, .stopped) } else { backOff(request, "not connected") } }
    }

    /// The main connection is another from now on: all that came by the former one is in doubt.
    func loseTrust(in node: Node, _ reason: String) {
      node.confirmedAt = nil
      node.readyAt = .distantFuture
      node.leaseUntil = RemoteInstant(nanoseconds: 0)
      node.counters.raised[reason, default: 0] += 1
      noteSuspension(node, ends: true)
      raise(node.slots.lazy.joined(), reason)
      needsSurvey = true
    }

    func connection(_ connection: Connection, pushed push: ByteBuffer) throws(WireError) {
      guard connection.role == .main, let keyspace = keyspace.load(), let sink else { return }
      messages += 1
      let node = connection.node
      var foreign: Set<Int> = []
      let kind = try RESPPush.invalidation(push) { full in
        guard full.byteCount >= keyspace.prefix.count else { return }
        let key = full.extracting(keyspace.prefix.count..<full.byteCount)
        // Ours, and nobody keeps them.
        if Self.isOwn(key) { return }
        node.counters.pushes += 1
        let slot = mode == .cluster ? HashSlot.slot(key, behind: keyspace.crc) : 0
        if table.owner(Int(slot)) != node.index { foreign.insert(Int(slot)) }
        sink.changed(key, domain: slot, at: RemoteStamp(generation: table.generations[Int(slot)], index: messages))
      }
      if !foreign.isEmpty { raise(foreign.sorted(), "told by another node") }
      if kind == .everything {
        node.counters.raised["null push", default: 0] += 1
        raise(node.slots.lazy.joined(), "null push")
      }
    }

    /// Whether a key is one of the heartbeat or of barriers.
    private static func isOwn(_ key: RawSpan) -> Bool {
      guard key.byteCount > 3 else { return false }
      return HashSlot.begins(key, with: ownBeat) || HashSlot.begins(key, with: ownBarrier)
    }

    private static let ownBeat = Array("#hb:".utf8)
    private static let ownBarrier = Array("#wait:".utf8)

    /// Gives slots a fresh generation, and tells.
    func raise(_ slots: some Sequence<Int>, _ reason: String) {
      let now = RemoteInstant.now
      for (range, generation) in table.raise(slots) {
        sink?.raised(UInt16(range.lowerBound)..<UInt16(range.upperBound), to: generation)
        // Those that are still served get their lease back soon.
        for slot in Set([range.lowerBound, range.upperBound - 1]) {
          let owner = table.owner(slot)
          if owner >= 0 { nodes[owner].nextHeartbeat = min(nodes[owner].nextHeartbeat, now) }
        }
        logger.debug("raised", metadata: ["domains": "\(range)", "generation": "\(generation)", "reason": "\(reason)"])
      }
      settleUnconfirmed()
    }
  }
#endif
