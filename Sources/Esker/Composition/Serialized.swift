internal import Foundation

/// One call at a time, so that a change of what was read is atomic; see ``StorageProtocol/serialized()``.
public struct Serialized<Base: StorageProtocol>: UpdatableStorage {
  /// What is behind.
  public let base: Base
  /// An identity of its own.
  public let identity = StorageIdentity()
  // Recursive: the body of an update may call the storage.
  private let lock = NSRecursiveLock()

  init(_ base: Base) {
    self.base = base
  }

  /// The name of what is behind.
  public var name: String { base.name }

  /// True: another call may have to end first.
  public var mayBlock: Bool { true }

  private func alone<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  /// The entry of what is behind.
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Base.Value>? {
    try alone { () throws(StorageError) in try base.entry(forKey: key) }
  }

  /// What memory knows, asked without waiting for other calls.
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Base.Value> {
    try base.residentEntry(forKey: key)
  }

  /// Stores the value once no other call is under way.
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try alone { () throws(StorageError) in try base.set(value, forKey: key, expiry: expiry) }
  }

  /// Removes the key once no other call is under way.
  @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool {
    try alone { () throws(StorageError) in try base.removeValue(forKey: key) }
  }

  /// Reads, changes and writes with no other call in between.
  @discardableResult
  public func update<R>(
    forKey key: Base.Key,
    expiry: Expiry?,
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try alone { () throws(StorageError) in
      let found = try base.entry(forKey: key)
      var value = found?.value
      let result = try body(&value)
      if let value {
        try base.set(value, forKey: key, expiry: expiry ?? found?.expiry)
      } else if found != nil {
        try base.removeValue(forKey: key)
      }
      return result
    }
  }
}

extension StorageProtocol {
  /// The same storage, one call at a time: what makes `update` atomic where the back does not offer it.
  ///
  /// Only calls through this storage and its copies wait for each other, so all writers must use it.
  public func serialized() -> Serialized<Self> { Serialized(self) }
}
