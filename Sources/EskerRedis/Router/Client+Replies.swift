#if Redis
  internal import EskerRemote

  /// A write that was answered while the lease was over: it counts when it is confirmed that the owner was one.
  struct Unconfirmed {
    var request: Request
    var answer: Answer
    var owner: Int
    /// At which it owned the slot.
    var epoch: UInt64
  }

  extension Client {
    static let mostRedirects = 5

    func connection(_ connection: Connection, maySend request: Request) -> Bool {
      let now = RemoteInstant.now
      let slot = Int(request.slot)
      if request.deadline <= now {
        expire(request)
        return false
      }
      if request.kind != .readAnywhere {
        let isOwner = table.owner(slot) == connection.node.index || request.asked == connection.node.index
        guard isOwner, table.lease(slot) > now.nanoseconds else {
          parked.append(request)
          return false
        }
      }
      request.generation = table.generations[slot]
      connection.node.counters.requests += 1
      uncount(request)
      return true
    }

    func connection(
      _ connection: Connection,
      replied reply: Connection.Reply,
      to request: Request,
      isRedirected: Bool
    ) {
      messages += 1
      let node = connection.node
      node.counters.replies += 1
      let stamp = RemoteStamp(generation: request.generation, index: messages)
      switch reply {
      case .oversized(let size):
        node.counters.skipped += 1
        noteBig(request)
        request.finish(
          Answer(result: .failure(.tooLarge(size: size, limit: connection.replyLimit)), stamp: stamp),
          from: self
        )
      case .value(.error(let error)): failed(request, error, on: connection, stamp)
      case .value(let value):
        let slot = Int(request.slot)
        let hasLease = table.lease(slot) > RemoteInstant.now.nanoseconds
        let isMain = connection.role == .main && !isRedirected
        if case .bytes(let bytes) = value, bytes.count > configuration.bulkThreshold { noteBig(request) }
        var answer = Answer(result: .success(value), stamp: stamp)
        let isCurrent = request.generation == table.generations[slot]
        answer.isKeepable = isMain && request.kind != .readAnywhere && hasLease && isCurrent
        answer.isEchoed = !isMain
        let isOwner = isRedirected || table.owner(slot) == node.index
        if request.kind == .write, !hasLease || !isOwner {
          // Who was not the owner any more may have said so: a process that was stopped, for one.
          let owner = isRedirected ? table.owner(slot) : node.index
          unconfirmed.append(Unconfirmed(request: request, answer: answer, owner: owner, epoch: table.epoch(slot)))
          settleUnconfirmed()
        } else {
          request.finish(answer, from: self)
        }
      }
    }

    /// The next time its value comes by the connection for big ones.
    private func noteBig(_ request: Request) {
      guard request.readsValue else { return }
      let hash = request.key.bytes.hashValue
      bigKeys[hash & 1_023] = hash
      hasBigKeys = true
    }

    /// Acts on an error, which proves that the request was not executed.
    private func failed(_ request: Request, _ error: ServerError, on connection: Connection, _ stamp: RemoteStamp) {
      let slot = Int(request.slot)
      switch error.code {
      // A replica that copies another primary now.
      case "MOVED" where request.kind == .readAnywhere: needsSurvey = true
      case "MOVED": moved(slot, request.generation)
      case "ASK":
        if table.noteMoving(slot) { raise([slot], "moving") }
      case "CLUSTERDOWN", "LOADING", "MASTERDOWN":
        if request.kind != .readAnywhere { deny(connection.node, error.code) }
      case "READONLY":
        raise(connection.node.slots.lazy.joined(), error.code)
        deny(connection.node, error.code)
      default: break
      }
      // Its caller is gone; it is only told.
      guard request.state == .sent else {
        return request.finish(Answer(result: .failure(.notExecuted(error.code)), stamp: stamp), from: self)
      }
      switch error.code {
      case "MOVED", "ASK":
        connection.node.counters.redirects += 1
        request.redirects += 1
        guard request.redirects <= Self.mostRedirects else {
          return request.finish(Answer(result: .failure(.notExecuted("too many redirects")), stamp: stamp), from: self)
        }
        request.waitAgain()
        request.failure = error.code
        if error.code == "ASK" {
          ask(request, error)
        } else if request.kind == .readAnywhere {
          backOff(request, error.code)
        } else {
          parked.append(request)
        }
      case "NOSCRIPT" where !request.sendsWhole:
        request.sendsWhole = true
        request.waitAgain()
        route(request)
      case "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "TRYAGAIN", "BUSY": backOff(request, error.code)
      case "OOM", "NOREPLICAS":
        // These go on for long. Whoever asked should know.
        if request.attempts < Self.mostRedirects {
          backOff(request, error.code)
        } else {
          request.finish(Answer(result: .failure(.notExecuted(error.code)), stamp: stamp), from: self)
        }
      default:
        request.finish(
          Answer(result: .failure(.refused(code: error.code, message: error.message)), stamp: stamp),
          from: self
        )
      }
    }

    /// Somebody else owns the slot than was thought when the request was sent.
    func moved(_ slot: Int, _ generation: UInt32) {
      needsSurvey = true
      guard generation == table.generations[slot] else { return }
      // Nobody is asked before it is known who the owner is.
      _ = table.setOwner(slot, -1, epoch: table.epoch(slot))
      raise([slot], "moved")
    }

    /// Sends a request to where its key may have gone.
    private func ask(_ request: Request, _ error: ServerError) {
      let words = error.message.split(separator: " ")
      guard words.count == 2, let address = RedisAddress(words[1]) else { return backOff(request, "ASK") }
      let target = node(at: address)
      // The generation was raised, but nobody keeps what comes by this way; only the lease of whoever sent us counts.
      guard let main = target.ready, table.lease(Int(request.slot)) > RemoteInstant.now.nanoseconds else {
        needsSurvey = needsSurvey || target.ready == nil
        return backOff(request, "ASK")
      }
      request.asked = target.index
      main.sendAsking(request, for: self)
    }

    /// Writes that were answered while the lease was over: now it is known whether that counts.
    func settleUnconfirmed() {
      guard !unconfirmed.isEmpty else { return }
      let all = unconfirmed
      unconfirmed = []
      let now = RemoteInstant.now.nanoseconds
      for write in all {
        let slot = Int(write.request.slot)
        let owner = table.owner(slot)
        if owner >= 0, owner != write.owner || table.epoch(slot) != write.epoch {
          write.request.abandon(from: self)
          write.request.lose(from: self)
        } else if owner >= 0, table.lease(slot) > now {
          messages += 1
          var answer = write.answer
          answer.stamp.index = messages
          write.request.finish(answer, from: self)
        } else {
          unconfirmed.append(write)
        }
      }
    }
  }
#endif
