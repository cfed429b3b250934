/// Makes a value where there is none or it cannot be read; see ``ReadableStorage/fallback(with:)``.
public struct Fallback<Base: ReadableStorage>: ReadableStorage {
  /// What is behind.
  public let base: Base
  /// An identity of its own.
  public let identity = StorageIdentity()
  @usableFromInline let produce: @Sendable (Base.Key, StorageError?) throws -> Base.Value

  @inlinable
  init(_ base: Base, _ produce: @escaping @Sendable (Base.Key, StorageError?) throws -> Base.Value) {
    self.base = base
    self.produce = produce
  }

  /// The name of what is behind.
  @inlinable public var name: String { base.name }
  /// As what is behind.
  @inlinable public var mayBlock: Bool { base.mayBlock }

  @usableFromInline
  func made(_ key: Base.Key, _ failure: StorageError?) throws(StorageError) -> Base.Value {
    do {
      return try produce(key, failure)
    } catch {
      throw .producer(error)
    }
  }

  /// The entry of what is behind, or one that was made.
  @inlinable
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Base.Value>? {
    var failure: StorageError?
    do throws(StorageError) {
      if let found = try base.entry(forKey: key) { return found }
    } catch {
      failure = error
    }
    return Entry(try made(key, failure), origin: .produced)
  }

  /// The value of what is behind, or one that was made.
  @inlinable
  public func value(forKey key: Base.Key) throws(StorageError) -> Base.Value? {
    var failure: StorageError?
    do throws(StorageError) {
      if let found = try base.value(forKey: key) { return found }
    } catch {
      failure = error
    }
    return try made(key, failure)
  }

  /// What memory has; what it does not have is not made here, since making it may take its time.
  @inlinable
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Base.Value> {
    if case .present(let found) = try? base.residentEntry(forKey: key) { return .present(found) }
    return .unknown
  }
}

extension Fallback: WritableStorage, StorageProtocol where Base: StorageProtocol {
  /// Stores the value.
  @inlinable
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try base.set(value, forKey: key, expiry: expiry)
  }

  /// Removes the key.
  @inlinable @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool { try base.removeValue(forKey: key) }
}

extension Fallback: UpdatableStorage where Base: UpdatableStorage {
  /// Changes the value atomically, beginning with one that was made where there is none. A value that cannot be read is not
  /// replaced by an update.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: Base.Key,
    expiry: Expiry?,
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try base.update(forKey: key, expiry: expiry) { (value: inout Base.Value?) throws(StorageError) -> R in
      if value == nil { value = try made(key, nil) }
      return try body(&value)
    }
  }
}

extension ReadableStorage {
  /// The same storage, with a value made by `produce` where there is none, or where reading fails: then it is given the
  /// error. What is made is not stored.
  @inlinable
  public func fallback(
    with produce: @escaping @Sendable (Key, StorageError?) throws -> Value
  ) -> Fallback<Self> {
    Fallback(self, produce)
  }
}
