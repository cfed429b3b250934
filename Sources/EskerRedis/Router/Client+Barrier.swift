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

    /// One write and one question for all that wait. What was written before on other connections is ahead of that write in the stream to
    /// the replicas.
    func askBarrier(_ node: Node) {
      guard let connection = node.lanes[.barrier], connection.isReady, let waiters = node.barrier.next() else { return }
      let now = RemoteInstant.now
      var write = RESPCommand("SET", words: 5)
      write.add(prefix, Array("#wait:\(node.beatKey.map { String($0.dropFirst(4)) } ?? "")".utf8))
      write.add("1")
      write.add("PX")
      write.add(60_000)
      var failure: RemoteError?
      connection.control(write) { reply in
        if let error = reply.error { failure = .notExecuted(error.code) }
      }
      for (index, waiter) in waiters.enumerated() {
        let left = waiter.deadline > now ? (waiter.deadline.nanoseconds - now.nanoseconds) / 1_000_000 : 0
        let wait = RESPCommand("WAIT", String(max(0, waiter.count)), String(max(1, left)))
        connection.control(wait) { [weak self] reply in
          if let failure {
            waiter.then(.failure(failure))
          } else if let count = reply.integer {
            waiter.then(.success(Int(count)))
          } else {
            waiter.then(.failure(.notExecuted("\(reply)")))
          }
          guard index == waiters.count - 1 else { return }
          _ = node.barrier.answered()
          self?.askBarrier(node)
        }
      }
    }

    /// Whoever waits on a lost connection is told so.
    func failBarrier(_ node: Node) {
      for waiter in node.barrier.removeAll() { waiter.then(.failure(.unavailable(until: nil))) }
    }
  }
#endif
