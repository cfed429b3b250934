/// A storage whose values are checked on the way in and on the way out; see ``ReadableStorage/validate(_:)``.
public struct Validated<Base: StorageDesign, Kept: Sendable>: StorageDesign {
  /// What is behind.
  public let base: Base
  /// An identity of its own.
  public let identity = StorageIdentity()
  @usableFromInline let isValid: @Sendable (Kept) throws -> Bool

  @inlinable
  init(_ base: Base, _ isValid: @escaping @Sendable (Kept) throws -> Bool) {
    self.base = base
    self.isValid = isValid
  }

  /// The name of what is behind.
  @inlinable public var name: String { base.name }
  /// As what is behind.
  @inlinable public var mayBlock: Bool { base.mayBlock }

  @inlinable
  func check(_ value: Kept, _ key: @autoclosure () -> Any) throws(StorageError) {
    do {
      guard try isValid(value) else { throw InvalidValue() }
    } catch {
      throw .rejected(key: "\(key())", view: base.name, underlying: error)
    }
  }
}

/// The condition of a `validate` does not hold for the value.
public struct InvalidValue: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public var description: String { "the value is not valid" }

  @usableFromInline
  init() {}
}

extension Validated: ReadableStorage where Base: ReadableStorage, Base.Value == Kept {
  /// Keys are those of what is behind.
  public typealias Key = Base.Key
  /// Values are those of what is behind.
  public typealias Value = Kept

  /// The entry of what is behind, if it is valid.
  @inlinable
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Kept>? {
    guard let found = try base.entry(forKey: key) else { return nil }
    try check(found.value, key)
    return found
  }

  /// The value of what is behind, if it is valid.
  @inlinable
  public func value(forKey key: Base.Key) throws(StorageError) -> Kept? {
    guard let found = try base.value(forKey: key) else { return nil }
    try check(found, key)
    return found
  }

  /// What memory knows, if it is valid.
  @inlinable
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Kept> {
    let resident = try base.residentEntry(forKey: key)
    if case .present(let found) = resident { try check(found.value, key) }
    return resident
  }
}

extension Validated: WritableStorage where Base: WritableStorage, Base.Value == Kept {
  /// Keys are those of what is behind.
  public typealias Key = Base.Key
  /// Values are those of what is behind.
  public typealias Value = Kept

  /// Stores the value if it is valid.
  @inlinable
  public func set(_ value: Kept, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try check(value, key)
    try base.set(value, forKey: key, expiry: expiry)
  }

  /// Removes the key.
  @inlinable @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool { try base.removeValue(forKey: key) }
}

extension Validated: StorageProtocol where Base: StorageProtocol, Base.Value == Kept {}

extension Validated: UpdatableStorage where Base: UpdatableStorage, Base.Value == Kept {
  /// Changes the value atomically if it is valid before and after.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: Base.Key,
    expiry: Expiry?,
    _ body: (inout Kept?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try base.update(forKey: key, expiry: expiry) { (value: inout Kept?) throws(StorageError) -> R in
      if let value { try check(value, key) }
      let result = try body(&value)
      if let value { try check(value, key) }
      return result
    }
  }
}

extension ReadableStorage {
  /// The same storage for values that meet a condition: others are refused, on the way out and, where it can be written, on
  /// the way in.
  @inlinable
  public func validate(_ isValid: @escaping @Sendable (Value) throws -> Bool) -> Validated<Self, Value> {
    Validated(self, isValid)
  }
}

extension WritableStorage {
  /// The same storage for values that meet a condition: others are refused on the way in.
  @inlinable @_disfavoredOverload
  public func validate(_ isValid: @escaping @Sendable (Value) throws -> Bool) -> Validated<Self, Value> {
    Validated(self, isValid)
  }
}
