/// A call of a storage, as a tap hears it.
public struct StorageCall: Sendable {
  /// What was called.
  public enum Kind: Hashable, Sendable {
    /// A read; whether there was a value.
    case read(found: Bool)
    /// A read from memory alone that found nothing there; the storage itself may be asked next.
    case missedMemory
    /// A write.
    case set
    /// A removal; whether there was a value.
    case remove(found: Bool)
    /// An atomic change.
    case update
  }

  /// The storage's name.
  public let storage: String
  /// What was called. A call that failed counts as one that found nothing.
  public let kind: Kind
  /// How long it took.
  public let duration: Duration
  /// Why it failed, if it did.
  public let error: StorageError?
}

/// Tells of every call: for logging and metrics; see ``ReadableStorage/tap(_:)``.
public struct Tapped<Base: StorageDesign>: StorageDesign {
  /// What is behind.
  public let base: Base
  private let hook: @Sendable (StorageCall) -> Void

  init(_ base: Base, _ hook: @escaping @Sendable (StorageCall) -> Void) {
    self.base = base
    self.hook = hook
  }

  /// The name of what is behind.
  public var name: String { base.name }
  /// The identity of what is behind: it is the same storage.
  public var identity: StorageIdentity { base.identity }
  /// As what is behind.
  public var mayBlock: Bool { base.mayBlock }

  private func telling<R>(
    failed: StorageCall.Kind,
    _ body: () throws(StorageError) -> R,
    kind: (R) -> StorageCall.Kind
  ) throws(StorageError) -> R {
    let start = ContinuousClock.now
    do throws(StorageError) {
      let result = try body()
      hook(StorageCall(storage: name, kind: kind(result), duration: start.duration(to: .now), error: nil))
      return result
    } catch {
      hook(StorageCall(storage: name, kind: failed, duration: start.duration(to: .now), error: error))
      throw error
    }
  }
}

extension Tapped: ReadableStorage where Base: ReadableStorage {
  /// Keys are those of what is behind.
  public typealias Key = Base.Key
  /// Values are those of what is behind.
  public typealias Value = Base.Value

  /// The entry of what is behind.
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Base.Value>? {
    try telling(failed: .read(found: false), { () throws(StorageError) in try base.entry(forKey: key) }) { found in
      .read(found: found != nil)
    }
  }

  /// The value of what is behind.
  public func value(forKey key: Base.Key) throws(StorageError) -> Base.Value? {
    try telling(failed: .read(found: false), { () throws(StorageError) in try base.value(forKey: key) }) { found in
      .read(found: found != nil)
    }
  }

  /// What memory knows.
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Base.Value> {
    try telling(failed: .missedMemory, { () throws(StorageError) in try base.residentEntry(forKey: key) }) { found in
      switch found {
      case .present: .read(found: true)
      case .absent: .read(found: false)
      case .unknown: .missedMemory
      }
    }
  }
}

extension Tapped: WritableStorage where Base: WritableStorage {
  /// Keys are those of what is behind.
  public typealias Key = Base.Key
  /// Values are those of what is behind.
  public typealias Value = Base.Value

  /// Stores the value.
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try telling(failed: .set, { () throws(StorageError) in try base.set(value, forKey: key, expiry: expiry) }) { _ in
      .set
    }
  }

  /// Removes the key.
  @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool {
    try telling(failed: .remove(found: false), { () throws(StorageError) in try base.removeValue(forKey: key) }) {
      .remove(found: $0)
    }
  }
}

extension Tapped: StorageProtocol where Base: StorageProtocol {}

extension Tapped: UpdatableStorage where Base: UpdatableStorage {
  /// Changes the value atomically.
  @discardableResult
  public func update<R>(
    forKey key: Base.Key,
    expiry: Expiry?,
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try telling(
      failed: .update,
      { () throws(StorageError) -> R in try base.update(forKey: key, expiry: expiry, body) }
    ) { _ in .update }
  }
}

extension ReadableStorage {
  /// The same storage, with `hook` told of each call when it has ended, where it was made. It must be brief.
  public func tap(_ hook: @escaping @Sendable (StorageCall) -> Void) -> Tapped<Self> { Tapped(self, hook) }
}

extension WritableStorage {
  /// The same storage, with `hook` told of each call when it has ended, where it was made. It must be brief.
  @_disfavoredOverload
  public func tap(_ hook: @escaping @Sendable (StorageCall) -> Void) -> Tapped<Self> { Tapped(self, hook) }
}
