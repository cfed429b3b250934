/// A storage under another name; see ``ReadableStorage/renaming(to:)``.
public struct Renamed<Base: StorageDesign>: StorageDesign {
  /// What is behind.
  public let base: Base
  /// The name it has now.
  public let name: String

  @inlinable
  init(_ base: Base, _ name: String) {
    self.base = base
    self.name = name
  }

  /// The identity of what is behind: it is the same storage.
  @inlinable public var identity: StorageIdentity { base.identity }
  /// As what is behind.
  @inlinable public var mayBlock: Bool { base.mayBlock }

  /// An error that names the view, under the name it has now.
  @usableFromInline
  func renamed(_ error: StorageError) -> StorageError {
    switch error {
    case .encoding(_, let type, let underlying): .encoding(view: name, type: type, underlying: underlying)
    case .decoding(let key, _, let expected, let underlying):
      .decoding(key: key, view: name, expected: expected, underlying: underlying)
    case .key(let key, _, let underlying): .key(key, view: name, underlying: underlying)
    case .rejected(let key, _, let underlying): .rejected(key: key, view: name, underlying: underlying)
    case .unsupported(let operation, _): .unsupported(operation: operation, view: name)
    case .back(_, let underlying): .back(name: name, underlying: underlying)
    case .store, .unnamed, .producer, .cancelled: error
    }
  }

  @inlinable
  func naming<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    do throws(StorageError) {
      return try body()
    } catch {
      throw renamed(error)
    }
  }
}

extension Renamed: ReadableStorage where Base: ReadableStorage {
  /// Keys are those of what is behind.
  public typealias Key = Base.Key
  /// Values are those of what is behind.
  public typealias Value = Base.Value

  /// The entry of what is behind.
  @inlinable
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Base.Value>? {
    try naming { () throws(StorageError) in try base.entry(forKey: key) }
  }

  /// The value of what is behind.
  @inlinable
  public func value(forKey key: Base.Key) throws(StorageError) -> Base.Value? {
    try naming { () throws(StorageError) in try base.value(forKey: key) }
  }

  /// Whether the key is there.
  @inlinable
  public func contains(_ key: Base.Key) throws(StorageError) -> Bool {
    try naming { () throws(StorageError) in try base.contains(key) }
  }

  /// What memory knows.
  @inlinable
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Base.Value> {
    try naming { () throws(StorageError) in try base.residentEntry(forKey: key) }
  }
}

extension Renamed: WritableStorage where Base: WritableStorage {
  /// Keys are those of what is behind.
  public typealias Key = Base.Key
  /// Values are those of what is behind.
  public typealias Value = Base.Value

  /// Stores the value.
  @inlinable
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try naming { () throws(StorageError) in try base.set(value, forKey: key, expiry: expiry) }
  }

  /// Removes the key.
  @inlinable @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool {
    try naming { () throws(StorageError) in try base.removeValue(forKey: key) }
  }
}

extension Renamed: StorageProtocol where Base: StorageProtocol {}

extension Renamed: UpdatableStorage where Base: UpdatableStorage {
  /// Changes the value atomically.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: Base.Key,
    expiry: Expiry?,
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try naming { () throws(StorageError) in try base.update(forKey: key, expiry: expiry, body) }
  }
}

extension ReadableStorage {
  /// The same storage under another name, which errors and measurements show.
  @inlinable
  public func renaming(to name: String) -> Renamed<Self> { Renamed(self, name) }
}

extension WritableStorage {
  /// The same storage under another name, which errors and measurements show.
  @inlinable @_disfavoredOverload
  public func renaming(to name: String) -> Renamed<Self> { Renamed(self, name) }
}
