internal import EskerLog

extension Coherence {
  /// Identifies a read.
  struct FlightID: Hashable, Sendable {
    let key: RemoteKey
    let hash: UInt64
    let number: UInt64
  }

  /// A place in a read of the key by a view: the one that is under way, if it will see all that is known now, or a new one, for which
  /// the caller must call ``land(_:_:keep:)`` or not, and then ``leave(_:)``.
  func board<Shared: FlightObject>(
    _ key: RemoteKey,
    view: UInt64,
    _ make: () -> Shared
  ) -> (shared: Shared, new: FlightID?) {
    let hash = hash(of: key)
    return state.withLock { state in
      let number = state.nextID()
      let isHeld = state.held[hash] != nil
      return state.active.entering(hash, key) { active in
        let generation = domains.generation(key.domain)
        for flight in active.flights where flight.view == view && flight.isJoinable && flight.generation == generation {
          if let shared = flight.shared as? Shared { return (shared, nil) }
        }
        let shared = make()
        let isOvertaken = isHeld || active.write != nil
        active.flights.append(
          ActiveKey.Flight(
            id: number,
            view: view,
            generation: generation,
            shared: shared,
            mayKeep: !isOvertaken || faults.contains(.trustAtSend),
            isOvertaken: isOvertaken
          )
        )
        return (shared, FlightID(key: key, hash: hash, number: number))
      }
    }
  }

  /// Asks the store for a flight: whether what is near still has `version`, or, without one, for the value.
  ///
  /// `completion` is called on the store's thread, after the reply was judged.
  func ask(
    _ flight: FlightID,
    _ version: RemoteVersion?,
    seen: RemoteVersion? = nil,
    from source: RemoteSource = .owner,
    by deadline: RemoteInstant,
    then completion: @escaping @Sendable (Result<RemoteChecked, RemoteError>) -> Void
  ) {
    counters.asked.count()
    if let version {
      store.check(flight.key, version, by: deadline) { [self] result in
        completion(answered(flight, version, seen: version, result))
      }
    } else {
      store.get(flight.key, from: source, by: deadline) { [self] result in
        let result = result.map { Stamped(RemoteChecked.changed($0.reply), at: $0.stamp, isKeepable: $0.isKeepable) }
        completion(answered(flight, nil, seen: seen, result))
      }
    }
  }

  /// Judges a reply, in the order of messages.
  func answered(
    _ flight: FlightID,
    _ asked: RemoteVersion?,
    seen: RemoteVersion?,
    _ result: Result<Stamped<RemoteChecked>, RemoteError>
  ) -> Result<RemoteChecked, RemoteError> {
    guard case .success(let stamped) = result else { return result.map { $0.reply } }
    let stamp = stamped.stamp
    let version: RemoteVersion? =
      switch stamped.reply {
      case .same: asked
      case .changed(let value): value?.version
      case .different: nil
      }
    if case .same = stamped.reply { counters.same.count() }
    flight.key.bytes.withBytes { bytes in
      state.withLock { state in
        let isFresh =
          state.active.with(flight.hash, bytes) { active -> Bool in
            guard let index = active.flights.firstIndex(where: { $0.id == flight.number }) else { return false }
            var isFresh = stamped.isKeepable || faults.contains(.fillWhileSuspended)
            isFresh = isFresh && isCurrent(stamp, flight.key.domain) && active.flights[index].mayKeep
            if active.wasChanged(since: stamp), !faults.contains(.noFence) { isFresh = false }
            active.flights[index].reply = stamp
            active.flights[index].mayKeep = isFresh
            // Callers may see this reply before an older one is kept.
            if !faults.contains(.noOrder) {
              for other in active.flights.indices where other != index && active.flights[other].reply != nil {
                active.flights[other].mayKeep = false
              }
            }
            return isFresh
          } ?? false
        // What a caller sees is never followed by something else that was trusted before.
        if isFresh || !faults.contains(.unusedReply) {
          for tier in state.tiers { tier.distrust(bytes, unless: version, at: now()) }
          state.verified.remove(flight.hash, unless: version)
        }
        if isFresh, case .same = stamped.reply, let version {
          let generation = domains.generation(flight.key.domain)
          for tier in state.tiers { tier.trust(bytes, version, in: generation, at: now()) }
          state.verified.insert(flight.hash, version, in: generation)
        }
      }
    }
    if let seen, let version, seen.isLater(than: version) {
      counters.rolledBack.count()
      report(.rolledBack(flight.key.bytes))
    }
    return .success(stamped.reply)
  }

  /// Keeps what a flight read, as current if nothing that was reported since its reply forbids it; whether it is.
  ///
  /// - Parameter keep: called under the lock with the generation in which the copy is current; with 0 if it was when it was read, and may
  ///   not be any more. Not called if a write of our own came between.
  @discardableResult
  func land(_ flight: FlightID, _ version: RemoteVersion?, keep: (UInt32) -> Void) -> Bool {
    let isKept = flight.key.bytes.withBytes { bytes in
      state.withLock { state in
        let known = state.active.with(flight.hash, bytes) { $0.flights.first { $0.id == flight.number } } ?? nil
        guard let known, let reply = known.reply else { return false }
        guard known.mayKeep, isCurrent(reply, flight.key.domain) else {
          if !known.isOvertaken { keep(0) }
          return false
        }
        let generation = domains.generation(flight.key.domain)
        keep(generation)
        if let version { state.verified.insert(flight.hash, version, in: generation) }
        return true
      }
    }
    if isKept { counters.kept.count() } else { counters.notKept.count() }
    return isKept
  }

  /// Keeps in memory what was found in the log, if it is known to be current; whether it is.
  func landVerified(_ flight: FlightID, _ version: RemoteVersion, keep: (UInt32) -> Void) -> Bool {
    let domain = flight.key.domain
    return state.withLock { state in
      let generation = domains.generation(domain)
      guard domains.isTrusted(domain, generation, at: now()),
        state.verified.contains(flight.hash, version, in: generation)
      else { return false }
      keep(generation)
      return true
    }
  }

  /// Ends a flight: nobody joins it any more.
  func leave(_ flight: FlightID) {
    flight.key.bytes.withBytes { bytes in
      state.withLock { state in
        _ = state.active.with(flight.hash, bytes) { active in active.flights.removeAll { $0.id == flight.number } }
      }
    }
  }
}
