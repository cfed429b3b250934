// Steps that turn values and keys.

extension StorageStep {
  /// Values of another type, both ways; see `mapValues`.
  public struct MapValues<Key: Sendable, InnerValue: Sendable, Value: Sendable>: Listing, Writing {
    /// Unchanged.
    public typealias InnerKey = Key

    /// Its own: other values than behind.
    public let number: UInt64? = StorageRequest.newStorage()
    @usableFromInline let view: String
    @usableFromInline let decode: @Sendable (InnerValue) throws -> Value
    @usableFromInline let encode: @Sendable (Value) throws -> InnerValue

    @usableFromInline
    init(
      view: String,
      decode: @escaping @Sendable (InnerValue) throws -> Value,
      encode: @escaping @Sendable (Value) throws -> InnerValue
    ) {
      self.view = view
      self.decode = decode
      self.encode = encode
    }

    /// The entry with its value turned.
    @inlinable
    public func outer(_ entry: Entry<InnerValue>?, _ key: Key) throws(StorageError) -> Entry<Value>? {
      guard let entry else { return nil }
      return try entry.map { (value) throws(StorageError) in
        do { return try decode(value) } catch { throw undecodable(key, error) }
      }
    }

    /// The write with its value turned.
    @inlinable
    public func inner(
      _ write: StorageRequest.Write<Value>,
      _ key: Key
    ) throws(StorageError) -> StorageRequest.Write<InnerValue> {
      try write.map { (value) throws(StorageError) in
        do { return try encode(value) } catch { throw .encoding(view: view, type: "\(Value.self)", underlying: error) }
      }
    }

    @usableFromInline
    func undecodable(_ key: Key, _ error: any Error) -> StorageError {
      .decoding(key: "\(key)", view: view, expected: "\(Value.self)", underlying: error)
    }
  }

  /// Values of another type on the way out only.
  public struct ReadValues<Key: Sendable, InnerValue: Sendable, Value: Sendable>: Listing {
    /// Unchanged.
    public typealias InnerKey = Key

    /// Its own: other values than behind.
    public let number: UInt64? = StorageRequest.newStorage()
    let view: String
    let decode: @Sendable (InnerValue) throws -> Value

    /// The entry with its value turned.
    public func outer(_ entry: Entry<InnerValue>?, _ key: Key) throws(StorageError) -> Entry<Value>? {
      guard let entry else { return nil }
      return try entry.map { (value) throws(StorageError) in
        do {
          return try decode(value)
        } catch {
          throw .decoding(key: "\(key)", view: view, expected: "\(Value.self)", underlying: error)
        }
      }
    }
  }

  /// Values of another type on the way in only.
  public struct WriteValues<Key: Sendable, InnerValue: Sendable, Value: Sendable>: Writing, Clearing {
    /// Unchanged.
    public typealias InnerKey = Key

    /// Its own: other values than behind.
    public let number: UInt64? = StorageRequest.newStorage()
    let view: String
    let encode: @Sendable (Value) throws -> InnerValue

    /// The write with its value turned.
    public func inner(
      _ write: StorageRequest.Write<Value>,
      _ key: Key
    ) throws(StorageError) -> StorageRequest.Write<InnerValue> {
      try write.map { (value) throws(StorageError) in
        do { return try encode(value) } catch { throw .encoding(view: view, type: "\(Value.self)", underlying: error) }
      }
    }
  }

  /// Keys of another type, looked up as what they turn into; see `mapKeys`.
  ///
  /// Keys are turned in one direction only, so the result can be neither listed nor observed, and has no `removeAll`: a view of some
  /// keys must not remove the rest.
  public struct MapKeys<InnerKey: Sendable, Key: Sendable, Value: Sendable>: Reading, Writing {
    /// Unchanged.
    public typealias InnerValue = Value

    @usableFromInline let view: String
    @usableFromInline let turn: @Sendable (Key) throws -> InnerKey

    @usableFromInline
    init(view: String, _ turn: @escaping @Sendable (Key) throws -> InnerKey) {
      self.view = view
      self.turn = turn
    }

    /// False.
    public var keepsKeys: Bool { false }

    /// The turned key.
    @inlinable
    public func inner(_ key: Key) throws(StorageError) -> InnerKey {
      do { return try turn(key) } catch { throw .key("\(key)", view: view, underlying: error) }
    }
  }

  /// Keys of another type, both ways; see `mapKeys`.
  public struct ExchangeKeys<InnerKey: Sendable, Key: Sendable, Value: Sendable>: Listing, Writing {
    /// Unchanged.
    public typealias InnerValue = Value

    let view: String
    let turn: @Sendable (Key) throws -> InnerKey
    let turnBack: @Sendable (InnerKey) throws -> Key

    /// False.
    public var keepsKeys: Bool { false }

    /// The turned key.
    public func inner(_ key: Key) throws(StorageError) -> InnerKey {
      do { return try turn(key) } catch { throw .key("\(key)", view: view, underlying: error) }
    }

    /// The key that turns into this one.
    public func outer(_ key: InnerKey) throws(StorageError) -> Key {
      do { return try turnBack(key) } catch { throw .key("\(key)", view: view, underlying: error) }
    }
  }
}

extension StorageProtocol {
  /// The same storage with values of another type: `decode` turns what is kept into it, `encode` turns it back.
  ///
  /// What either throws comes out as `StorageError.decoding` or `.encoding`; a value that cannot be encoded changes nothing.
  public func mapValues<New: Sendable>(
    to type: New.Type = New.self,
    _ decode: @escaping @Sendable (Value) throws -> New,
    from encode: @escaping @Sendable (New) throws -> Value
  ) -> Composed<Self, StorageStep.MapValues<Key, Value, New>> {
    Composed(self, StorageStep.MapValues(view: name, decode: decode, encode: encode))
  }

  /// The same storage with values of a type that has the present ones as raw values.
  public func mapValues<New: RawRepresentable & Sendable>(
    toRaw type: New.Type = New.self
  ) -> Composed<Self, StorageStep.MapValues<Key, Value, New>> where New.RawValue == Value {
    mapValues { raw in
      guard let value = New(rawValue: raw) else { throw TransformerError.noSuchCase("\(raw)") }
      return value
    } from: {
      $0.rawValue
    }
  }

  /// The same storage with keys of another type, each looked up as what `turn` turns it into.
  ///
  /// Memory in front of it knows the keys as they are here: if `turn` makes one of two keys, a write to one does not drop the other
  /// from memory. Put memory behind it instead: `storage.cached().mapKeys(…)`.
  public func mapKeys<New: Sendable>(
    to type: New.Type = New.self,
    _ turn: @escaping @Sendable (New) throws -> Key
  ) -> Composed<Self, StorageStep.MapKeys<Key, New, Value>> {
    Composed(self, StorageStep.MapKeys(view: name, turn))
  }

  /// The same storage with keys of another type: `turn` turns them into what is looked up, `turnBack` turns that into them
  /// again, so that the storage can still be listed and observed.
  public func mapKeys<New: Sendable>(
    to type: New.Type = New.self,
    _ turn: @escaping @Sendable (New) throws -> Key,
    back turnBack: @escaping @Sendable (Key) throws -> New
  ) -> Composed<Self, StorageStep.ExchangeKeys<Key, New, Value>> {
    Composed(self, StorageStep.ExchangeKeys(view: name, turn: turn, turnBack: turnBack))
  }

  /// The same storage with keys of a type that has the present ones as raw values.
  public func mapKeys<New: RawRepresentable & Sendable>(
    toRaw type: New.Type = New.self
  ) -> Composed<Self, StorageStep.ExchangeKeys<Key, New, Value>> where New.RawValue == Key {
    mapKeys {
      $0.rawValue
    } back: { raw in
      guard let key = New(rawValue: raw) else { throw TransformerError.noSuchCase("\(raw)") }
      return key
    }
  }

  /// The same storage with strings as keys, for one whose keys have strings as raw values.
  public func usingStringKeys() -> Composed<Self, StorageStep.ExchangeKeys<Key, String, Value>>
  where Key: RawRepresentable, Key.RawValue == String {
    mapKeys { text in
      guard let key = Key(rawValue: text) else { throw TransformerError.noSuchCase(text) }
      return key
    } back: {
      $0.rawValue
    }
  }

  /// One key of the storage as a storage of its own, which needs none: a setting, a counter, a document.
  public func singleKey(_ key: Key) -> Composed<Self, StorageStep.MapKeys<Key, Void, Value>> {
    mapKeys(to: Void.self) { key }
  }
}

extension AsyncReadableStorage {
  /// The values of this storage turned into another type, for reading only.
  public func mapValues<New: Sendable>(
    to type: New.Type = New.self,
    _ decode: @escaping @Sendable (Value) throws -> New
  ) -> Composed<Self, StorageStep.ReadValues<Key, Value, New>> {
    Composed(self, StorageStep.ReadValues(view: name, decode: decode))
  }
}

extension AsyncWritableStorage {
  /// Stores values of another type as what they turn into, for writing only.
  @_disfavoredOverload
  public func mapValues<New: Sendable>(
    from encode: @escaping @Sendable (New) throws -> Value
  ) -> Composed<Self, StorageStep.WriteValues<Key, Value, New>> {
    Composed(self, StorageStep.WriteValues(view: name, encode: encode))
  }
}
