/// A storage that has nothing and keeps nothing: the end of a chain, a stand-in where a storage is asked for.
public struct EmptyStorage<Key: Sendable, Value: Sendable>: UpdatableStorage {
  /// What it is called.
  public let name: String
  /// An identity of its own.
  public let identity = StorageIdentity()

  /// An empty storage.
  public init(name: String = "empty") {
    self.name = name
  }

  /// False: there is nothing to wait for.
  public var mayBlock: Bool { false }

  /// Nil.
  public func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? { nil }

  /// Absent.
  public func residentEntry(forKey key: Key) throws(StorageError) -> Resident<Value> { .absent }

  /// Does nothing.
  public func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {}

  /// False.
  @discardableResult
  public func removeValue(forKey key: Key) throws(StorageError) -> Bool { false }

  /// Calls `body` with nil and keeps nothing of what it leaves.
  @discardableResult
  public func update<R>(
    forKey key: Key,
    expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var value: Value?
    return try body(&value)
  }
}
