/// What an operator does with calls on the way in and with entries on the way out; ``Composed`` applies it.
///
/// A step works on what passes and not around the call, so one step serves calls that wait and calls that suspend. What a
/// composition can do follows from what its step conforms to, and from what is behind.
public enum StorageStep {
  /// Converts keys on the way in.
  public protocol Transforming: Sendable {
    /// Keys of what is behind.
    associatedtype InnerKey: Sendable
    /// Values of what is behind.
    associatedtype InnerValue: Sendable
    /// Keys of the composition.
    associatedtype Key: Sendable
    /// Values of the composition.
    associatedtype Value: Sendable
    /// What the step remembers of a call until it has ended.
    associatedtype Mark: Sendable = Void

    /// The key that is asked for behind.
    func inner(_ key: Key) throws(StorageError) -> InnerKey
    /// Whether keys behind are those of the composition.
    var keepsKeys: Bool { get }
    /// The name of the composition of what has the name `inner`.
    func name(_ inner: String) -> String
    /// Its number where values differ from those of what is behind; nil: as what is behind.
    var number: UInt64? { get }
    /// A call begins.
    func began() -> Mark
    /// A call has ended.
    func ended(_ mark: Mark, _ kind: StorageRequest.Kind, _ error: StorageError?)
    /// An error of the storage behind, as the composition throws it.
    func translated(_ error: StorageError) -> StorageError
  }

  /// Values come out.
  public protocol Reading: Transforming {
    /// The entry under `key`, of what was found behind.
    ///
    /// It makes an entry of each that is there, or throws: an update of one that is hidden would find nothing and be refused, and so try
    /// again forever.
    func outer(_ entry: Entry<InnerValue>?, _ key: Key) throws(StorageError) -> Entry<Value>?
    /// What is known of the value under a key, of what was found behind.
    func outer(peeked entry: Entry<Void>?) -> Entry<Void>?
    /// The entry under `key`, where reading failed behind.
    func rescue(_ error: StorageError, _ key: Key) throws(StorageError) -> Entry<Value>?
    /// Whether it may take long to say what there is where nothing is behind.
    var mayTakeLong: Bool { get }
  }

  /// Values go in.
  public protocol Writing: Transforming {
    /// The write that is made behind.
    func inner(_ write: StorageRequest.Write<Value>, _ key: Key) throws(StorageError)
      -> StorageRequest.Write<InnerValue>
  }

  /// Shows all that is behind: emptying the composition empties what is behind.
  public protocol Clearing: Transforming {}

  /// Keys come out too: what such a step makes can be listed and observed.
  public protocol Listing: Reading, Clearing {
    /// The key of the composition for one of what is behind.
    func outer(_ key: InnerKey) throws(StorageError) -> Key
  }
}

extension StorageStep.Transforming {
  /// False, where the types differ.
  @inlinable public var keepsKeys: Bool { false }
  /// The same.
  @inlinable
  public func name(_ inner: String) -> String { inner }
  /// As what is behind.
  @inlinable public var number: UInt64? { nil }
  /// Does nothing.
  @inlinable
  public func ended(_ mark: Mark, _ kind: StorageRequest.Kind, _ error: StorageError?) {}
  /// The same.
  @inlinable
  public func translated(_ error: StorageError) -> StorageError { error }
}

extension StorageStep.Transforming where Mark == Void {
  /// Does nothing.
  @inlinable
  public func began() {}
}

extension StorageStep.Transforming where Key == InnerKey {
  /// The same.
  @inlinable
  public func inner(_ key: Key) throws(StorageError) -> Key { key }
  /// True.
  @inlinable public var keepsKeys: Bool { true }
}

extension StorageStep.Reading {
  /// The same.
  @inlinable
  public func outer(peeked entry: Entry<Void>?) -> Entry<Void>? { entry }
  /// Throws the error.
  @inlinable
  public func rescue(_ error: StorageError, _ key: Key) throws(StorageError) -> Entry<Value>? { throw error }
  /// False.
  @inlinable public var mayTakeLong: Bool { false }
}

extension StorageStep.Reading where Value == InnerValue {
  /// The same.
  @inlinable
  public func outer(_ entry: Entry<Value>?, _ key: Key) throws(StorageError) -> Entry<Value>? { entry }
}

extension StorageStep.Writing where Value == InnerValue {
  /// The same.
  @inlinable
  public func inner(
    _ write: StorageRequest.Write<Value>,
    _ key: Key
  ) throws(StorageError) -> StorageRequest.Write<Value> {
    write
  }
}

extension StorageStep.Listing where Key == InnerKey {
  /// The same.
  @inlinable
  public func outer(_ key: Key) throws(StorageError) -> Key { key }
}
