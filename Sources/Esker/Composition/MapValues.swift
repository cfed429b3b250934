/// Values of another type, kept as what they turn into; see ``StorageProtocol/mapValues(to:_:from:)``.
public struct MapValues<Base: StorageDesign, Old: Sendable, New: Sendable>: Sendable {
  /// What is behind.
  public let base: Base
  /// An identity of its own.
  public let identity = StorageIdentity()
  @usableFromInline let decode: @Sendable (Old) throws -> New
  @usableFromInline let encode: @Sendable (New) throws -> Old

  @inlinable
  init(_ base: Base, decode: @escaping @Sendable (Old) throws -> New, encode: @escaping @Sendable (New) throws -> Old) {
    self.base = base
    self.decode = decode
    self.encode = encode
  }

  @inlinable
  func decoded(_ value: Old, _ key: @autoclosure () -> Any) throws(StorageError) -> New {
    do {
      return try decode(value)
    } catch {
      throw .decoding(key: "\(key())", view: base.name, expected: "\(New.self)", underlying: error)
    }
  }

  @inlinable
  func encoded(_ value: New) throws(StorageError) -> Old {
    do {
      return try encode(value)
    } catch {
      throw .encoding(view: base.name, type: "\(New.self)", underlying: error)
    }
  }
}

extension MapValues: StorageDesign {
  /// The name of what is behind.
  @inlinable public var name: String { base.name }
  /// As what is behind.
  @inlinable public var mayBlock: Bool { base.mayBlock }
}

extension MapValues: ReadableStorage where Base: ReadableStorage, Base.Value == Old {
  /// Keys are those of what is behind.
  public typealias Key = Base.Key
  /// Values are the turned ones.
  public typealias Value = New

  /// The entry of what is behind, its value turned.
  @inlinable
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<New>? {
    guard let found = try base.entry(forKey: key) else { return nil }
    return try found.map { (value) throws(StorageError) in try decoded(value, key) }
  }

  /// The value of what is behind, turned.
  @inlinable
  public func value(forKey key: Base.Key) throws(StorageError) -> New? {
    guard let found = try base.value(forKey: key) else { return nil }
    return try decoded(found, key)
  }

  /// Whether the key is there; its value is not turned.
  @inlinable
  public func contains(_ key: Base.Key) throws(StorageError) -> Bool { try base.contains(key) }

  /// What memory knows, the value turned.
  @inlinable
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<New> {
    try base.residentEntry(forKey: key).map { (value) throws(StorageError) in try decoded(value, key) }
  }
}

extension MapValues: WritableStorage where Base: WritableStorage, Base.Value == Old {
  /// Keys are those of what is behind.
  public typealias Key = Base.Key
  /// Values are the turned ones.
  public typealias Value = New

  /// Stores what the value turns into.
  @inlinable
  public func set(_ value: New, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try base.set(try encoded(value), forKey: key, expiry: expiry)
  }

  /// Removes the key.
  @inlinable @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool { try base.removeValue(forKey: key) }
}

extension MapValues: StorageProtocol where Base: StorageProtocol, Base.Value == Old {}

extension MapValues: UpdatableStorage where Base: UpdatableStorage, Base.Value == Old {
  /// Changes the turned value atomically.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: Base.Key,
    expiry: Expiry?,
    _ body: (inout New?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try base.update(forKey: key, expiry: expiry) { (stored: inout Old?) throws(StorageError) -> R in
      var value: New?
      if let stored { value = try decoded(stored, key) }
      let result = try body(&value)
      if let value { stored = try encoded(value) } else { stored = nil }
      return result
    }
  }
}

extension MapValues: EnumerableStorage where Base: EnumerableStorage, Base.Value == Old {
  /// Calls `body` with each key and its turned entry.
  public func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Base.Key, Entry<New>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try base.forEachEntry(onFailure: failure) { (key, entry) throws(StorageError) in
      let turned: Entry<New>
      do throws(StorageError) {
        turned = try entry.map { (value) throws(StorageError) in try decoded(value, key) }
      } catch {
        return try failure(error)
      }
      try body(key, turned)
    }
  }

  /// Calls `body` with each key.
  public func forEachKey(_ body: (Base.Key) throws(StorageError) -> Void) throws(StorageError) {
    try base.forEachKey(body)
  }

  /// How many entries there are.
  public func count() throws(StorageError) -> Int { try base.count() }
}

extension MapValues: ClearableStorage where Base: ClearableStorage, Base.Value == Old {
  /// Removes everything.
  public func removeAll() throws(StorageError) { try base.removeAll() }

  /// Removes what is expired now; how much there was.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int { try base.removeExpired() }
}

extension MapValues: ObservableStorage where Base: ObservableStorage, Base.Value == Old {
  /// Calls `body` with every change, its values turned.
  public func observe(
    _ body: @escaping @Sendable (StorageChange<Base.Key, New>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try base.observe { body(turned($0)) }
  }

  /// Calls `body` with every change of one key, its values turned.
  public func observe(
    _ key: Base.Key,
    _ body: @escaping @Sendable (StorageChange<Base.Key, New>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try base.observe(key) { body(turned($0)) }
  }

  private func turned(_ change: StorageChange<Base.Key, Old>) -> StorageChange<Base.Key, New> {
    change.map(
      key: { (key) throws(StorageError) in key },
      value: { (value, key) throws(StorageError) in try decoded(value, key) }
    )
  }
}

extension StorageProtocol {
  /// The same storage with values of another type: `decode` turns what is kept into it, `encode` turns it back.
  ///
  /// What either throws comes out as `StorageError.decoding` or `.encoding`; a value that cannot be encoded changes nothing.
  @inlinable
  public func mapValues<New: Sendable>(
    to type: New.Type = New.self,
    _ decode: @escaping @Sendable (Value) throws -> New,
    from encode: @escaping @Sendable (New) throws -> Value
  ) -> MapValues<Self, Value, New> {
    MapValues(self, decode: decode, encode: encode)
  }

  /// The same storage with values of a type that has the present ones as raw values.
  public func mapValues<New: RawRepresentable & Sendable>(
    toRaw type: New.Type = New.self
  ) -> MapValues<Self, Value, New> where New.RawValue == Value {
    MapValues(
      self,
      decode: { raw in
        guard let value = New(rawValue: raw) else { throw TransformerError.noSuchCase("\(raw)") }
        return value
      },
      encode: { $0.rawValue }
    )
  }
}

extension ReadableStorage {
  /// The values of this storage turned into another type, for reading only.
  @inlinable
  public func mapValues<New: Sendable>(
    to type: New.Type = New.self,
    _ decode: @escaping @Sendable (Value) throws -> New
  ) -> MapValues<ReadOnly<Self>, Value, New> {
    MapValues(ReadOnly(self), decode: decode, encode: { _ in throw OneWay() })
  }
}

extension WritableStorage {
  /// Stores values of another type as what they turn into, for writing only.
  @inlinable
  public func mapValues<New: Sendable>(
    from encode: @escaping @Sendable (New) throws -> Value
  ) -> MapValues<WriteOnly<Self>, Value, New> {
    MapValues(WriteOnly(self), decode: { _ in throw OneWay() }, encode: encode)
  }
}

/// Never seen: a map of one direction has a base that cannot be asked for the other.
@usableFromInline
struct OneWay: Error {
  @usableFromInline init() {}
}
