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
public struct LogStorage<Key: Sendable, Value: Sendable>: StorageProtocol {
  // One reference: a closure that captures the storage, as the erased one does, copies and releases nothing else.
  @usableFromInline let view: LogView<Key, Value>

  /// The keyspace.
  @inlinable public var keyspace: Keyspace { view.keyspace }
  /// How keys become bytes.
  @inlinable public var keys: KeyTransformer<Key> { view.keys }
  /// How values become bytes.
  @inlinable public var values: Transformer<Value> { view.values }
  /// The keyspace's name.
  @inlinable public var name: String { view.name }
  /// Shared by all views of the keyspace with the same types and forms.
  @inlinable public var identity: StorageIdentity { view.identity }
  @inlinable var hub: ChangeHub { view.hub }

  @inlinable
  init(_ view: LogView<Key, Value>) {
    self.view = view
  }

  /// A view of `keyspace` through these transformers.
  ///
  /// It is the caller's to see that all views of a keyspace have the same form of keys; ``EskerLog/LogStore/storage(_:key:of:)``
  /// does so by itself.
  @inlinable
  public init(keyspace: Keyspace, keys: KeyTransformer<Key>, values: Transformer<Value>) {
    view = LogView(keyspace: keyspace, keys: keys, values: values)
  }

  /// A view of the keyspace called `name` for the type of key; see ``EskerLog/LogStore/storage(_:key:of:)``.
  @inlinable
  public init(
    _ store: LogStore,
    _ name: String,
    key: Key.Type = Key.self,
    transformer: Transformer<Value>
  ) throws(StorageError) where Key: StorageKey {
    let keys = Key.keyTransformer
    let keyspace = try translating { () throws(StoreError) in
      try store.keyspace(keyspaceName(name, keys: keys.id))
    }
    self.init(keyspace: keyspace, keys: keys, values: transformer)
  }

  /// A view of the keyspace called `name` for the types of key and value; see ``EskerLog/LogStore/storage(_:key:of:)``.
  @inlinable
  public init(
    _ store: LogStore,
    _ name: String,
    key: Key.Type = Key.self,
    of value: Value.Type = Value.self
  ) throws(StorageError) where Key: StorageKey, Value: Codable {
    try self.init(store, name, transformer: .standard)
  }

  /// Another view of the same bytes.
  @inlinable
  public func transform<New>(to transformer: Transformer<New>) -> LogStorage<Key, New> {
    LogStorage<Key, New>(keyspace: keyspace, keys: keys, values: transformer)
  }
}

// MARK: Reading

extension LogStorage {
  /// The value under `key`; nil when the key is absent or expired. Takes no lock.
  ///
  /// - Throws: ``StorageError/decoding(key:view:expected:underlying:)``, ``StorageError/key(_:view:underlying:)``,
  ///   ``StorageError/store(_:)``.
  @inlinable
  public func value(forKey key: Key) throws(StorageError) -> Value? {
    var found: Value?
    try withBytes(of: key) { (bytes) throws(StorageError) in
      do {
        try keyspace.withValue(forKey: bytes) { (value: RawSpan) throws in found = try values.decoding(value) }
      } catch let error as StoreError {
        throw .store(error)
      } catch {
        throw undecodable(key, error)
      }
    }
    return found
  }

  /// The value under `key`, when it goes and which write stored it; nil when the key is absent or expired. Takes no lock.
  ///
  /// - Throws: ``StorageError/decoding(key:view:expected:underlying:)``, ``StorageError/key(_:view:underlying:)``,
  ///   ``StorageError/store(_:)``.
  @inlinable
  public func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? {
    var found: Entry<Value>?
    try withBytes(of: key) { (bytes) throws(StorageError) in
      do {
        found = try seen(bytes)
      } catch let error as StoreError {
        throw .store(error)
      } catch {
        throw undecodable(key, error)
      }
    }
    return found
  }

  /// What the log knows of the key; nil also when it cannot say.
  func metadata(forKey key: Key) -> ValueMetadata? {
    var known: ValueMetadata?
    try? withBytes(of: key) { (bytes) throws(StorageError) in
      known = try translating { () throws(StoreError) in try keyspace.metadata(forKey: bytes) }
    }
    return known
  }

  /// The value and what is known of it, of one and the same write.
  @inlinable
  func seen(_ key: RawSpan) throws -> Entry<Value>? {
    var found: Entry<Value>?
    try keyspace.withEntry(forKey: key) { (value: RawSpan, known) throws in
      found = Entry(try values.decoding(value), origin: .log, expiry: known.expiry, version: known.version)
    }
    return found
  }

  /// Whether the key is there and not expired. Does not read the value.
  public func contains(_ key: Key) throws(StorageError) -> Bool {
    var isThere = false
    try withBytes(of: key) { (bytes) throws(StorageError) in
      isThere = try translating { () throws(StoreError) in try keyspace.contains(bytes) }
    }
    return isThere
  }
}

// MARK: Writing

extension LogStorage: WritableStorage {
  /// Stores `value` under `key`, replacing what was there.
  ///
  /// - Parameters:
  ///   - value: what to store.
  ///   - key: the key to store it under.
  ///   - expiry: when the value goes; nil: as the keyspace's or the store's default says.
  /// - Throws: ``StorageError/encoding(view:type:underlying:)``, ``StorageError/key(_:view:underlying:)``,
  ///   ``StorageError/store(_:)``; nothing is changed then.
  @inlinable
  public func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {
    try withBytes(of: key) { (keyBytes) throws(StorageError) in
      if values.encodingTakesTime { view.anticipate(keyBytes) }
      try withBytes(ofValue: value) { (bytes) throws(StorageError) in
        do throws(StoreError) {
          try keyspace.put(bytes, forKey: keyBytes, expiry: expiry)
        } catch {
          throw .store(error)
        }
      }
    }
  }

  /// Stores `value` for a front of this very view; the write's place in history.
  func put(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) -> SequenceNumber? {
    var version: SequenceNumber?
    try withBytes(of: key) { (keyBytes) throws(StorageError) in
      if values.encodingTakesTime { view.anticipate(keyBytes) }
      try withBytes(ofValue: value) { (bytes) throws(StorageError) in
        version = try translating { () throws(StoreError) in
          try keyspace.put(bytes, forKey: keyBytes, expiry: expiry)
        }
      }
    }
    return version
  }

  /// Removes `key`; true when it was there.
  ///
  /// - Throws: ``StorageError/key(_:view:underlying:)``, ``StorageError/store(_:)``.
  @inlinable @discardableResult
  public func removeValue(forKey key: Key) throws(StorageError) -> Bool {
    var wasThere = false
    try withBytes(of: key) { (bytes) throws(StorageError) in
      do throws(StoreError) {
        wasThere = try keyspace.remove(bytes)
      } catch {
        throw .store(error)
      }
    }
    return wasThere
  }
}

extension LogStorage: ClearableStorage {
  /// Empties the keyspace, whatever views wrote to it. Takes constant time.
  public func removeAll() throws(StorageError) {
    try translating { () throws(StoreError) in try keyspace.removeAll() }
  }

  /// Removes what is expired in the keyspace now; how much there was. O(entries of the store).
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

  /// Calls `body` with the value's bytes.
  @inlinable @inline(__always)
  func withBytes(ofValue value: Value, _ body: (RawSpan) throws(StorageError) -> Void) throws(StorageError) {
    var failure: StorageError?
    do {
      try values.lending(value) { bytes in
        do throws(StorageError) { try body(bytes) } catch { failure = error }
      }
    } catch {
      throw .encoding(view: name, type: "\(Value.self)", underlying: error)
    }
    if let failure { throw failure }
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
  @usableFromInline let identity: StorageIdentity
  @usableFromInline let hub: ChangeHub

  @inlinable
  init(keyspace: Keyspace, keys: KeyTransformer<Key>, values: Transformer<Value>) {
    self.keyspace = keyspace
    self.keys = keys
    self.values = values
    name = keyspace.name
    hub = ChangeHub.hub(of: keyspace)
    identity = hub.identity(keys: keys, values: values)
  }
  /// Has the key's place in the index brought in while the value is encoded, so that the write need not wait for it.
  @usableFromInline
  func anticipate(_ key: RawSpan) { keyspace.anticipate(key) }
}
