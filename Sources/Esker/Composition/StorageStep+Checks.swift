// Steps that add to what is there, or refuse some of it.

extension StorageStep {
  /// A value for every key; see `fallback(with:)`.
  public struct Produce<Key: Sendable, Value: Sendable>: Reading, Writing, Clearing {
    /// Unchanged.
    public typealias InnerKey = Key
    /// Unchanged.
    public typealias InnerValue = Value

    let make: @Sendable (Key, StorageError?) throws -> Value

    /// True: the value may have to be computed.
    public var mayTakeLong: Bool { true }

    private func made(_ key: Key, _ failure: StorageError?) throws(StorageError) -> Entry<Value> {
      do {
        return Entry(try make(key, failure), origin: .produced)
      } catch {
        throw .producer(error)
      }
    }

    /// The entry, or one that was made.
    public func outer(_ entry: Entry<Value>?, _ key: Key) throws(StorageError) -> Entry<Value>? {
      if let entry { return entry }
      return try made(key, nil)
    }

    /// There is a value for every key.
    public func outer(peeked entry: Entry<Void>?) -> Entry<Void>? { entry ?? Entry((), origin: .produced) }

    /// One that was made.
    public func rescue(_ error: StorageError, _ key: Key) throws(StorageError) -> Entry<Value>? { try made(key, error) }
  }

  /// A default for each key that is absent; see `defaulting(to:)`.
  public struct Default<Key: Sendable, Value: Sendable>: Listing, Writing {
    /// Unchanged.
    public typealias InnerKey = Key
    /// Unchanged.
    public typealias InnerValue = Value

    @usableFromInline let standard: @Sendable () -> Value

    @usableFromInline
    init(_ standard: @escaping @Sendable () -> Value) {
      self.standard = standard
    }

    /// The entry, or one with the default.
    @inlinable
    public func outer(_ entry: Entry<Value>?, _ key: Key) throws(StorageError) -> Entry<Value>? {
      entry ?? Entry(standard(), origin: .produced)
    }

    /// There is a value for every key.
    public func outer(peeked entry: Entry<Void>?) -> Entry<Void>? { entry ?? Entry((), origin: .produced) }
  }

  /// Values that meet a condition; see ``StorageProtocol/validate(_:)``.
  public struct Validate<Key: Sendable, Value: Sendable>: Listing, Writing {
    /// Unchanged.
    public typealias InnerKey = Key
    /// Unchanged.
    public typealias InnerValue = Value

    /// Its own: not all values that are behind.
    public let number: UInt64? = StorageRequest.newStorage()
    @usableFromInline let view: String
    @usableFromInline let isValid: @Sendable (Value) throws -> Bool

    @usableFromInline
    init(view: String, _ isValid: @escaping @Sendable (Value) throws -> Bool) {
      self.view = view
      self.isValid = isValid
    }

    @usableFromInline
    func check(_ value: Value, _ key: Key) throws(StorageError) {
      do {
        guard try isValid(value) else { throw InvalidValue() }
      } catch {
        throw .rejected(key: "\(key)", view: view, underlying: error)
      }
    }

    /// The entry, if its value is valid.
    @inlinable
    public func outer(_ entry: Entry<Value>?, _ key: Key) throws(StorageError) -> Entry<Value>? {
      if let entry { try check(entry.value, key) }
      return entry
    }

    /// The write, if its value is valid.
    @inlinable
    public func inner(
      _ write: StorageRequest.Write<Value>,
      _ key: Key
    ) throws(StorageError) -> StorageRequest.Write<Value> {
      if case .set(let value) = write.action { try check(value, key) }
      return write
    }
  }
}

/// The condition of a `validate` does not hold for the value.
struct InvalidValue: Error, Hashable, CustomStringConvertible {
  /// What is wrong.
  var description: String { "the value is not valid" }
}

extension StorageProtocol {
  /// The same storage, with a default for each key that is absent. Errors stay errors: damage is not absence. The default is not
  /// stored: lists and changes do not contain it.
  public func defaulting(
    to value: @autoclosure @escaping @Sendable () -> Value
  ) -> Composed<Self, StorageStep.Default<Key, Value>> {
    Composed(self, StorageStep.Default(value))
  }

  /// The same storage, with a value made by `produce` where there is none, or where reading fails: then it is given the
  /// error. What is made is not stored.
  public func fallback(
    with produce: @escaping @Sendable (Key, StorageError?) throws -> Value
  ) -> Composed<Self, StorageStep.Produce<Key, Value>> {
    Composed(self, StorageStep.Produce(make: produce))
  }

  /// The same storage for values that meet a condition: others are refused, on the way out and, where it can be written, on
  /// the way in.
  public func validate(
    _ isValid: @escaping @Sendable (Value) throws -> Bool
  ) -> Composed<Self, StorageStep.Validate<Key, Value>> {
    Composed(self, StorageStep.Validate(view: name, isValid))
  }
}
