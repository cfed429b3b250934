public import Esker

/// Typed keys and values in a remote store, with copies in memory and in a log that are kept coherent.
///
/// ```swift
/// let tiers = RemoteTiers(store, named: "production", prefix: "shop:")
/// try await tiers.start()
/// let users = try tiers.storage("users", of: User.self, memory: MemoryLimits(count: 10_000), log: log)
/// try await users.async.set(anna, forKey: "anna")
/// let user = try await users.async.value(forKey: "anna")  // from memory, until somebody changes it
/// ```
///
/// Only for tasks: nothing that could block compiles. All operations of ``/Esker/AsyncStorage`` are there, `update` and
/// `value(forKey:orProduce:)` among them, and operators such as `mapValues` apply. Safe to use from any thread; copies share everything.
public struct RemoteStorage<Key: StorageKey, Value: Sendable>: StorageRequest.AsyncUpdatable {
  @usableFromInline let view: RemoteView<Key, Value>
  /// Nil if what is written has no tags.
  @usableFromInline let scope: TagScope?

  @usableFromInline
  init(view: RemoteView<Key, Value>) {
    self.init(view, view.tagNames, began: 0)
  }

  init(_ view: RemoteView<Key, Value>, _ tags: [String], began: UInt64) {
    self.view = view
    scope = tags.isEmpty && began == 0 ? nil : TagScope(tags, began: began)
  }

  /// What it is called: all its keys begin with this name and a colon.
  public var name: String { view.name }

  /// The identity of the entry within the process.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    // Tasks that begin after a tag has changed do not wait for a producer that began before.
    StorageRequest.Identity(storage: view.number, key: try view.remote(key).bytes + (view.tags?.state(of: tags) ?? []))
  }

  /// What is written has these tags.
  var tags: [String] { scope?.names ?? [] }

  // MARK: Reading

  /// What memory knows of `key` and may serve: reads do not change threads for it.
  @inlinable
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    if call.skipsMemory { return .unknown }
    guard let copy = view.trusted(try view.held(key), at: view.now) else { return .unknown }
    // What is made after this answer must not be older than what is known of its tags.
    if call.needsVersion, !view.knows(scope) { return .unknown }
    let value: Value
    switch copy.content {
    case .plain(let known):
      // A foreign one, which has none.
      if call.needsVersion, copy.version == nil { return .unknown }
      value = known
    case .tagged(let tagged):
      switch view.standing(of: copy, at: view.now) {
      case .valid: value = tagged.value
      case .invalid: return view.knows(scope) ? .absent : .unknown
      case .unknown: return .unknown
      }
    case .absent: return view.knows(scope) ? .absent : .unknown
    }
    return .entry(
      Entry(
        value,
        origin: .memory,
        expiry: copy.wallExpiry,
        version: copy.version.map { SequenceNumber(rawValue: $0.digest) }
      )
    )
  }

  /// The value under `key` and what is known of it; nil when the key is absent or expired.
  ///
  /// - Throws: ``/Esker/StorageError/back(name:underlying:)`` with a ``RemoteError``; ``/Esker/StorageError/decoding(key:view:expected:underlying:)``,
  ///   also for a foreign value, unless ``RemoteOptions/foreignValues`` allows those; then
  ///   ``/Esker/StorageError/unsupported(operation:view:)`` where its version is needed; ``/Esker/StorageError/cancelled``.
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    // A write on the condition that an older one is still there would be refused again and again.
    let found = try await view.find(key, isExact: call.needsVersion)
    // Without this an update would take it for absent. What produces a missing value takes what is there.
    if let found, found.version == nil, call.needsVersion, call.counting != .nothing {
      throw .unsupported(
        operation: "change what another program stored on the condition that it is still there",
        view: name
      )
    }
    // If they cannot be read now, they are when it is written; then it may be taken for older than it is.
    if let scope, found == nil || call.needsVersion { _ = try? await view.tags?.current(scope.names) }
    return found?.entry
  }

  /// The value under `key`, and also in which tier it was found, how long ago it was last known to be current, and whether it is stale;
  /// nil when the key is absent or expired. Throws as ``asyncRead(_:_:)``.
  public func find(_ key: Key) async throws(StorageError) -> RemoteEntry<Value>? { try await view.find(key) }

  // MARK: Writing

  /// Writes at the owner, then to memory and the log.
  ///
  /// A condition is checked and the write made in one step of the server. Writes of one key by this process are made one after the
  /// other. Once begun, a write completes also if the task is cancelled.
  ///
  /// - Throws: ``/Esker/StorageError/back(name:underlying:)`` with a ``RemoteError``; only after ``RemoteError/unknownOutcome`` the write
  ///   may have been made, or may still be. ``/Esker/StorageError/unsupported(operation:view:)`` for a durability.
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    let began = scope?.began ?? 0
    return try await view.write(key, call, tags, began: began == 0 ? call.began : began)
  }

  // MARK: Memory

  /// Drops `key` from memory.
  public func removeInMemory(forKey key: Key) {
    // A key that cannot become bytes is nowhere.
    if let held = try? view.held(key) { view.cache.remove(held) }
  }

  /// Drops everything from memory.
  public func removeAllInMemory() { view.cache.removeAll() }
}

extension HeldCopy {
  /// When the value expires.
  @inlinable
  var wallExpiry: Expiry { Expiry(remote: expiry) }
}

extension Expiry {
  /// From milliseconds since 1970, 0 for never.
  @inlinable
  init(remote milliseconds: UInt64) {
    self = milliseconds == 0 ? .never : .at(WallTime(millisecondsSince1970: Int64(clamping: milliseconds)))
  }
}
