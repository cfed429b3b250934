internal import Esker
internal import EskerLog

extension RemoteView {
  /// - Parameters:
  ///   - tags: names of tags that a value gets.
  ///   - began: when the value began to be made; 0: with the call.
  nonisolated(nonsending) func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>,
    _ tags: [String],
    began: UInt64
  ) async throws(StorageError) -> StorageRequest.Receipt {
    if Task.isCancelled { throw .cancelled }
    if let queue = tiers.queue(name) {
      if options.queue != nil, call.condition == .always {
        // The versions of tags have to be known before.
        if case .set = call.action, !tags.isEmpty { throw .unsupported(operation: "queue what has tags", view: name) }
        if let receipt = try await enqueue(key, call, in: queue) { return receipt }
      }
      // What was queued before comes before, and conditions are about it.
      try await queue.settled(try remote(key).bytes, within: options.hardTimeout)
    }
    guard call.durability == nil else { throw .unsupported(operation: "promise a durability", view: name) }
    let held = try held(key)
    let remote = try remote(key, held)
    guard let (condition, base) = try await condition(call.condition, key, held) else {
      return StorageRequest.Receipt(isDone: false)
    }
    switch call.action {
    case .set(let value):
      return try await set(value, key, held, remote, call, condition) { version throws(StorageError) in
        try await tagList(tags, replacing: base, began: began, version: version)
      }
    case .remove:
      let began = core.now()
      let outcome = try await submit(remote, .remove(condition)) { [self] generation in
        keep(nil, nil, held, remote.domain, cost: 1, in: generation, since: began)
      }
      return receipt(outcome, nil)
    case .touch, .extend:
      if case .extend = call.action, try await hasLongEnough(key, call.expiry) {
        return StorageRequest.Receipt(isDone: true, wasThere: true)
      }
      let version = tiers.nextVersion(remote.domain)
      let envelope = RemoteEnvelope(version: version, expiry: expiry(call.expiry, remote.domain, isJittered: false))
      let present = condition == .always ? .present : condition
      let outcome = try await submit(remote, .touch(envelope, present), keep: nil)
      if options.foreignValues == .decoded, case .written(.refused(.foreign)) = outcome {
        throw .unsupported(operation: "give what another program stored an expiry", view: name)
      }
      return receipt(outcome, envelope)
    }
  }

  /// Stores a value. Something that its tags have made invalid counts as absent.
  private nonisolated(nonsending) func set(
    _ value: Value,
    _ key: Key,
    _ held: Key.Held,
    _ remote: RemoteKey,
    _ call: StorageRequest.Write<Value>,
    _ condition: RemoteCondition,
    _ tags: nonisolated(nonsending) (RemoteVersion) async throws(StorageError) -> [RemoteTag]
  ) async throws(StorageError) -> StorageRequest.Receipt {
    var condition = condition
    let cost = cost(of: value)
    while true {
      let version = tiers.nextVersion(remote.domain)
      let envelope = RemoteEnvelope(version: version, expiry: expiry(call.expiry, remote.domain, isJittered: true))
      let stored = try encoded(value, key, envelope, try await tags(version))
      guard stored.stored.count <= tiers.store.valueLimit else {
        throw RemoteError.tooLarge(size: stored.stored.count, limit: tiers.store.valueLimit).storageError(of: name)
      }
      let began = core.now()
      let outcome = try await submit(remote, .set(stored, condition)) { [self] generation in
        if keep(value, stored, held, remote.domain, cost: cost, in: generation, since: began) {
          log?.keep(stored, forKey: near(remote))
        }
      }
      guard call.condition == .absent, case .written(.refused(let found)) = outcome else {
        return receipt(outcome, envelope)
      }
      switch found {
      case .absent where condition != .absent: condition = .absent
      case .version where self.tags != nil:
        guard let version = try await invalidVersion(key) else { return receipt(outcome, envelope) }
        condition = .version(version)
      default: return receipt(outcome, envelope)
      }
    }
  }

  /// The condition as the server checks it, and the tags of the value that is replaced; nil if it is known not to hold.
  private nonisolated(nonsending) func condition(
    _ condition: StorageRequest.Condition,
    _ key: Key,
    _ held: Key.Held
  ) async throws(StorageError) -> (condition: RemoteCondition, tags: [RemoteTag])? {
    switch condition {
    case .always: return (.always, [])
    case .absent: return (invalid(held)?.version.map { .version($0) } ?? .absent, [])
    case .present: return invalid(held) == nil ? (.present, []) : nil
    case .version(let number):
      // The number is a digest; the server compares all of the version.
      if let copy = cache.look(held)?.value, let version = copy.version, version.digest == number.rawValue {
        return standing(of: copy, at: core.now()) == .invalid ? nil : (.version(version), copy.tags)
      }
      guard let found = try await find(key), let version = found.version, version.digest == number.rawValue else {
        return nil
      }
      return (.version(version), found.tags)
    }
  }

  /// What is known to be there, although its tags have made it invalid.
  private func invalid(_ held: Key.Held) -> HeldCopy<Value>? {
    let now = core.now()
    guard tags != nil, let copy = trusted(held, at: now), standing(of: copy, at: now) == .invalid else { return nil }
    return copy
  }

  private func encoded(
    _ value: Value,
    _ key: Key,
    _ envelope: RemoteEnvelope,
    _ tags: [RemoteTag]
  ) throws(StorageError) -> RemoteValue {
    try encodedPayload(value, key).withBytes { RemoteValue(envelope, tags: tags, payload: $0) }
  }

  func encodedPayload(_ value: Value, _ key: Key) throws(StorageError) -> [UInt8] {
    do { return try values.encode(value, forKey: try keys.encode(key), in: name) } catch {
      throw .encoding(view: name, type: "\(Value.self)", underlying: error)
    }
  }

  /// By the server's clock; 0 for never.
  func expiry(_ expiry: Expiry?, _ domain: UInt16, isJittered: Bool) -> UInt64 {
    switch expiry ?? options.defaultExpiry.map({ .after($0) }) ?? .never {
    case .never: return 0
    case .at(let instant): return UInt64(clamping: max(1, instant.millisecondsSince1970))
    case .after(let life):
      var milliseconds = life.wholeMilliseconds
      if isJittered, options.jitter > 0 {
        let part = Double.random(in: 0...min(1, options.jitter))
        milliseconds -= min(milliseconds, UInt64(Double(min(milliseconds, 1 << 48)) * part))
      }
      let (end, overflow) = tiers.milliseconds(domain).addingReportingOverflow(milliseconds)
      return overflow ? 0 : max(1, end)
    }
  }

  /// Whether an extension would gain less than an eighth of the duration.
  private nonisolated(nonsending) func hasLongEnough(
    _ key: Key,
    _ expiry: Expiry?
  ) async throws(StorageError) -> Bool {
    guard case .after(let life) = expiry, let found = try await find(key) else { return false }
    guard case .at(let end) = found.expiry else { return true }
    let now = tiers.milliseconds(try remote(key).domain)
    let left = UInt64(clamping: end.millisecondsSince1970)
    return left > now && (left - now) / 7 >= life.wholeMilliseconds / 8
  }

  private nonisolated(nonsending) func submit(
    _ key: RemoteKey,
    _ action: RemoteAction,
    keep: (@Sendable (UInt32) -> Void)?
  ) async throws(StorageError) -> WriteOutcome {
    switch await core.write(key, action, within: options.hardTimeout, keep: keep) {
    case .success(let outcome):
      // No older copy is found after a restart.
      if outcome.isDone { await tiers.copies.settled(near(key), of: name) }
      return outcome
    case .failure(let error): throw error.storageError(of: name)
    }
  }

  private func receipt(_ outcome: WriteOutcome, _ envelope: RemoteEnvelope?) -> StorageRequest.Receipt {
    guard outcome.isDone, case .written(.done(_, let wasThere)) = outcome else {
      return StorageRequest.Receipt(isDone: false)
    }
    return StorageRequest.Receipt(
      isDone: true,
      wasThere: wasThere ?? false,
      version: envelope.map { SequenceNumber(rawValue: $0.version.digest) },
      expiry: Expiry(remote: envelope?.expiry ?? 0)
    )
  }
}
