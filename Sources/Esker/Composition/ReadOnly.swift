/// A storage that can only be read; see ``ReadableStorage/readOnly()``.
public struct ReadOnly<Base: ReadableStorage>: ReadableStorage {
  @usableFromInline let base: Base

  @inlinable
  init(_ base: Base) {
    self.base = base
  }

  /// The name of what is behind.
  @inlinable public var name: String { base.name }
  /// The identity of what is behind: it is the same storage.
  @inlinable public var identity: StorageIdentity { base.identity }
  /// As what is behind.
  @inlinable public var mayBlock: Bool { base.mayBlock }

  /// The entry of what is behind.
  @inlinable
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Base.Value>? { try base.entry(forKey: key) }

  /// The value of what is behind.
  @inlinable
  public func value(forKey key: Base.Key) throws(StorageError) -> Base.Value? { try base.value(forKey: key) }

  /// Whether the key is there.
  @inlinable
  public func contains(_ key: Base.Key) throws(StorageError) -> Bool { try base.contains(key) }

  /// What memory knows.
  @inlinable
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Base.Value> {
    try base.residentEntry(forKey: key)
  }
}

extension ReadOnly: EnumerableStorage where Base: EnumerableStorage {
  /// Calls `body` with each key and entry of what is behind.
  public func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Base.Key, Entry<Base.Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try base.forEachEntry(onFailure: failure, body)
  }

  /// Calls `body` with each key of what is behind.
  public func forEachKey(_ body: (Base.Key) throws(StorageError) -> Void) throws(StorageError) {
    try base.forEachKey(body)
  }

  /// How many entries there are.
  public func count() throws(StorageError) -> Int { try base.count() }
}

extension ReadOnly: ObservableStorage where Base: ObservableStorage {
  /// Calls `body` with every change of what is behind.
  public func observe(
    _ body: @escaping @Sendable (StorageChange<Base.Key, Base.Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try base.observe(body)
  }

  /// Calls `body` with every change of one key of what is behind.
  public func observe(
    _ key: Base.Key,
    _ body: @escaping @Sendable (StorageChange<Base.Key, Base.Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try base.observe(key, body)
  }
}

extension ReadableStorage {
  /// The same storage for reading only: the compiler refuses writes.
  @inlinable
  public func readOnly() -> ReadOnly<Self> { ReadOnly(self) }
}
