internal import Esker
internal import EskerLog

/// What a read found in a queue: an entry, or that the key was removed.
struct QueuedEntry<Value> {
  var entry: RemoteEntry<Value>?
}

extension RemoteView {
  /// What waits of a key; nil if nothing does.
  nonisolated(nonsending) func queued(
    _ key: Key,
    _ remote: RemoteKey,
    in queue: RemoteQueue
  ) async throws(StorageError) -> QueuedEntry<Value>? {
    guard let record = try await queue.record(remote.bytes) else { return nil }
    guard let value = record.value, value.expiry == 0 || tiers.milliseconds(remote.domain) < value.expiry else {
      return QueuedEntry(entry: nil)
    }
    return QueuedEntry(entry: remoteEntry(try decoded(value, key), value, .queue))
  }

  /// Queues a set or a removal; nil if the write is something else.
  nonisolated(nonsending) func enqueue(
    _ key: Key,
    _ call: StorageRequest.Write<Value>,
    in queue: RemoteQueue
  ) async throws(StorageError) -> StorageRequest.Receipt? {
    let held = try held(key)
    let remote = try remote(key, held)
    var payload: [UInt8]?
    var expiry: UInt64 = 0
    switch call.action {
    case .set(let value):
      let bytes = try encodedPayload(value, key)
      expiry = self.expiry(call.expiry, remote.domain, isJittered: true)
      payload = bytes
      let size = RemoteEnvelope.length + bytes.count
      guard size <= tiers.store.valueLimit else {
        throw RemoteError.tooLarge(size: size, limit: tiers.store.valueLimit).storageError(of: name)
      }
    case .remove: break
    case .touch, .extend: return nil
    }
    let length = payload.map { RemoteEnvelope.length + $0.count } ?? 0
    let before = try await queue.record(remote.bytes)
    var known = QueuedBase()
    let added = try await queue.add(
      remote,
      length: length,
      base: {
        known = await base(held, remote)
        return known
      },
      durability: call.durability
    ) { [payload, expiry] version in
      payload.map { payload in
        payload.withBytes { RemoteValue(RemoteEnvelope(version: version, expiry: expiry), payload: $0) }
      }
    }
    // An older value must not be served as a stale one.
    cache.remove(held)
    return StorageRequest.Receipt(
      isDone: true,
      wasThere: before.map { $0.value != nil } ?? (known.found != nil && known.found != .absent),
      version: payload == nil ? nil : SequenceNumber(rawValue: added.version.digest),
      expiry: Expiry(remote: expiry)
    )
  }

  /// What is believed to be at the owner.
  private nonisolated(nonsending) func base(
    _ held: Key.Held,
    _ remote: RemoteKey
  ) async -> QueuedBase {
    let unknown = QueuedBase(found: options.queue?.unknown == .something ? nil : .absent)
    if let copy = cache.look(held)?.value {
      // What has changed since is not known.
      guard copy.changedAt == nil else { return unknown }
      guard let version = copy.version else { return copy.value == nil ? QueuedBase(found: .absent) : unknown }
      return QueuedBase(found: .version(version), expiry: copy.expiry)
    }
    guard let near = await log?.value(self.near(remote)), let version = near.version else { return unknown }
    return QueuedBase(found: .version(version), expiry: near.expiry)
  }
}
