internal import EskerPlatform

/// Typed keys and values in a keyspace of a store.
///
/// The concrete type: calls through it specialise. ``Storage`` is the same behind one reference, for properties.
///
/// ```swift
/// let scores = try LogStorage(store, "scores", key: String.self, of: Int.self)
/// try scores.set(3, forKey: "anna")
/// try scores.update(forKey: "anna", default: 0) { $0 += 1 }
/// ```
///
/// Several views of one keyspace, of the same or of other types, see each other's writes at once, those with memory ahead
/// included; see ``HybridStorage``. Safe to use from any thread.
public struct LogStorage<Key: Sendable, Value: Sendable>: UpdatableStorage {
  // One reference: a closure that captures the storage, as the erased one does, copies and releases nothing else.
  @usableFromInline let view: LogView<Key, Value>

  /// The keyspace.
  @inlinable public var keyspace: Keyspace { view.keyspace }
  /// How keys become bytes.
  @inlinable public var keys: KeyTransformer<Key> { view.keys }
  /// How values become bytes.
  @inlinable public var values: Transformer<Value> { view.values }
  /// The keyspace's name; `(default)` for the default keyspace, which has none.
  @inlinable public var name: String { view.name }
  @inlinable var broadcaster: ChangeBroadcaster { view.broadcaster }

  @inlinable
  init(_ view: LogView<Key, Value>) {
    self.view = view
  }

  /// A view of `keyspace` through these transformers. Their forms are recorded if no view has done so before.
  ///
  /// - Throws: ``StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys have another form; values may have
  ///   several. ``StorageError/store(_:)``.
  @inlinable
  public init(
    keyspace: Keyspace,
    keys: KeyTransformer<Key>,
    values: Transformer<Value>
  ) throws(StorageError) {
    try keyspace.admit(keys: keys.id, values: values.id)
    view = LogView(keyspace: keyspace, keys: keys, values: values)
  }

  /// A view of the keyspace called `name` for the type of key; see
  /// ``EskerLog/LogStore/storage(_:key:transformer:capacity:memory:)``.
  @inlinable
  public init(
    _ store: LogStore,
    _ name: String,
    key: Key.Type = Key.self,
    transformer: Transformer<Value>
  ) throws(StorageError) where Key: StorageKey {
    try self.init(store, name, values: transformer, isOwn: false)
  }

  /// A view of the keyspace called `name` for the types of key and value; see ``EskerLog/LogStore/storage(_:key:of:capacity:memory:)``.
  @inlinable
  public init(
    _ store: LogStore,
    _ name: String,
    key: Key.Type = Key.self,
    of value: Value.Type = Value.self
  ) throws(StorageError) where Key: StorageKey, Value: Codable {
    try self.init(store, name, values: .standard, isOwn: true)
  }

  /// - Parameter isOwn: whether the form of the values must be the one that is recorded, if there is one.
  @inlinable
  init(
    _ store: LogStore,
    _ name: String,
    values: Transformer<Value>,
    isOwn: Bool
  ) throws(StorageError) where Key: StorageKey {
    let keys = Key.keyTransformer
    let keyspace = try store.keyspace(name, keys: keys.id, values: values.id, isOwn: isOwn)
    view = LogView(keyspace: keyspace, keys: keys, values: values)
  }

  /// Sets what the keyspace may take; nil keeps what there is.
  @usableFromInline
  func use(_ capacity: Keyspace.Capacity?) throws(StorageError) {
    do throws(StoreError) { try keyspace.use(capacity) } catch { throw .store(error) }
  }

  /// Another view of the same bytes, whatever form is recorded.
  @inlinable
  public func transform<New>(to transformer: Transformer<New>) -> LogStorage<Key, New> {
    LogStorage<Key, New>(LogView(keyspace: keyspace, keys: keys, values: transformer))
  }
}

// MARK: Calls

extension LogStorage {
  /// The time of the store, which never goes back.
  public var time: WallTime { keyspace.store.time }

  /// The keyspace and the form of the values, and the key's bytes.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    var identity = StorageRequest.Identity(storage: view.number, key: [])
    try withBytes(of: key) { (bytes) throws(StorageError) in identity.key = bytes.copied() }
    return identity
  }

  /// The value under `key`, when it expires and which write stored it; nil when the key is absent or expired. Takes no lock.
  ///
  /// - Throws: ``StorageError/decoding(key:view:expected:underlying:)``, ``StorageError/key(_:view:underlying:)``,
  ///   ``StorageError/store(_:)``.
  @inlinable
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    var found: Entry<Value>?
    try withBytes(of: key) { (bytes) throws(StorageError) in
      do {
        if call.allowsExpired {
          found = try seenEvenExpired(bytes)
        } else {
          try keyspace.withEntry(forKey: bytes) { (value: RawSpan, known) throws in
            found = Entry(try decoded(value, bytes), origin: .log, expiry: known.expiry, version: known.version)
          }
        }
      } catch let error as StoreError {
        throw .store(error)
      } catch {
        throw undecodable(key, error)
      }
    }
    return found
  }

  /// The value under `key`; nil when the key is absent or expired. Takes no lock.
  @inlinable
  public func value(forKey key: Key) throws(StorageError) -> Value? {
    var found: Value?
    try withBytes(of: key) { (bytes) throws(StorageError) in
      do {
        try keyspace.withValue(forKey: bytes) { (value: RawSpan) throws in found = try decoded(value, bytes) }
      } catch let error as StoreError {
        throw .store(error)
      } catch {
        throw undecodable(key, error)
      }
    }
    return found
  }

  @usableFromInline
  func seenEvenExpired(_ key: RawSpan) throws -> Entry<Value>? {
    try keyspace.withEntryEvenExpired(forKey: key) { value, known in
      Entry(try decoded(value, key), origin: .log, expiry: known.expiry, version: known.version)
    }
  }

  /// The entries of several keys: the waits of their look-ups for memory, and for a device, overlap.
  public func read(several keys: [Key], _ call: StorageRequest.Read) throws(StorageError) -> [Entry<Value>?] {
    var found: [Entry<Value>?] = []
    found.reserveCapacity(keys.count)
    if keys.isEmpty { try translating { () throws(StoreError) in try keyspace.checkReadable() } }
    // Beyond memory, the device is asked for all of them before the first is waited for.
    for key in keys {
      try withBytes(of: key) { (bytes) throws(StorageError) in
        view.anticipate(bytes)
        _ = keyspace.mustWait(for: bytes)
      }
    }
    for key in keys { found.append(try read(key, call)) }
    return found
  }

  /// What is known about the value under `key`; the value is not read.
  public func peek(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Void>? {
    if call.allowsExpired { return try read(key, call)?.map { _ in } }
    var found: Entry<Void>?
    try withBytes(of: key) { (bytes) throws(StorageError) in
      let known = try translating { () throws(StoreError) in try keyspace.metadata(forKey: bytes) }
      if let known { found = Entry((), origin: .log, expiry: known.expiry, version: known.version) }
    }
    return found
  }

  /// Writes; see ``WritableStorage``.
  ///
  /// - Throws: ``StorageError/encoding(view:type:underlying:)``, ``StorageError/key(_:view:underlying:)``,
  ///   ``StorageError/store(_:)``. Nothing has changed then, except after `StoreError.outcomeUnknown`: the write may or may not be
  ///   there once the store is opened again.
  @inlinable
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    let written = try logged(key, call, durability: call.durability)
    do throws(StoreError) { try keyspace.settle(written, call.durability) } catch { throw .store(error) }
    return StorageRequest.Receipt(written, ofRemoval: call.isRemoval)
  }

  /// As `write`, where the key's bytes are at hand.
  @inlinable
  func write(
    keyBytes: [UInt8],
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    let written = try keyBytes.withBytes { (bytes) throws(StorageError) in try logged(bytes, call, call.durability) }
    do throws(StoreError) { try keyspace.settle(written, call.durability) } catch { throw .store(error) }
    return StorageRequest.Receipt(written, ofRemoval: call.isRemoval)
  }

  /// Stores `value` under `key`, replacing what was there. As `write`, with less to copy.
  @inlinable
  public func set(
    _ value: Value,
    forKey key: Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StorageError) {
    try withBytes(of: key) { (keyBytes) throws(StorageError) in
      if values.encodingTakesTime { view.anticipate(keyBytes) }
      try withBytes(ofValue: value, keyBytes) { (bytes) throws(StorageError) in
        do throws(StoreError) {
          try keyspace.put(bytes, forKey: keyBytes, expiry: expiry, durability: durability)
        } catch {
          throw .store(error)
        }
      }
    }
  }

  /// Reads where the task runs if the record is in memory; otherwise one of Esker's threads waits for it.
  @inlinable
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    guard keyspace.mayWait, try await mustWaitLong(for: key) else { return try read(key, call) }
    return try await readByThread(key, call)
  }

  @usableFromInline
  nonisolated(nonsending) func readByThread(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    try await IOThreads.shared.run { () throws(StorageError) in try read(key, call) }
  }

  /// Whether a look-up would wait for a device, also once other tasks have had their turn: while they run, what was asked for arrives.
  @usableFromInline
  nonisolated(nonsending) func mustWaitLong(for key: Key) async throws(StorageError) -> Bool {
    guard try mustWait(for: key) else { return false }
    await Task.yield()
    return try mustWait(for: key)
  }

  /// Whether a look-up would wait for a device. The pages that it would wait for are then being read.
  private func mustWait(for key: Key) throws(StorageError) -> Bool {
    var mustWait = false
    try withBytes(of: key) { (bytes) throws(StorageError) in mustWait = keyspace.mustWait(for: bytes) }
    return mustWait
  }

  /// Writes; the task, not its thread, waits for the disk, and all that wait at the same time share a sync.
  @inlinable
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    if Task.isCancelled { throw .cancelled }
    do throws(StoreError) { try await keyspace.awaitTurn() } catch { throw .store(error) }
    // Buffered: a page that many tasks store to is flushed from the TLBs only once, with the sync that they share.
    // A store with a capacity may have to make room first, and one beyond memory to read what is there: both take their time.
    var takesTime = keyspace.mayMakeRoom
    if !takesTime, keyspace.mayWait { takesTime = try await mustWaitLong(for: key) }
    let written =
      if takesTime { try await loggedByThread(key, call) } else { try logged(key, call, durability: .buffered) }
    do throws(StoreError) { try await keyspace.settleAsync(written, call.durability) } catch { throw .store(error) }
    return StorageRequest.Receipt(written, ofRemoval: call.isRemoval)
  }

  @usableFromInline
  nonisolated(nonsending) func loggedByThread(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> ViewWriteResult {
    try await IOThreads.shared.run { () throws(StorageError) in try logged(key, call, durability: .buffered) }
  }

  /// Does everything but wait for durability; `durability` says how the record is written.
  @inlinable
  func logged(
    _ key: Key,
    _ call: StorageRequest.Write<Value>,
    durability: Durability?
  ) throws(StorageError) -> ViewWriteResult {
    var written = ViewWriteResult()
    try withBytes(of: key) { (keyBytes) throws(StorageError) in written = try logged(keyBytes, call, durability) }
    return written
  }

  @inlinable @inline(__always)
  func logged(
    _ keyBytes: RawSpan,
    _ call: StorageRequest.Write<Value>,
    _ durability: Durability?
  ) throws(StorageError) -> ViewWriteResult {
    guard case .set(let value) = call.action else { return try loggedWithoutValue(keyBytes, call, durability) }
    if values.encodingTakesTime { view.anticipate(keyBytes) }
    var written = ViewWriteResult()
    try withBytes(ofValue: value, keyBytes) { (bytes) throws(StorageError) in
      do throws(StoreError) {
        written = try keyspace.log(
          bytes,
          forKey: keyBytes,
          if: ViewCondition(call.condition),
          expiry: call.expiry,
          durability: durability,
          skipsUnchanged: call.skipsUnchanged
        )
      } catch {
        throw .store(error)
      }
    }
    return written
  }

  @usableFromInline
  func loggedWithoutValue(
    _ key: RawSpan,
    _ call: StorageRequest.Write<Value>,
    _ durability: Durability?
  ) throws(StorageError) -> ViewWriteResult {
    let condition = ViewCondition(call.condition)
    do throws(StoreError) {
      switch call.action {
      case .remove:
        return try keyspace.logRemoval(key, if: condition)
      case .extend:
        guard case .after(let duration) = call.expiry else { return ViewWriteResult() }
        return try keyspace.logExtension(ofKey: key, by: duration, if: condition, durability: durability)
      case .touch, .set:
        return try keyspace.logExpiry(call.expiry, ofKey: key, if: condition, durability: durability)
      }
    } catch {
      throw .store(error)
    }
  }
}

extension ViewCondition {
  @usableFromInline
  init(_ condition: StorageRequest.Condition) {
    switch condition {
    case .always: self = .always
    case .absent: self = .absent
    case .present: self = .present
    case .version(let version): self = .version(version)
    }
  }
}

extension StorageRequest.Receipt {
  @usableFromInline
  init(_ written: ViewWriteResult, ofRemoval isRemoval: Bool) {
    // Nothing is there after a removal, though it has a number in the log.
    let hasVersion = written.isDone && written.sequence != 0 && !isRemoval
    self.init(
      isDone: written.isDone,
      wasThere: written.wasThere,
      version: hasVersion ? SequenceNumber(rawValue: written.sequence) : nil,
      expiry: Expiry(milliseconds: written.expiry)
    )
  }
}

extension LogStorage: ClearableStorage {
  /// Empties the keyspace, whatever views wrote to it. Takes constant time.
  public func removeAll(durability: Durability?) throws(StorageError) {
    try translating { () throws(StoreError) in try keyspace.removeAll(durability: durability) }
  }

  /// Removes the values of the keyspace that are expired now; returns how many there were.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int {
    try translating { () throws(StoreError) in try keyspace.removeExpired() }
  }
}

// MARK: Bytes

extension LogStorage {
  /// Calls `body` with the key's bytes.
  @inlinable @inline(__always)
  func withBytes(of key: Key, _ body: (RawSpan) throws(StorageError) -> Void) throws(StorageError) {
    var failure: StorageError?
    do {
      try keys.lending(key) { bytes in
        do throws(StorageError) { try body(bytes) } catch { failure = error }
      }
    } catch {
      throw .key("\(key)", view: name, underlying: error)
    }
    if let failure { throw failure }
  }

  /// Calls `body` with the value's bytes under a key.
  @inlinable @inline(__always)
  func withBytes(
    ofValue value: Value,
    _ key: RawSpan,
    _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) {
    var failure: StorageError?
    do {
      try values.lend(value, forKey: key, in: keyspace.name) { bytes in
        do throws(StorageError) { try body(bytes) } catch { failure = error }
      }
    } catch {
      throw .encoding(view: name, type: "\(Value.self)", underlying: error)
    }
    if let failure { throw failure }
  }

  /// The value that bytes under a key stand for.
  @inlinable @inline(__always)
  func decoded(_ bytes: RawSpan, _ key: RawSpan) throws -> Value {
    try values.decode(bytes, forKey: key, in: keyspace.name)
  }

  @usableFromInline
  func undecodable(_ key: Key, _ error: any Error) -> StorageError {
    .decoding(key: "\(key)", view: name, expected: "\(Value.self) (\(values.id))", underlying: error)
  }
}

/// What a view of a keyspace consists of.
@usableFromInline
final class LogView<Key: Sendable, Value: Sendable>: Sendable {
  @usableFromInline let keyspace: Keyspace
  @usableFromInline let keys: KeyTransformer<Key>
  @usableFromInline let values: Transformer<Value>
  @usableFromInline let name: String
  /// Shared by all views of the keyspace with the same form of values.
  @usableFromInline let number: UInt64
  @usableFromInline let broadcaster: ChangeBroadcaster

  @inlinable
  init(keyspace: Keyspace, keys: KeyTransformer<Key>, values: Transformer<Value>) {
    self.keyspace = keyspace
    self.keys = keys
    self.values = values
    name = shownName(ofKeyspace: keyspace.name)
    broadcaster = ChangeBroadcaster.broadcaster(of: keyspace)
    number = broadcaster.number(ofForm: values.id)
  }

  /// The same with a broadcaster of its own.
  @inlinable
  init(_ storage: LogStorage<Key, Value>, broadcaster: ChangeBroadcaster) {
    keyspace = storage.keyspace
    keys = storage.keys
    values = storage.values
    name = storage.name
    number = broadcaster.number(ofForm: storage.values.id)
    self.broadcaster = broadcaster
  }

  /// Has the key's place in the index brought in while the value is encoded, so that the write need not wait for it.
  @usableFromInline
  func anticipate(_ key: RawSpan) { keyspace.anticipate(key) }
}
