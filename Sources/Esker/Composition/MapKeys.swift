/// Keys of another type, looked up as what they turn into; see ``ReadableStorage/mapKeys(to:_:)``.
///
/// The way goes from the new keys to the old ones only, so what lists or tells keys is not here: see ``StorageKey`` for keys
/// that go both ways.
public struct MapKeys<Base: StorageDesign, Old: Sendable, New: Sendable>: Sendable {
  /// What is behind.
  public let base: Base
  /// An identity of its own.
  public let identity = StorageIdentity()
  @usableFromInline let transform: @Sendable (New) throws -> Old

  @inlinable
  init(_ base: Base, _ transform: @escaping @Sendable (New) throws -> Old) {
    self.base = base
    self.transform = transform
  }

  @inlinable
  func turned(_ key: New) throws(StorageError) -> Old {
    do {
      return try transform(key)
    } catch {
      throw .key("\(key)", view: base.name, underlying: error)
    }
  }
}

extension MapKeys: StorageDesign {
  /// The name of what is behind.
  @inlinable public var name: String { base.name }
  /// As what is behind.
  @inlinable public var mayBlock: Bool { base.mayBlock }
}

extension MapKeys: ReadableStorage where Base: ReadableStorage, Base.Key == Old {
  /// Keys are the new ones.
  public typealias Key = New
  /// Values are those of what is behind.
  public typealias Value = Base.Value

  /// The entry under the turned key.
  @inlinable
  public func entry(forKey key: New) throws(StorageError) -> Entry<Base.Value>? {
    try base.entry(forKey: try turned(key))
  }

  /// The value under the turned key.
  @inlinable
  public func value(forKey key: New) throws(StorageError) -> Base.Value? { try base.value(forKey: try turned(key)) }

  /// Whether the turned key is there.
  @inlinable
  public func contains(_ key: New) throws(StorageError) -> Bool { try base.contains(try turned(key)) }

  /// What memory knows of the turned key.
  @inlinable
  public func residentEntry(forKey key: New) throws(StorageError) -> Resident<Base.Value> {
    try base.residentEntry(forKey: try turned(key))
  }
}

extension MapKeys: WritableStorage where Base: WritableStorage, Base.Key == Old {
  /// Keys are the new ones.
  public typealias Key = New
  /// Values are those of what is behind.
  public typealias Value = Base.Value

  /// Stores the value under the turned key.
  @inlinable
  public func set(_ value: Base.Value, forKey key: New, expiry: Expiry?) throws(StorageError) {
    try base.set(value, forKey: try turned(key), expiry: expiry)
  }

  /// Removes the turned key.
  @inlinable @discardableResult
  public func removeValue(forKey key: New) throws(StorageError) -> Bool {
    try base.removeValue(forKey: try turned(key))
  }
}

extension MapKeys: StorageProtocol where Base: StorageProtocol, Base.Key == Old {}

extension MapKeys: UpdatableStorage where Base: UpdatableStorage, Base.Key == Old {
  /// Changes the value under the turned key atomically.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: New,
    expiry: Expiry?,
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try base.update(forKey: try turned(key), expiry: expiry, body)
  }
}

extension ReadableStorage {
  /// The same storage with keys of another type, each looked up as what `transform` turns it into.
  @inlinable
  public func mapKeys<New: Sendable>(
    to type: New.Type = New.self,
    _ transform: @escaping @Sendable (New) throws -> Key
  ) -> MapKeys<Self, Key, New> {
    MapKeys(self, transform)
  }

  /// The same storage with keys of a type that has the present ones as raw values.
  @inlinable
  public func mapKeys<New: RawRepresentable & Sendable>(
    toRaw type: New.Type = New.self
  ) -> MapKeys<Self, Key, New> where New.RawValue == Key {
    MapKeys(self) { $0.rawValue }
  }

  /// The same storage with strings as keys, for one whose keys have strings as raw values.
  public func usingStringKeys() -> MapKeys<Self, Key, String> where Key: RawRepresentable, Key.RawValue == String {
    MapKeys(self) { text in
      guard let key = Key(rawValue: text) else { throw TransformerError.noSuchCase(text) }
      return key
    }
  }

  /// One key of the storage as a storage of its own, which needs none: a setting, a counter, a document.
  @inlinable
  public func singleKey(_ key: Key) -> MapKeys<Self, Key, Void> {
    MapKeys(self) { _ in key }
  }
}

extension WritableStorage {
  /// The same storage with keys of another type, each written under what `transform` turns it into.
  @inlinable @_disfavoredOverload
  public func mapKeys<New: Sendable>(
    to type: New.Type = New.self,
    _ transform: @escaping @Sendable (New) throws -> Key
  ) -> MapKeys<Self, Key, New> {
    MapKeys(self, transform)
  }

  /// One key of the storage as a storage of its own, which needs none.
  @inlinable @_disfavoredOverload
  public func singleKey(_ key: Key) -> MapKeys<Self, Key, Void> {
    MapKeys(self) { _ in key }
  }
}
