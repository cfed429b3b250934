/// Has a value for every key; see ``ReadableStorage/defaulting(to:)``.
public struct Defaulting<Base: ReadableStorage>: ReadableStorage {
  /// What is behind.
  public let base: Base
  /// An identity of its own.
  public let identity = StorageIdentity()
  @usableFromInline let standard: @Sendable () -> Base.Value

  @inlinable
  init(_ base: Base, _ standard: @escaping @Sendable () -> Base.Value) {
    self.base = base
    self.standard = standard
  }

  /// The name of what is behind.
  @inlinable public var name: String { base.name }
  /// As what is behind.
  @inlinable public var mayBlock: Bool { base.mayBlock }

  /// The entry of what is behind, or one with the default.
  @inlinable
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Base.Value>? {
    if let found = try base.entry(forKey: key) { return found }
    return Entry(standard(), origin: .produced)
  }

  /// The value of what is behind, or the default.
  @inlinable
  public func value(forKey key: Base.Key) throws(StorageError) -> Base.Value? {
    if let found = try base.value(forKey: key) { return found }
    return standard()
  }

  /// What memory knows; the default where it knows the key to be absent.
  @inlinable
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Base.Value> {
    let resident = try base.residentEntry(forKey: key)
    if case .absent = resident { return .present(Entry(standard(), origin: .produced)) }
    return resident
  }
}

extension Defaulting: WritableStorage, StorageProtocol where Base: StorageProtocol {
  /// Stores the value.
  @inlinable
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try base.set(value, forKey: key, expiry: expiry)
  }

  /// Removes the key: from then on it has the default.
  @inlinable @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool { try base.removeValue(forKey: key) }
}

extension Defaulting: UpdatableStorage where Base: UpdatableStorage {
  /// Changes the value atomically, beginning with the default where there is none.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: Base.Key,
    expiry: Expiry?,
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try base.update(forKey: key, expiry: expiry) { (value: inout Base.Value?) throws(StorageError) -> R in
      if value == nil { value = standard() }
      return try body(&value)
    }
  }
}

extension ReadableStorage {
  /// The same storage, with a default for each key that is absent. Errors stay errors: damage is not absence.
  @inlinable
  public func defaulting(to value: @autoclosure @escaping @Sendable () -> Value) -> Defaulting<Self> {
    Defaulting(self, value)
  }
}
