/// A storage that has nothing and keeps nothing: the end of a chain, a stand-in where a storage is asked for.
public struct EmptyStorage<Key: StorageKey, Value: Sendable>: UpdatableStorage {
  /// What it is called.
  public let name: String
  private let number = StorageRequest.newStorage()
  private let now: @Sendable () -> WallTime

  /// An empty storage.
  public init(name: String = "empty") {
    self.init(name: name, now: Options.Clock.system.now)
  }

  /// One that goes by the time of another.
  init(name: String, now: @escaping @Sendable () -> WallTime) {
    self.name = name
    self.now = now
  }

  /// The system's time.
  public var time: WallTime { now() }

  /// The storage and the key's bytes.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    try key.identity(in: number, by: Key.keyTransformer, named: name)
  }

  /// Nil.
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? { nil }

  /// Absent.
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    .absent
  }

  /// Keeps nothing. Conditions hold as they do where there is nothing.
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    switch call.action {
    case .set, .remove: StorageRequest.Receipt(isDone: call.condition.holds(nil))
    case .touch, .extend: StorageRequest.Receipt(isDone: false)
    }
  }

  /// As `read`, where it is called.
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? { nil }

  /// As `write`, where it is called.
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    try write(key, call)
  }
}
