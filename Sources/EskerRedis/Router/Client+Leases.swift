#if Redis
  internal import EskerRemote
  internal import Logging

  /// What the replies to a heartbeat say.
  final class Heartbeat {
    let sentAt = RemoteInstant.now
    /// When the newest question was sent whose answer had come by then. What was written before that has been told when the answer to this
    /// one comes; what was written later, in the same event loop in which the server answers, is told behind its answer.
    let former: RemoteInstant?
    /// The last generation when it was sent.
    let generation: UInt32
    var isServed = false
    /// How far the primary is.
    var place: ReplicationPlace?
    var receivesChanges = true

    init(_ generation: UInt32, after former: RemoteInstant?) {
      self.generation = generation
      self.former = former
    }
  }

  extension Client {
    /// Asks a node whether it serves its slots and tells us changes, ahead of all that waits.
    func sendHeartbeat(_ node: Node) {
      guard let main = node.ready else { return }
      let heartbeat = Heartbeat(table.lastGeneration, after: main.answered)
      node.nextHeartbeat = heartbeat.sentAt.advanced(by: min(configuration.heartbeat, leaseLength / 3))
      endPast(of: node, on: main)
      if let key = node.heartbeatKey {
        var read = RESPCommand("GET", words: 2)
        read.add(prefix, Array(key.utf8))
        main.control(read) { reply in
          // Whoever sends us on because of a missing key owns the slot.
          if let error = reply.error {
            heartbeat.isServed = error.code == "ASK" || error.code == "TRYAGAIN"
          } else {
            heartbeat.isServed = true
          }
        }
      } else {
        heartbeat.isServed = true
      }
      if node.heartbeats % 4 == 0 {
        main.control(RESPCommand("CLIENT", "TRACKINGINFO")) { reply in
          let flags = reply["flags"]?.elements?.compactMap(\.text) ?? []
          heartbeat.receivesChanges = flags.contains("on") && flags.contains("bcast")
        }
        main.control(RESPCommand("TIME")) { [weak self] in self?.noteTime(node, $0, asked: heartbeat.sentAt) }
      }
      node.heartbeats += 1
      if observesReplicas, mode == .cluster {
        main.control(RESPCommand("INFO", "replication")) {
          heartbeat.place = $0.text.flatMap { ReplicationPlace(InfoText(lines: $0)) }
        }
      }
      let question = mode == .cluster ? RESPCommand("CLUSTER", "INFO") : RESPCommand("INFO", "server", "replication")
      main.control(question) { [weak self] reply in
        guard let self, !main.isClosed else { return }
        guard let text = reply.text else { return deny(node, "\(reply)") }
        judge(heartbeat, of: node, on: main, InfoText(lines: text))
      }
    }

    private func judge(_ heartbeat: Heartbeat, of node: Node, on main: Connection, _ info: InfoText) {
      let now = RemoteInstant.now
      node.roundTripNanoseconds = now.nanoseconds - heartbeat.sentAt.nanoseconds
      main.answered = heartbeat.sentAt
      guard heartbeat.receivesChanges else { return main.close("changes are not told any more") }
      checkLease(node, now)
      guard mode == .cluster ? isAsKnown(node, info) : isSameServer(node, info) else { return }
      guard heartbeat.isServed else { return deny(node, "not served") }
      guard let confirmed = node.confirmedAt, heartbeat.sentAt >= confirmed, node.past.isEmpty else { return }
      // Asked before a pause and answered after it.
      guard heartbeat.sentAt.advanced(by: leaseLength) > now else { return }
      // The answer before it is too old, as after a pause.
      guard let until = heartbeat.former?.advanced(by: leaseLength), until > now else { return sendHeartbeat(node) }
      node.breaker.succeed()
      noteSuspension(node, ends: true)
      node.leaseUntil = max(node.leaseUntil, until)
      if let place = heartbeat.place {
        node.witnessed = WitnessedPlace(place: place, instant: heartbeat.sentAt, generation: heartbeat.generation)
      }
      let (runs, isNew) = table.grant(
        node.slots,
        of: node.index,
        since: heartbeat.generation,
        until: until.nanoseconds,
        now: now.nanoseconds
      )
      for (range, generation) in runs {
        sink?.trusted(UInt16(range.lowerBound)..<UInt16(range.upperBound), in: generation, until: until)
      }
      guard isNew else { return }
      settleUnconfirmed()
      routeParked()
      finishStart(now)
    }

    /// Whether a cluster's node says what the majority said of it.
    private func isAsKnown(_ node: Node, _ info: InfoText) -> Bool {
      guard info["cluster_state"] == "ok", let epoch = info.number("cluster_my_epoch") else {
        deny(node, "cluster state \(info["cluster_state"] ?? "unknown")")
        return false
      }
      if let current = info.number("cluster_current_epoch"), current > currentEpoch {
        currentEpoch = current
        needsSurvey = true
      }
      guard let known = node.epoch, known != epoch else { return node.epoch != nil }
      node.epoch = nil
      node.counters.raised["epoch", default: 0] += 1
      raise(node.slots.lazy.joined(), "epoch of the owner")
      deny(node, "its epoch was \(known) and is \(epoch)")
      return false
    }

    /// Whether a single server is the one that it was, and takes writes.
    private func isSameServer(_ node: Node, _ info: InfoText) -> Bool {
      guard info["role"] == "master", let run = info["run_id"] else {
        raise(node.slots.lazy.joined(), "role")
        deny(node, "its role is \(info["role"] ?? "unknown")")
        return false
      }
      if let known = node.run, known != run {
        node.counters.raised["run", default: 0] += 1
        raise(node.slots.lazy.joined(), "another run of the server")
      }
      node.run = run
      return true
    }

    /// Ends a lease that has run out.
    func checkLease(_ node: Node, _ now: RemoteInstant) {
      guard node.isConfirmed, node.leaseUntil.nanoseconds > 0, node.leaseUntil <= now else { return }
      suspend(node, "no answer")
    }

    /// The node says that it does not serve.
    func deny(_ node: Node, _ reason: String) {
      guard node.isConfirmed else {
        needsSurvey = true
        return
      }
      suspend(node, reason)
    }

    /// Ends the lease. Generations and the connection stay; before there is another lease, the majority is asked.
    private func suspend(_ node: Node, _ reason: String) {
      node.confirmedAt = nil
      needsSurvey = true
      guard node.leaseUntil.nanoseconds > 0 else { return }
      node.leaseUntil = RemoteInstant(nanoseconds: 0)
      node.counters.suspensions += 1
      node.suspendedSince = .now
      table.suspend(node.slots)
      for range in node.slots { sink?.suspended(UInt16(range.lowerBound)..<UInt16(range.upperBound)) }
      logger.warning("suspended", metadata: ["server": "\(node.address)", "reason": "\(reason)"])
    }

    func noteSuspension(_ node: Node, ends: Bool) {
      guard ends, let since = node.suspendedSince else { return }
      node.counters.suspended += .nanoseconds(Int64(RemoteInstant.now.nanoseconds - since.nanoseconds))
      node.suspendedSince = nil
    }

    /// Notes what a server's clock says.
    func noteTime(_ node: Node, _ reply: RESPValue, asked: RemoteInstant) {
      guard let words = reply.elements?.compactMap(\.text), words.count == 2, let seconds = UInt64(words[0]),
        let microseconds = UInt64(words[1]), seconds < 1 << 40
      else { return }
      let trip = RemoteInstant.now.nanoseconds - asked.nanoseconds
      node.time = ServerTime(
        milliseconds: seconds * 1_000 + microseconds / 1_000,
        at: RemoteInstant(nanoseconds: asked.nanoseconds + trip / 2),
        // The coarse clock advances by up to 10 ms.
        error: .nanoseconds(Int64(trip / 2)) + .milliseconds(10)
      )
      let times = nodes.map(\.time)
      published.withLock { $0.times = times }
    }

    func finishStart(_ now: RemoteInstant) {
      guard let startWaiter else { return }
      if table.isLeased {
        startWaiter(.success(()))
      } else if now >= startDeadline {
        let isPartly = nodes.contains { $0.leaseUntil > now }
        startWaiter(isPartly ? .success(()) : .failure(lastError ?? .unavailable(until: nil)))
      } else {
        return
      }
      self.startWaiter = nil
    }
  }
#endif
