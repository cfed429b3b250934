internal import Esker
internal import EskerLog

extension RemoteQueue {
  /// How long one attempt may take.
  private static let attempt = Duration.seconds(5)

  /// Leases of domains have begun or go on.
  func leased(_ range: Range<UInt16>) {
    state.withLock { state in
      state.book.wake(range)
      guard !state.isConnected else { return }
      state.isConnected = true
      for key in state.book.entries.keys { state.book.line(up: key, in: domain(of: key)) }
    }
    pump()
  }

  private func domain(of key: [UInt8]) -> UInt16 { key.withBytes { core.store.domain(of: $0) } }

  /// Begins as many replays as may be under way, and gives up what is too old.
  func pump(liningUp key: [UInt8]? = nil) {
    let now = core.now()
    var taken: [(key: [UInt8], domain: UInt16, entry: QueueBook.Entry)] = []
    var tooOld: [(key: [UInt8], record: SequenceNumber)] = []
    state.withLock { state in
      if state.isStopped { return }
      // Before what is too old is looked for: it must not be replayed after a rest.
      let rested = state.book.endRests(at: now)
      let limit = Int64(clamping: now.nanoseconds).subtractingReportingOverflow(nanoseconds(options.ageLimit))
      while let old = state.book.takeTooOld(since: limit.overflow ? .min : limit.partialValue) { tooOld.append(old) }
      if state.isConnected {
        for key in rested { state.book.line(up: key, in: domain(of: key)) }
        if let key { state.book.line(up: key, in: domain(of: key)) }
        let isLeased = { [domains = core.domains] domain in
          domains.isTrusted(domain, domains.generation(domain), at: now)
        }
        while let next = state.book.next(atMost: max(1, options.concurrency), isLeased: isLeased) { taken.append(next) }
      }
      schedule(&state, now)
    }
    for old in tooOld { Task { await giveUp(old.key, old.record) } }
    for next in taken { Task { await replay(core.store.key(next.key), next.entry) } }
  }

  /// Sees to it that somebody comes back when a rest ends or the oldest is too old.
  private func schedule(_ state: inout State, _ now: RemoteInstant) {
    var end = state.book.nextEnd ?? .distantFuture
    if let oldest = state.book.oldest(), oldest.entry.canBeGivenUp {
      let tooOld = oldest.entry.since.addingReportingOverflow(nanoseconds(options.ageLimit))
      if !tooOld.overflow { end = min(end, RemoteInstant(nanoseconds: UInt64(clamping: tooOld.partialValue))) }
    }
    if let timer = state.timer {
      if timer.end == end, end > now { return }
      timer.task.cancel()
      state.timer = nil
    }
    guard end != .distantFuture else { return }
    let pause = end.duration(since: now) + .milliseconds(5)
    let task = Task { [weak self] in
      if (try? await Task.sleep(for: pause)) != nil { self?.timerRang() }
    }
    state.timer = (end, task)
  }

  private func timerRang() {
    state.withLock { $0.timer = nil }
    pump()
  }

  private func nanoseconds(_ duration: Duration) -> Int64 {
    Int64(clamping: RemoteInstant(nanoseconds: 0).advanced(by: duration).nanoseconds)
  }

  // MARK: One key

  /// Asks the owner to apply what waits of a key, and removes the record once it has answered.
  private func replay(_ key: RemoteKey, _ entry: QueueBook.Entry) async {
    let found: Entry<QueuedRecord>?
    do throws(StorageError) { found = try await records.asyncRead(key.bytes, StorageRequest.Read()) } catch {
      return cannotRead(key, entry, error)
    }
    guard let found, let sequence = found.version else {
      // Somebody has emptied the keyspace.
      return leave(key, entry.record)
    }
    if core.faults.contains(.removeEarly) { _ = try? await removeRecord(key, sequence) }
    let left = core.faults.contains(.forgetBase) ? nil : entry.left
    var intent = found.value.intent(on: left ?? found.value.base, at: clock.milliseconds(key.domain))
    if core.faults.contains(.newVersionAtReplay) { intent = renewed(intent, key.domain) }
    switch await core.write(key, .apply(intent), within: Self.attempt) {
    case .success(.applied(let applied)): await answered(key, sequence, intent, applied)
    case .success(.written): failed(key, .unsupported("replay"))
    case .failure(let error):
      state.withLock { $0.book.doubt(key.bytes, found.value.value) }
      failed(key, error)
    }
  }

  private func answered(
    _ key: RemoteKey,
    _ record: SequenceNumber,
    _ intent: RemoteIntent,
    _ applied: RemoteApplied
  ) async {
    var loss: RemoteLoss?
    var base: QueuedBase?
    switch applied {
    case .applied, .already:
      base = intent.value.map { QueuedBase(found: .version(intent.version), expiry: $0.expiry) }
      base = base ?? QueuedBase(found: .absent)
    case .superseded(let found):
      loss = .superseded(by: found)
      if found == .absent { base = QueuedBase(found: .absent) }
      if case .version(let version) = found { clock.follow(version, key.domain) }
    }
    // Who writes from now on, or has begun to, must not take for known what was there before.
    await near(key.bytes, loss == nil ? intent.value : nil)
    if let base { state.withLock { $0.book.rebase(key.bytes, on: base) } }
    let isRemoved: Bool
    do throws(StoreError) { isRemoved = try await removeRecord(key, record) } catch {
      // It is applied again, which finds that it was done.
      return failed(key, .notExecuted("\(error)"))
    }
    let isGone = state.withLock { state in
      state.book.forgive(key.domain)
      if loss == nil { state.book.outcomes.applied += 1 } else { state.book.outcomes.superseded += 1 }
      if isRemoved, state.book.settle(key.bytes, record) { return true }
      // A newer one was written meanwhile.
      state.book.putDown(key.bytes)
      return false
    }
    if isGone { core.release(key.bytes) }
    if let loss { notify(key.bytes, loss) }
    ended(key)
  }

  private func removeRecord(_ key: RemoteKey, _ record: SequenceNumber) async throws(StoreError) -> Bool {
    if core.faults.contains(.removeUnseen) {
      return try await records.keyspace.async.remove(key.bytes, durability: .buffered)
    }
    return try await records.keyspace.async.remove(key.bytes, ifVersion: record, durability: .buffered)
  }

  /// An error that is planted: a second replay does not find that the first one was made.
  private func renewed(_ intent: RemoteIntent, _ domain: UInt16) -> RemoteIntent {
    let version = clock.next(domain)
    let value = intent.value.map { value in
      Array(value.payload).withBytes {
        RemoteValue(RemoteEnvelope(version: version, expiry: value.expiry), payload: $0)
      }
    }
    return RemoteIntent(value, version: version, base: intent.base)
  }

  /// An attempt failed. What passes is waited for; what the owner refuses must not hinder others.
  private func failed(_ key: RemoteKey, _ error: RemoteError) {
    let now = core.now()
    let isFirst = state.withLock { state in
      state.book.outcomes.retries += 1
      state.book.putDown(key.bytes)
      if error.isPassing || error == .stopped {
        state.book.rest(key.domain) { now.advanced(by: pause(after: $0)) }
        return false
      }
      state.book.rest(key.bytes) { now.advanced(by: pause(after: $0)) }
      return state.book.entries[key.bytes]?.refusals == 1
    }
    if isFirst { notify(key.bytes, .refused(error)) }
    ended(key)
  }

  private func pause(after failures: Int) -> Duration {
    let longest = min(options.greatestPause, .milliseconds(20) * (1 << min(failures - 1, 16)))
    return longest * Double.random(in: 0.5...1)
  }

  private func cannotRead(_ key: RemoteKey, _ entry: QueueBook.Entry, _ error: StorageError) {
    switch error {
    case .store(.closed), .store(.keyspaceRemoved): end(key)
    case .store(.damaged), .decoding: unreadable(key, entry.record)
    default: failed(key, .notExecuted("\(error)"))
    }
  }

  /// The log is of no use any more, so nothing more comes of the queue.
  private func end(_ key: RemoteKey) {
    halt()
    state.withLock { $0.book.putDown(key.bytes) }
    ended(key)
  }

  private func unreadable(_ key: RemoteKey, _ record: SequenceNumber) {
    state.withLock { $0.book.outcomes.failed += 1 }
    notify(key.bytes, .unreadable)
    leave(key, record)
  }

  /// What has waited too long is removed, unless something newer was written.
  private func giveUp(_ key: [UInt8], _ record: SequenceNumber) async {
    let key = core.store.key(key)
    // It may have been made.
    await near(key.bytes, nil)
    let isRemoved: Bool
    do throws(StoreError) {
      isRemoved = try await records.keyspace.async.remove(key.bytes, ifVersion: record, durability: .buffered)
    } catch {
      return cannotGiveUp(key, record, error)
    }
    if isRemoved { state.withLock { $0.book.outcomes.failed += 1 } }
    leave(key, record, isRemoved: isRemoved)
    if isRemoved { notify(key.bytes, .tooOld) }
  }

  private func cannotGiveUp(_ key: RemoteKey, _ record: SequenceNumber, _ error: StoreError) {
    switch error {
    case .closed, .keyspaceRemoved: end(key)
    case .damaged: unreadable(key, record)
    default:
      // The log may be full.
      let now = core.now()
      state.withLock { state in
        state.book.outcomes.retries += 1
        state.book.putDown(key.bytes)
        state.book.rest(key.bytes, isStuck: true) { now.advanced(by: pause(after: $0)) }
      }
      ended(key)
    }
  }

  /// The record is of no use any more.
  private func leave(_ key: RemoteKey, _ record: SequenceNumber, isRemoved: Bool = true) {
    let isGone = state.withLock { state in
      if isRemoved, state.book.settle(key.bytes, record) { return true }
      state.book.putDown(key.bytes)
      return false
    }
    if isGone { core.release(key.bytes) }
    ended(key)
  }

  private func ended(_ key: RemoteKey) {
    grant(key.bytes)
    pump(liningUp: key.bytes)
  }
}
