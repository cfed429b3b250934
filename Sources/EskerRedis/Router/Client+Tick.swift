#if Redis
  internal import EskerRemote
  internal import Logging

  extension Client {
    private static let surveyInterval = Duration.seconds(10)
    private static let longestSkip = Duration.seconds(5)

    /// What is due, 50 times a second: connections, leases, heartbeats, deadlines.
    func tick() {
      guard !isStopped else { return }
      let now = RemoteInstant.now
      noticeSleep(now)
      for node in nodes { tend(node, now) }
      checkSurvey(now)
      if now >= lastSurvey.advanced(by: Self.surveyInterval) { needsSurvey = true }
      beginSurvey()
      for node in nodes {
        for connection in node.lanes.values { connection.expire(now, for: self) { expire($0) } }
        for waiter in node.barrier.expire(now) { waiter.then(.failure(.timedOut)) }
      }
      for write in unconfirmed where write.request.deadline <= now { write.request.abandon(from: self) }
      routeParked()
      finishStart(now)
      noteStatus(now)
      drain()
      if drainDeadline != nil { finishStop() }
      if let onSecond, now >= nextSecond {
        nextSecond = now.advanced(by: .seconds(1))
        onSecond(statistics())
      }
    }

    /// While the machine sleeps the clock of leases stands still. Another does not.
    private func noticeSleep(_ now: RemoteInstant) {
      let present = ContinuousClock.now
      defer { lastTick = (now, present) }
      guard let lastTick else { return }
      let passed = Duration.nanoseconds(Int64(now.nanoseconds - lastTick.coarse.nanoseconds))
      guard present - lastTick.continuous > passed + .milliseconds(100) else { return }
      for node in nodes where node.isConfirmed { deny(node, "the machine slept") }
    }

    private func tend(_ node: Node, _ now: RemoteInstant) {
      for connection in Array(node.lanes.values) {
        if connection.role == .held, tendHeld(connection) { continue }
        // A server that waits for its replicas says nothing.
        let patience = connection.role == .barrier ? node.barrier.patience : .zero
        if connection.inFlight > 0, now >= connection.quietSince.advanced(by: configuration.silence + patience) {
          connection.close("silent")
        } else if let since = connection.skippingSince, now >= since.advanced(by: Self.longestSkip) {
          connection.close("a reply over the limit took too long")
        }
      }
      guard node.isWanted else { return }
      if node.main == nil {
        if now >= node.breaker.nextTry { connect(node, .main) }
        return
      }
      replaceHeld(node, now)
      checkLease(node, now)
      if now >= node.nextHeartbeat { sendHeartbeat(node) }
    }

    /// Looks at settings that make trust short or failures likely. A server that does not let us see them is not asked again.
    func checkSettings(_ connection: Connection) {
      let names = [
        "client-output-buffer-limit", "cluster-node-timeout", "cluster-allow-reads-when-down", "maxmemory-policy",
      ]
      connection.control(RESPCommand(words: ["CONFIG", "GET"] + names)) { [weak self] reply in
        guard let self else { return }
        guard reply.error == nil else {
          logger.debug("settings cannot be seen", metadata: ["server": "\(connection.node.address)"])
          return
        }
        if mode == .cluster, let timeout = reply["cluster-node-timeout"]?.text.flatMap({ Int($0) }) {
          if leaseLength > .milliseconds(timeout / 2) {
            leaseLength = .milliseconds(timeout / 2)
            warn("cluster-node-timeout is below two leases of the client; leases are \(leaseLength)")
          }
        }
        let limits = reply["client-output-buffer-limit"]?.text?.split(separator: " ") ?? []
        if let place = limits.firstIndex(of: "normal"), limits.count > place + 1, limits[place + 1] == "0" {
          warn(
            "client-output-buffer-limit normal is 0: a client that cannot keep up takes the server's memory; 64mb is advised"
          )
        }
        if mode == .cluster, reply["cluster-allow-reads-when-down"]?.text == "yes" {
          warn("cluster-allow-reads-when-down is on: a node that is cut off answers with what is old")
        }
        if reply["maxmemory-policy"]?.text?.hasPrefix("allkeys") == true {
          warn("maxmemory-policy evicts any key: tags that are evicted invalidate what has them")
        }
      }
    }

    /// Each once.
    private func warn(_ text: String) {
      if warned.insert(text).inserted { logger.warning("\(text)") }
    }

    /// The figures of all servers that are or were in use.
    func statistics() -> [RedisNodeStatistics] {
      let now = RemoteInstant.now
      return nodes.filter { $0.isWanted || $0.counters.connections > 0 }.map { node in
        let left = node.leaseUntil > now ? node.leaseUntil.nanoseconds - now.nanoseconds : 0
        var counters = node.counters
        if let since = node.suspendedSince {
          counters.suspended += .nanoseconds(Int64(now.nanoseconds - since.nanoseconds))
        }
        return RedisNodeStatistics(
          address: node.address.description,
          state: node.ready == nil ? .disconnected : left > 0 ? .leased : .suspended,
          domains: node.slots.reduce(0) { $0 + $1.count },
          leaseLeft: .nanoseconds(Int64(left)),
          inFlight: node.lanes.values.reduce(0) { $0 + $1.inFlight },
          queued: node.lanes.values.reduce(0) { $0 + $1.queued },
          roundTrip: node.roundTripNanoseconds.map { .nanoseconds(Int64($0)) },
          counters: counters
        )
      }
    }
  }
#endif
