#if Redis
  internal import EskerRemote

  extension Client {
    /// Sends a request to the owner of its slot, or keeps it until that has a lease.
    func route(_ request: Request, _ now: RemoteInstant = .now) {
      guard request.state == .waiting else { return }
      if request.deadline <= now { return expire(request) }
      if request.notBefore > now { return parked.append(request) }
      if isStopped { return conclude(request, .stopped) }
      if request.kind == .readAnywhere { return routeAnywhere(request, now) }
      let owner = table.owner(Int(request.slot))
      guard owner >= 0 else {
        needsSurvey = true
        return parked.append(request)
      }
      let node = nodes[owner]
      guard let main = node.ready else {
        if node.breaker.isOpen {
          conclude(request, .unavailable(until: node.breaker.nextTry))
        } else {
          parked.append(request)
        }
        return
      }
      guard table.lease(Int(request.slot)) > now.nanoseconds else { return parked.append(request) }
      if hasBigKeys, request.readsValue, case let hash = request.key.bytes.hashValue, bigKeys[hash & 1_023] == hash {
        request.isBulk = true
      }
      if request.kind == .write, request.size > configuration.bulkThreshold { request.isBulk = true }
      let connection = request.isBulk ? lane(.bulk, of: node) : holder(for: request, node, now) ?? main
      connection.send(request, for: self)
    }

    /// A connection beside the main one, made if there is none.
    func lane(_ role: Connection.Role, of node: Node) -> Connection {
      if let connection = node.lanes[role] { return connection }
      return connect(node, role)
    }

    /// Answers a request that was not sent in time.
    func expire(_ request: Request) {
      if let failure = request.failure { return conclude(request, .notExecuted(failure)) }
      let slot = Int(request.slot)
      if request.kind != .readAnywhere, table.lease(slot) <= RemoteInstant.now.nanoseconds {
        let owner = table.owner(slot)
        let isOpen = owner >= 0 && nodes[owner].breaker.isOpen
        return conclude(request, .unavailable(until: isOpen ? nodes[owner].breaker.nextTry : nil))
      }
      conclude(request, .timedOut)
    }

    /// Answers a request that is not under way.
    func conclude(_ request: Request, _ error: RemoteError) {
      uncount(request)
      request.fail(error, from: self)
    }

    /// The request waits no more.
    func uncount(_ request: Request) {
      guard request.isCounted else { return }
      request.isCounted = false
      released.count += 1
      released.bytes += request.size
    }

    /// Tries again what is kept.
    func routeParked() {
      guard !parked.isEmpty else { return }
      let requests = parked
      parked = []
      for request in requests { route(request) }
    }

    /// Keeps a request that was not executed, to be tried again after a while that grows.
    func backOff(_ request: Request, _ failure: String) {
      request.waitAgain()
      request.failure = failure
      request.attempts += 1
      request.asked = nil
      request.notBefore = RemoteInstant.now.advanced(by: Backoff.delay(request.attempts, &random))
      parked.append(request)
    }
  }
#endif
