internal import EskerPlatform

/// A property that is kept in a storage: a setting, a counter, the last thing seen.
///
/// ```swift
/// struct Settings {
///   @Stored var launches: Int
///   init(_ store: LogStore) throws { _launches = try Stored(wrappedValue: 0, "launches", in: store) }
/// }
/// ```
///
/// A property cannot throw. Reading one that cannot be read gives its default, and what went wrong is in ``error`` of the
/// projected value, `$launches.error`. As long as the value cannot be read, writing the property changes nothing and keeps the
/// error: what is there may be of another version of the program, and `+=` would replace it by its default.
/// ``replace(_:)`` and ``reset()`` overwrite it on purpose. ``load()``, ``save(_:)`` and ``update(_:)`` throw instead.
///
/// Safe to use from any thread; `+=` on the property is a read and a write, ``update(_:)`` is atomic.
@propertyWrapper
public struct Stored<Value: Sendable>: Sendable {
  private final class Failure: Sendable {
    let last = Guarded<StorageError?>(nil, .leaf)
  }

  private let storage: PartialStorage<Void, Value>
  private let standard: Value
  private let failure = Failure()

  /// The value under `key` of `storage`; `wrappedValue` while there is none.
  public init(wrappedValue: Value, _ key: String, in storage: Storage<String, Value>) {
    standard = wrappedValue
    self.storage = PartialStorage(storage.singleKey(key))
  }

  /// The value under `key` of a storage of settings, in which each has its own type; `wrappedValue` while there is none.
  ///
  /// Settings are kept as CBOR whatever their type, which says itself what it holds: one keyspace has one form.
  ///
  /// Once the keyspace is removed, the property fails with `keyspaceRemoved`, as any view of it does, until it is made anew.
  ///
  /// - Throws: ``StorageError/form(of:keyspace:recorded:asked:)`` for a keyspace of anything else; ``StorageError/store(_:)``, see
  ///   `LogStore.keyspace(_:)`.
  public init(
    wrappedValue: Value,
    _ key: String,
    in store: LogStore,
    keyspace: String = "settings"
  ) throws(StorageError) where Value: Codable {
    let settings = try LogStorage<String, Value>(store, keyspace, values: .binary, isOwn: true)
    self.init(wrappedValue: wrappedValue, key, in: Storage(settings))
  }

  /// The value.
  public var wrappedValue: Value {
    get { (try? noting { () throws(StorageError) in try load() }) ?? standard }
    nonmutating set { try? noting { () throws(StorageError) in try save(newValue) } }
  }

  /// The property itself, with what went wrong and operations that throw.
  public var projectedValue: Stored { self }

  /// Why the last read or write of the property failed; nil when it did not.
  public var error: StorageError? { failure.last.withLock { $0 } }

  private func noting<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    do throws(StorageError) {
      let result = try body()
      failure.last.withLock { $0 = nil }
      return result
    } catch {
      failure.last.withLock { $0 = error }
      throw error
    }
  }

  /// The value, or the default while there is none.
  public func load() throws(StorageError) -> Value {
    if let value = try storage.value() { return value }
    return standard
  }

  /// Stores the value, if what is there can be read.
  ///
  /// - Throws: why it cannot be read, and it is still there; or why the value was not stored.
  public func save(_ value: Value) throws(StorageError) {
    _ = try storage.value()
    try storage.set(value)
  }

  /// Stores the value, also in place of one that cannot be read.
  public func replace(_ value: Value) throws(StorageError) {
    try noting { () throws(StorageError) in try storage.set(value) }
  }

  /// Changes the value atomically; what it is then.
  @discardableResult
  public func update(_ body: (inout Value) throws(StorageError) -> Void) throws(StorageError) -> Value {
    try storage.update(forKey: (), default: standard, body)
  }

  /// Removes the value: from then on it is the default.
  public func reset() throws(StorageError) {
    try noting { () throws(StorageError) in _ = try storage.removeValue() }
  }
}
