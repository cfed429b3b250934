internal import EskerLog

extension Coherence {
  /// Writes, once the writes of the same key that came before are over.
  ///
  /// - Parameters:
  ///   - keep: Keeps what was written, as current in a generation, or in 0 if it may not be any more; called under the lock, before
  ///     `completion`.
  ///   - completion: Called once, without a lock.
  func write(
    _ key: RemoteKey,
    _ action: RemoteAction,
    by deadline: RemoteInstant,
    keep: (@Sendable (UInt32) -> Void)? = nil,
    then completion: @escaping @Sendable (Result<WriteOutcome, RemoteError>) -> Void
  ) {
    let hash = hash(of: key)
    var effects = CoherenceEffects()
    state.withLock { state in
      let write = PendingWrite(
        id: RemoteWriteID(state.nextID()),
        action: action,
        deadline: deadline,
        keep: keep,
        completion: completion
      )
      guard state.waitingCount < Self.waitingLimit else {
        return effects.add { completion(.failure(.unavailable(until: nil))) }
      }
      let mustWait = state.active.entering(hash, key) { active in
        if active.write == nil || faults.contains(.twoWrites) {
          active.write = write
          return false
        }
        active.waiting.append(write)
        return true
      }
      if mustWait {
        state.waitingCount += 1
      } else {
        begin(key, hash, &state)
        effects.add { [self] in send(write, key, hash) }
      }
    }
    effects.run()
  }

  /// Ends the trust in near copies, ahead of the sending.
  private func begin(_ key: RemoteKey, _ hash: UInt64, _ state: inout State) {
    if !faults.contains(.trustAtSend) { distrust(key, hash, &state) }
    for index in state.confirming.indices where state.confirming[index].key == key {
      state.confirming[index].keep = nil
    }
  }

  private func distrust(_ key: RemoteKey, _ hash: UInt64, _ state: inout State) { distrust(key.bytes, hash, &state) }

  func distrust(_ key: [UInt8], _ hash: UInt64, _ state: inout State) {
    state.verified.remove(hash)
    key.withBytes { bytes in
      _ = state.active.with(hash, bytes) { $0.detachFlights() }
      for tier in state.tiers { tier.distrust(bytes, unless: nil, at: now()) }
    }
  }

  /// Sends a write that has waited, and those whose turn comes before that has returned.
  private func sendWaiting(_ first: PendingWrite, _ key: RemoteKey, _ hash: UInt64) {
    var next: PendingWrite? = first
    while let write = next {
      send(write, key, hash)
      next = key.bytes.withBytes { bytes in
        state.withLock { state in state.active.with(hash, bytes) { $0.nextToSend() } ?? nil }
      }
    }
  }

  private func send(_ write: PendingWrite, _ key: RemoteKey, _ hash: UInt64) {
    let done: RemoteCompletion<RemoteWritten> = { [self] result in
      completed(write, key, hash, result.map { Stamped(.written($0.reply), at: $0.stamp, isKeepable: $0.isKeepable) })
    }
    switch write.action {
    case .set(let value, let condition):
      store.set(key, value, if: condition, as: write.id, by: write.deadline, then: done)
    case .remove(let condition):
      store.remove(key, if: condition, as: write.id, by: write.deadline, then: done)
    case .touch(let envelope, let condition):
      store.touch(key, envelope, if: condition, as: write.id, by: write.deadline, then: done)
    case .apply(let intent):
      store.apply(key, intent, as: write.id, by: write.deadline) { [self] result in
        completed(write, key, hash, result.map { Stamped(.applied($0.reply), at: $0.stamp, isKeepable: $0.isKeepable) })
      }
    }
  }

  /// Judges the reply to a write, in the order of messages.
  private func completed(
    _ write: PendingWrite,
    _ key: RemoteKey,
    _ hash: UInt64,
    _ result: Result<Stamped<WriteOutcome>, RemoteError>
  ) {
    var effects = CoherenceEffects()
    state.withLock { state in
      switch result {
      case .failure(.unknownOutcome):
        counters.unknownOutcomes.count()
        doubt(key, &state)
        effects.add { write.completion(.failure(.unknownOutcome)) }
        // Busy until it is settled: NOLOOP means that nobody else will ever tell.
        state.abandoned[write.id.number] = key
        if faults.contains(.forgetOnTimeout) { end(write.id, key, hash, &state, &effects) }
      case .failure(let error):
        effects.add { write.completion(.failure(error)) }
        end(write.id, key, hash, &state, &effects)
      case .success(let stamped):
        judge(stamped, write, key, hash, &state, &effects)
        end(write.id, key, hash, &state, &effects)
      }
    }
    effects.run()
  }

  private func judge(
    _ stamped: Stamped<WriteOutcome>,
    _ write: PendingWrite,
    _ key: RemoteKey,
    _ hash: UInt64,
    _ state: inout State,
    _ effects: inout CoherenceEffects
  ) {
    let outcome = stamped.reply
    guard outcome.isDone else {
      switch outcome {
      case .applied(.already): forget(key, &state)
      // Whoever tries again, since something else is there, must find that.
      case .written(.refused(let found)): doubt(key, unless: found.version, &state)
      case .written, .applied: break
      }
      return effects.add { write.completion(.success(outcome)) }
    }
    guard isCurrent(stamped.stamp, key.domain) else {
      // A primary that slept says yes to writes that are lost: it counts once the owner is known to be the same.
      if stamped.stamp.generation == domains.generation(key.domain) {
        state.confirming.append(
          Confirming(
            key: key,
            generation: stamped.stamp.generation,
            deadline: write.deadline,
            outcome: outcome,
            keep: write.keep,
            completion: write.completion
          )
        )
      } else {
        counters.unknownOutcomes.count()
        doubt(key, &state)
        effects.add { write.completion(.failure(.unknownOutcome)) }
      }
      return
    }
    forget(key, &state)
    let wasChanged =
      key.bytes.withBytes { bytes in
        state.active.with(hash, bytes) {
          $0.detachFlights(); return $0.wasChanged(since: stamped.stamp)
        }
      } ?? false
    let isOwn = isUnderWay(write.id, key, hash, &state) || !faults.isDisjoint(with: [.twoWrites, .forgetOnTimeout])
    let isHeld = state.held[hash] != nil
    if stamped.isKeepable, isOwn, !wasChanged, !isHeld, !outcome.isEchoed || faults.contains(.ignoreEcho) {
      write.keep?(domains.generation(key.domain))
      if case .set(let value, _) = write.action, let version = value.version, write.keep != nil {
        state.verified.insert(hash, version, in: domains.generation(key.domain))
      }
    } else if isOwn, !isHeld {
      write.keep?(0)
    }
    notifyOwn(key, hash, &state, &effects)
    effects.add { write.completion(.success(outcome)) }
  }

  /// Tells observers and those who wait of a write of our own, which the store does not.
  private func notifyOwn(_ key: RemoteKey, _ hash: UInt64, _ state: inout State, _ effects: inout CoherenceEffects) {
    if state.isObserved { effects.add { [report] in report(.changed(key.bytes)) } }
    effects.end(state.watches.of(hash))
  }

  private func isUnderWay(_ write: RemoteWriteID, _ key: RemoteKey, _ hash: UInt64, _ state: inout State) -> Bool {
    key.bytes.withBytes { bytes in state.active.with(hash, bytes) { $0.write?.id == write } } ?? false
  }

  /// The key is no longer busy with a write; the next one begins.
  private func end(
    _ write: RemoteWriteID,
    _ key: RemoteKey,
    _ hash: UInt64,
    _ state: inout State,
    _ effects: inout CoherenceEffects
  ) {
    let next = key.bytes.withBytes { bytes in
      state.active.with(hash, bytes) { active -> (isThere: Bool, toSend: PendingWrite?) in
        guard active.write?.id == write else { return (false, nil) }
        active.detachFlights()
        let toSend = active.succeed()
        return (active.write != nil, toSend)
      }
    }
    guard let next, next.isThere else { return }
    state.waitingCount -= 1
    begin(key, hash, &state)
    if let write = next.toSend { effects.add { [self] in sendWaiting(write, key, hash) } }
  }

  /// A write whose caller gave up has an outcome: the key is no longer busy.
  func settled(_ write: RemoteWriteID, _ outcome: RemoteOutcome) {
    var effects = CoherenceEffects()
    state.withLock { state in
      guard let key = state.abandoned.removeValue(forKey: write.number) else { return }
      let hash = hash(of: key)
      switch outcome {
      case .answered(.done, _), .applied(.applied, _), .applied(.already, _):
        forget(key, &state)
        notifyOwn(key, hash, &state, &effects)
      case .answered(.refused, _), .applied(.superseded, _), .notExecuted, .lost: break
      }
      end(write, key, hash, &state, &effects)
    }
    effects.run()
  }

  /// Tells the callers whose deadline has passed of writes that were not confirmed, or, of a key, not sent yet. Each write has its own
  /// timer, so no other key needs to be looked at.
  func expire(_ key: RemoteKey) {
    let now = now()
    let hash = hash(of: key)
    var effects = CoherenceEffects()
    state.withLock { state in
      settleConfirming(&state, &effects) { $0.deadline <= now ? .failure(.unknownOutcome) : nil }
      guard state.waitingCount > 0 else { return }
      var dropped = 0
      key.bytes.withBytes { bytes in
        _ = state.active.with(hash, bytes) { active in
          active.waiting.keep { write in
            guard write.deadline <= now else { return true }
            dropped += 1
            effects.add { write.completion(.failure(.timedOut)) }
            return false
          }
        }
      }
      state.waitingCount -= dropped
    }
    effects.run()
  }

  /// Completes the writes that wait for confirmation and for which `judge` has a result.
  func settleConfirming(
    _ state: inout State,
    _ effects: inout CoherenceEffects,
    _ judge: (Confirming) -> Result<WriteOutcome, RemoteError>?
  ) {
    if state.confirming.isEmpty { return }
    var settled: [(item: Confirming, result: Result<WriteOutcome, RemoteError>)] = []
    state.confirming.removeAll { item in
      guard let result = judge(item) else { return false }
      settled.append((item, result))
      return true
    }
    for (item, result) in settled {
      switch result {
      case .success:
        forget(item.key, &state)
        item.keep?(0)
        notifyOwn(item.key, hash(of: item.key), &state, &effects)
      case .failure:
        counters.unknownOutcomes.count()
        doubt(item.key, &state)
      }
      effects.add { item.completion(result) }
    }
  }

  // MARK: What is older than a write

  private func forget(_ key: RemoteKey, _ state: inout State) {
    if faults.contains(.keepReplaced) { return }
    state.noteWrite(key, at: now())
    key.bytes.withBytes { bytes in for tier in state.tiers { tier.forget(bytes) } }
  }

  /// After a write that may have been made.
  private func doubt(_ key: RemoteKey, _ state: inout State) {
    state.noteWrite(key, at: now())
    doubt(key, unless: nil, &state)
  }

  private func doubt(_ key: RemoteKey, unless version: RemoteVersion?, _ state: inout State) {
    if faults.contains(.neverDoubt) { return }
    key.bytes.withBytes { bytes in for tier in state.tiers { tier.doubt(bytes, unless: version) } }
  }
}
