#if Redis
  internal import EskerRemote

  /// How far a server is in the history of writes that all its replicas repeat.
  struct ReplicationPlace: Sendable {
    /// The name of the history.
    var history: String
    /// How much of it has been executed.
    var offset: UInt64

    /// From INFO, of a primary or of a replica; nil if that says neither.
    init?(_ info: InfoText) {
      let name = info["role"] == "master" ? "master_repl_offset" : "slave_repl_offset"
      guard let history = info["master_replid"], let offset = info.number(name) else { return nil }
      self.history = history
      self.offset = offset
    }
  }

  /// Where a primary was when it was asked, at the earliest, and had a lease.
  struct WitnessedPlace: Sendable {
    var place: ReplicationPlace
    var instant: RemoteInstant
    /// The last generation then.
    var generation: UInt32
  }

  extension Client {
    /// Called on any thread.
    func observeReplicas() { loop.execute { self.observesReplicas = true } }

    /// When what a server has was what the owner of a slot had, or later: it has come as far in the same history as the owner had at its
    /// last heartbeat. Nil if that cannot be shown.
    ///
    /// It must not be another history that is as long: a former primary may have come further than the one that replaced it, with writes
    /// that are lost. Nor may the slot have come to the owner since.
    func instant(of slot: UInt16, _ info: InfoText) -> RemoteInstant? {
      let owner = table.owner(Int(slot))
      guard owner >= 0, let known = nodes[owner].witnessed, known.generation >= table.assigned(Int(slot)),
        let place = ReplicationPlace(info), place.history == known.place.history, place.offset >= known.place.offset
      else { return nil }
      return known.instant
    }

    /// The owner if it has a lease, otherwise one of its replicas.
    func routeAnywhere(_ request: Request, _ now: RemoteInstant) {
      let owner = table.owner(Int(request.slot))
      guard owner >= 0 else { return parked.append(request) }
      let main = nodes[owner].ready
      if let main, table.lease(Int(request.slot)) > now.nanoseconds { return main.send(request, for: self) }
      if let address = nodes[owner].replicas.randomElement() {
        lane(.reader, of: node(at: address)).send(request, for: self)
      } else if let main {
        main.send(request, for: self)
      } else {
        parked.append(request)
      }
    }
  }
#endif
