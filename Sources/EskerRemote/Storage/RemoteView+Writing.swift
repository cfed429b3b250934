internal import Esker
internal import EskerLog

extension RemoteView {
  nonisolated(nonsending) func write(
    _ key: Key,
    _ call: StorageCall.Write<Value>
  ) async throws(StorageError) -> StorageCall.Receipt {
    if Task.isCancelled { throw .cancelled }
    if let queue = tiers.queue(name) {
      if options.queue != nil, call.condition == .always, let receipt = try await enqueue(key, call, in: queue) {
        return receipt
      }
      // What was queued before comes before, and conditions are about it.
      try await queue.settled(try remote(key).bytes, within: options.hardTimeout)
    }
    guard call.durability == nil else { throw .unsupported(operation: "promise a durability", view: name) }
    let held = try held(key)
    let remote = try remote(key)
    guard let condition = try await condition(call.condition, key, held) else {
      return StorageCall.Receipt(isDone: false)
    }
    let version = tiers.nextVersion(remote.domain)
    switch call.action {
    case .set(let value):
      let envelope = RemoteEnvelope(version: version, expiry: expiry(call.expiry, remote.domain, isJittered: true))
      let stored = try encoded(value, envelope)
      guard stored.stored.count <= tiers.store.valueLimit else {
        throw RemoteError.tooLarge(size: stored.stored.count, limit: tiers.store.valueLimit).told(by: name)
      }
      let outcome = try await submit(remote, .set(stored, condition)) { [self] generation in
        keep(value, stored, held, remote.domain, in: generation)
        log?.keep(stored, forKey: key)
      }
      return receipt(outcome, envelope)
    case .remove:
      let outcome = try await submit(remote, .remove(condition)) { [self] generation in
        keep(nil, nil, held, remote.domain, in: generation)
        log?.keep(nil, forKey: key)
      }
      return receipt(outcome, nil)
    case .touch, .extend:
      if case .extend = call.action, try await hasLongEnough(key, call.expiry) {
        return StorageCall.Receipt(isDone: true, wasThere: true)
      }
      let envelope = RemoteEnvelope(version: version, expiry: expiry(call.expiry, remote.domain, isJittered: false))
      let present = condition == .always ? .present : condition
      return receipt(try await submit(remote, .touch(envelope, present), keep: nil), envelope)
    }
  }

  /// The condition as the server checks it; nil if it is known not to hold.
  private nonisolated(nonsending) func condition(
    _ condition: StorageCall.Condition,
    _ key: Key,
    _ held: Key.Held
  ) async throws(StorageError) -> RemoteCondition? {
    switch condition {
    case .always: return .always
    case .absent: return .absent
    case .present: return .present
    case .version(let number):
      // The number is a digest; the server compares all of the version.
      if let version = cache.look(held)?.value.version, version.digest == number.rawValue { return .version(version) }
      guard let version = try await find(key)?.version, version.digest == number.rawValue else { return nil }
      return .version(version)
    }
  }

  private func encoded(_ value: Value, _ envelope: RemoteEnvelope) throws(StorageError) -> RemoteValue {
    try encodedPayload(value).withBytes { RemoteValue(envelope, payload: $0) }
  }

  func encodedPayload(_ value: Value) throws(StorageError) -> [UInt8] {
    do { return try values.encode(value) } catch {
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
    case .success(let outcome): return outcome
    case .failure(let error): throw error.told(by: name)
    }
  }

  private func receipt(_ outcome: WriteOutcome, _ envelope: RemoteEnvelope?) -> StorageCall.Receipt {
    guard outcome.isDone, case .written(.done(_, let wasThere)) = outcome else {
      return StorageCall.Receipt(isDone: false)
    }
    return StorageCall.Receipt(
      isDone: true,
      wasThere: wasThere ?? false,
      version: envelope.map { SequenceNumber(rawValue: $0.version.digest) },
      expiry: Expiry(remote: envelope?.expiry ?? 0)
    )
  }
}
