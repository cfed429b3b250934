#if Redis
  internal import EskerRemote

  extension Client {
    /// Waits until replicas have what was written to the owner of a slot. Called on any thread.
    func replicated(
      _ slot: UInt16,
      _ count: Int,
      _ deadline: RemoteInstant,
      _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void
    ) {
      loop.execute {
        let owner = self.table.owner(Int(slot))
        guard !self.isStopped, self.drainDeadline == nil, self.sink != nil else { return then(.failure(.stopped)) }
        guard owner >= 0, self.table.lease(Int(slot)) > RemoteInstant.now.nanoseconds else {
          return then(.failure(.unavailable(until: nil)))
        }
        let node = self.nodes[owner]
        node.barrier.add(BarrierQueue.Waiter(count: count, deadline: deadline, then: then))
        let connection = self.lane(.barrier, of: node)
        if connection.isReady { self.askBarrier(node) }
        self.endTurn()
      }
    }

    /// Asks for all that wait. What was written before on other connections is ahead of the round's write in the stream to the replicas.
    func askBarrier(_ node: Node) {
      guard let connection = node.lanes[.barrier], connection.isReady, let question = node.barrier.next(.now) else {
        return
      }
      var failure: RemoteError?
      if question.beginsRound {
        var write = RESPCommand("SET", words: 5)
        write.add(prefix, Array("#wait:\(node.heartbeatKey.map { String($0.dropFirst(4)) } ?? "")".utf8))
        write.add("1")
        write.add("PX")
        write.add(60_000)
        connection.control(write) { reply in
          if let error = reply.error { failure = .notExecuted(error.code) }
        }
      }
      let wait = RESPCommand("WAIT", String(question.count), String(question.milliseconds))
      connection.control(wait) { [weak self] reply in
        if failure == nil, let count = reply.integer {
          for waiter in node.barrier.answered(Int(count), .now) { waiter.then(.success(Int(count))) }
        } else {
          let error = failure ?? .notExecuted("\(reply)")
          for waiter in node.barrier.failed() { waiter.then(.failure(error)) }
        }
        self?.askBarrier(node)
      }
    }

    /// Whoever waits on a lost connection is told so.
    func failBarrier(_ node: Node) {
      let error = isStopped ? RemoteError.stopped : .unavailable(until: nil)
      for waiter in node.barrier.removeAll() { waiter.then(.failure(error)) }
    }
  }
#endif
