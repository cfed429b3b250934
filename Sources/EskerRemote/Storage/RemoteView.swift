public import Esker
internal import EskerLog
public import EskerMemory
internal import EskerPlatform
internal import Synchronization

/// What all copies of a remote storage share: the forms of keys and values, the memory, and the log.
@usableFromInline
final class RemoteView<Key: StorageKey, Value: Sendable>: Sendable {
  let tiers: RemoteTiers
  let core: Coherence
  /// What hits need of the core.
  @usableFromInline let domains: DomainTable
  /// Nil for the process's own clock, which hits read without a call.
  @usableFromInline let clock: (@Sendable () -> RemoteInstant)?
  let name: String
  let number: UInt64
  @usableFromInline let keys: KeyTransformer<Key>
  let values: Transformer<Value>
  let options: RemoteOptions
  @usableFromInline let cache: MemoryCache<Key.Held, HeldCopy<Value>>
  let log: NearLog?
  let throttle = Throttle<Key.Held>()
  /// What all keys of the storage begin with.
  @usableFromInline let scope: [UInt8]
  let cost: (@Sendable (Value) -> Int)?
  /// What tags there are; nil for that storage itself.
  let tags: RemoteTags?

  init(
    _ tiers: RemoteTiers,
    _ tags: RemoteTags?,
    _ name: String,
    _ values: Transformer<Value>,
    _ limits: MemoryLimits,
    _ log: NearLog?,
    _ options: RemoteOptions,
    _ cost: (@Sendable (Value) -> Int)?
  ) {
    self.tiers = tiers
    self.tags = tags
    self.name = name
    self.values = values
    self.log = log
    self.options = options
    self.cost = cost
    core = tiers.core
    domains = tiers.core.domains
    clock = tiers.clockOfTests
    number = StorageRequest.newStorage()
    keys = Key.keyTransformer
    cache = MemoryCache(limits: limits)
    scope = Array("\(name):".utf8)
  }

  // MARK: Keys

  @inlinable @inline(__always)
  func held(_ key: Key) throws(StorageError) -> Key.Held {
    do { return try key.held(by: keys) } catch { throw unusable(key, error) }
  }

  /// The key as it is stored remotely, without the prefix.
  func remote(_ key: Key) throws(StorageError) -> RemoteKey {
    do { return tiers.store.key(scope + (try keys.encode(key))) } catch { throw unusable(key, error) }
  }

  /// The same of a key of which it is known what memory keeps: one that is kept as its bytes is not encoded again.
  func remote(_ key: Key, _ held: Key.Held) throws(StorageError) -> RemoteKey {
    guard let held = held as? StorageRequest.HeldBytes else { return try remote(key) }
    return tiers.store.key(scope + held.bytes)
  }

  @usableFromInline
  func unusable(_ key: Key, _ error: any Error) -> StorageError {
    .key("\(key)", view: name, underlying: error)
  }

  /// What a log calls a key.
  func near(_ key: RemoteKey) -> [UInt8] { Array(key.bytes[scope.count...]) }

  /// Whether this is the storage of tags.
  var isOfTags: Bool { tags == nil }

  // MARK: Memory

  /// The present, for hits.
  @inlinable @inline(__always)
  var now: RemoteInstant { clock.map { $0() } ?? .now }

  /// What is held and may be served without asking.
  @inlinable @inline(__always)
  func trusted(_ key: Key.Held, at now: RemoteInstant) -> HeldCopy<Value>? {
    guard let copy = cache.get(key, now: now.milliseconds), now < copy.freshEnd,
      domains.isTrusted(copy.domain, copy.generation, at: now)
    else { return nil }
    return copy
  }

  /// When a copy was last known to be current.
  func endOfTrust(_ copy: HeldCopy<Value>) -> RemoteInstant {
    if let changedAt = copy.changedAt { return changedAt }
    let end = core.endOfTrust(copy.domain, copy.generation, verifiedAt: copy.verifiedAt)
    return min(end, copy.freshEnd)
  }

  /// What a value counts towards the cost limit. Asked without a lock, since users say it.
  func cost(of value: Value?) -> Int { value.flatMap { value in cost.map { $0(value) } } ?? 1 }

  /// Keeps a value, or that there is none, as current in a generation; under the lock of the core.
  ///
  /// Generation 0 is for what may not be current any more, but was at `instant` or later. A value is kept then if nothing later is known:
  /// to be compared with what is found next, and to be served where something stale may be. Returns whether the log should keep it, too.
  @discardableResult
  func keep(
    _ value: Value?,
    _ remote: RemoteValue?,
    _ key: Key.Held,
    _ domain: UInt16,
    cost: Int,
    in generation: UInt32,
    since instant: RemoteInstant
  ) -> Bool {
    let now = core.now()
    if generation == 0, remote?.version == nil { return false }
    guard let freshEnd = freshEnd(remote, domain, now), now < freshEnd else {
      if generation != 0 { cache.remove(key) }
      return generation != 0
    }
    let copy = HeldCopy(
      content: HeldCopy.Content(value, tags: remote?.tags ?? []),
      version: remote?.version,
      expiry: remote?.expiry ?? 0,
      freshEnd: freshEnd,
      verifiedAt: generation == 0 ? instant : now,
      changedAt: generation == 0 ? instant : nil,
      generation: generation,
      domain: domain
    )
    let expiry = freshEnd == .distantFuture ? .max : freshEnd.advanced(by: options.serveStale ?? .zero).milliseconds
    if generation != 0 {
      cache.put(copy, forKey: key, cost: cost, expiry: expiry, now: now.milliseconds)
      return true
    }
    return cache.update(key, now: now.milliseconds) { entry in
      if let known = entry?.value, isAtLeast(known, copy, at: now) { return false }
      entry = MemoryEntry(copy, cost: cost, expiry: expiry)
      return true
    }
  }

  /// Whether what is held is current, or not older than something else that may not be.
  private func isAtLeast(_ known: HeldCopy<Value>, _ copy: HeldCopy<Value>, at now: RemoteInstant) -> Bool {
    if domains.isTrusted(known.domain, known.generation, at: now) { return true }
    guard let version = copy.version, let other = known.version else { return false }
    return !version.isLater(than: other)
  }

  /// Until when what is kept now may be served. Early by as much as the clocks may differ, and 5 ms; nil if that is not known.
  private func freshEnd(_ remote: RemoteValue?, _ domain: UInt16, _ now: RemoteInstant) -> RemoteInstant? {
    guard let remote else { return now.advanced(by: min(options.absence, .seconds(5))) }
    if remote.expiry == 0 { return .distantFuture }
    guard let time = tiers.store.time(of: domain) else { return nil }
    let present = time.milliseconds(at: now) + time.error.wholeMilliseconds + 5
    return remote.expiry > present ? now.advanced(by: .milliseconds(Int64(clamping: remote.expiry - present))) : now
  }

  // MARK: Values

  func decoded(_ value: RemoteValue, _ key: Key) throws(StorageError) -> Value {
    do {
      guard value.envelope != nil || options.foreignValues == .decoded && !value.beginsAsEnvelope else {
        throw ForeignValue()
      }
      return try value.payload.withBytes { bytes throws in
        try values.decode(bytes, forKey: try keys.encode(key), in: name)
      }
    } catch {
      throw .decoding(key: "\(key)", view: name, expected: "\(Value.self) (\(values.id))", underlying: error)
    }
  }
}

/// Why a value is not decoded that another program stored.
struct ForeignValue: Error, CustomStringConvertible {
  var description: String {
    "it was not stored by this version of Esker; `RemoteOptions.foreignValues` says whether values of other programs are decoded"
  }
}

extension RemoteInstant {
  /// As memory counts.
  @inlinable
  var milliseconds: Int64 { Int64(clamping: nanoseconds / 1_000_000) }
}

extension RemoteError {
  /// As a storage tells it.
  func storageError(of name: String) -> StorageError { .back(name: name, underlying: self) }
}
