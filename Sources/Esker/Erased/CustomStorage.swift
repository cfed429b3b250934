/// A back of the caller's making, from two functions. Their errors come out as ``StorageError/back(name:underlying:)``.
public struct CustomStorage<Key: Sendable, Value: Sendable>: StorageProtocol {
  /// What the back is called.
  public let name: String
  /// An identity of its own.
  public let identity = StorageIdentity()
  private let get: @Sendable (Key) throws -> Value?
  private let put: @Sendable (Value?, Key) throws -> Void

  /// A back that reads by `get`, which answers nil for an absent key, and writes by `set`, which removes when given nil.
  ///
  /// A back made so knows no expiry: one that is given with a value is not kept.
  public init(
    name: String,
    get: @escaping @Sendable (Key) throws -> Value?,
    set: @escaping @Sendable (Value?, Key) throws -> Void
  ) {
    self.name = name
    self.get = get
    put = set
  }

  private func running<R>(_ body: () throws -> R) throws(StorageError) -> R {
    do {
      return try DeferredSyncs.suspend { () throws(any Error) in try body() }
    } catch {
      throw .back(name: name, underlying: error)
    }
  }

  /// What `get` answers.
  public func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? {
    try running { try get(key) }.map { Entry($0, origin: .back(name)) }
  }

  /// Calls `set`.
  public func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {
    try running { try put(value, key) }
  }

  /// Calls `set` with nil if `get` finds the key.
  @discardableResult
  public func removeValue(forKey key: Key) throws(StorageError) -> Bool {
    guard try running({ try get(key) }) != nil else { return false }
    try running { try put(nil, key) }
    return true
  }
}
