#if Redis
  internal import EskerRemote
  internal import Logging

  // A server may hold writes back and answer reads: `CLIENT PAUSE … WRITE`, also while a replica takes over as planned. It answers
  // nothing then that was sent on a connection behind a write, heartbeats included. So another connection takes the place of the main
  // one, and the writes stay on the former until they are answered.
  //
  // Heartbeats must be on the connection by which changes are reported: their replies prove that what was reported before them has come.
  // What the former connection may have reported and not delivered is not known, so all that was learnt by it is checked.
  extension Client {
    /// The write on a connection that has not been answered for so long that others must not stand behind it.
    private func heldWrite(_ connection: Connection, _ now: RemoteInstant) -> Request? {
      guard let write = connection.heldWrite else { return nil }
      let usual = Duration.nanoseconds(Int64(clamping: connection.node.roundTripNanoseconds ?? 0))
      return now >= connection.quietSince.advanced(by: configuration.heartbeat / 2 + usual) ? write : nil
    }

    /// Connects once more if the main connection stands still behind a write. A server that answers nothing does not answer the
    /// handshake either, and keeps its connection.
    func replaceHeld(_ node: Node, _ now: RemoteInstant) {
      guard node.lanes[.spare] == nil, node.lanes[.held] == nil, now >= node.nextSpare, let main = node.ready,
        let write = heldWrite(main, now)
      else { return }
      node.heldWrite = write
      node.nextSpare = now.advanced(by: configuration.heartbeat)
      connect(node, .spare)
    }

    /// A spare connection takes the place of the main one, if that still stands still behind the same write; whether it does.
    func takePlace(_ spare: Connection) -> Bool {
      let node = spare.node
      guard let write = node.heldWrite.take(), let main = node.ready, main.heldWrite === write else { return false }
      let writes = main.awaitedWrites.filter { $0.generation == table.generations[Int($0.slot)] }
      let reads = main.setAside()
      node.lanes[.spare] = nil
      node.lanes[.held] = main
      spare.takePlace()
      node.lanes[.main] = spare
      loseTrust(in: node, "writes are held back")
      // Whether their answers count is a question of who the owner is, as after any lease, and not of what was reported.
      for write in writes { write.generation = table.generations[Int(write.slot)] }
      for read in reads {
        if read.state == .sent { read.waitAgain() }
        parked.append(read)
      }
      logger.notice("writes are held back", metadata: ["server": "\(node.address)"])
      return true
    }

    /// The connection of writes that are held back, for another write: it is held back, too.
    func holder(for request: Request, _ node: Node, _ now: RemoteInstant) -> Connection? {
      guard request.kind == .write, let held = node.lanes[.held], heldWrite(held, now) != nil else { return nil }
      return held
    }

    /// Closes a connection whose writes have been answered. Whether it is left alone otherwise, since somebody still waits for one: the
    /// server takes as long as it was told to.
    func tendHeld(_ connection: Connection) -> Bool {
      guard connection.inFlight > 0 || connection.queued > 0 else {
        connection.close("writes are not held back any more")
        return true
      }
      return connection.hasRequests
    }
  }
#endif
