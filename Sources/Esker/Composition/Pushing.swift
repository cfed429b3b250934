/// A storage whose writes go to another one too; see ``WritableStorage/pushing(to:)``.
public struct Pushing<Base: WritableStorage, Target: WritableStorage>: WritableStorage
where Base.Key == Target.Key, Base.Value == Target.Value {
  /// What is written first, and read.
  public let base: Base
  /// What is written next.
  public let target: Target
  /// An identity of its own.
  public let identity = StorageIdentity()

  @usableFromInline
  init(_ base: Base, _ target: Target) {
    self.base = base
    self.target = target
  }

  /// Both names.
  public var name: String { "\(base.name)-\(target.name)" }

  /// Whether either may wait.
  public var mayBlock: Bool { base.mayBlock || target.mayBlock }

  /// Stores the value here, then there. If it is refused here it is not stored there; if it is refused there, the error says
  /// so and it stays here.
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try base.set(value, forKey: key, expiry: expiry)
    try target.set(value, forKey: key, expiry: expiry)
  }

  /// Removes the key here, then there; true when it was in either.
  @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool {
    let wasHere = try base.removeValue(forKey: key)
    let wasThere = try target.removeValue(forKey: key)
    return wasHere || wasThere
  }
}

extension Pushing: ReadableStorage, StorageProtocol where Base: StorageProtocol {
  /// The entry of the base.
  @inlinable
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Base.Value>? { try base.entry(forKey: key) }

  /// The value of the base.
  @inlinable
  public func value(forKey key: Base.Key) throws(StorageError) -> Base.Value? { try base.value(forKey: key) }

  /// What the memory of the base knows.
  @inlinable
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Base.Value> {
    try base.residentEntry(forKey: key)
  }
}

extension WritableStorage {
  /// This storage, with every write going to `target` too.
  public func pushing<Target: WritableStorage>(
    to target: Target
  ) -> Pushing<Self, Target> where Target.Key == Key, Target.Value == Value {
    Pushing(self, target)
  }
}
