internal import EskerPlatform

/// A property that is kept in a storage: a setting, a counter, the last thing seen.
///
/// ```swift
/// struct Settings {
///   @Stored var launches: Int
///   init(_ store: LogStore) { _launches = Stored(wrappedValue: 0, "launches", in: store) }
/// }
/// ```
///
/// Where the store is at hand, `@Stored("launches", in: store) var launches = 0` says the same.
///
/// A property cannot throw. Reading one that cannot be read gives its default, and what went wrong is in ``error`` of the
/// projected value, `$launches.error`. As long as the value cannot be read, writing the property changes nothing and keeps the
/// error: what is there may be of another version of the program, and `+=` would replace it by its default.
/// ``replace(_:)`` and ``reset()`` overwrite it on purpose. ``load()``, ``save(_:)`` and `update` throw instead.
///
/// Safe to use from any thread; `+=` on the property is a read and a write, `update` is atomic.
@propertyWrapper
public struct Stored<Value: Sendable>: Sendable {
  private final class Failure: Sendable {
    let last: Guarded<StorageError?>

    init(_ first: StorageError?) {
      last = Guarded(first, .leaf)
    }
  }

  /// The storage, or why there is none.
  private let opened: Result<PartialStorage<Void, Value>, StorageError>
  private let standard: Value
  private let failure: Failure

  /// The value under `key` of `storage`; `wrappedValue` while there is none.
  public init(wrappedValue: Value, _ key: String, in storage: Storage<String, Value>) {
    self.init(wrappedValue, .success(PartialStorage(storage.singleKey(key))))
  }

  /// The value under `key` of a storage of settings, in which each has its own type; `wrappedValue` while there is none.
  ///
  /// Settings are kept as CBOR whatever their type, which says itself what it holds: one keyspace has one form.
  ///
  /// A keyspace that cannot be opened is what is wrong with the property until it is made anew: ``error`` says why, and all that
  /// can throw throws it. That is ``StorageError/form(of:keyspace:recorded:asked:)`` for a keyspace of anything else, or
  /// ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`. Once the keyspace is removed, the property fails with
  /// `keyspaceRemoved`, as any view of it does.
  public init(
    wrappedValue: Value,
    _ key: String,
    in store: LogStore,
    keyspace: String = "settings"
  ) where Value: Codable {
    do throws(StorageError) {
      let settings = try LogStorage<String, Value>(store, keyspace, values: .binary, isOwn: true)
      self.init(wrappedValue: wrappedValue, key, in: Storage(settings))
    } catch {
      self.init(wrappedValue, .failure(error))
    }
  }

  private init(_ standard: Value, _ opened: Result<PartialStorage<Void, Value>, StorageError>) {
    self.standard = standard
    self.opened = opened
    var first: StorageError?
    if case .failure(let error) = opened { first = error }
    failure = Failure(first)
  }

  /// The value.
  public var wrappedValue: Value {
    get { (try? noting { () throws(StorageError) in try load() }) ?? standard }
    nonmutating set { try? noting { () throws(StorageError) in try save(newValue) } }
  }

  /// The property itself, with what went wrong and operations that throw.
  public var projectedValue: Stored { self }

  /// Why the last read or write of the property failed, or why its keyspace cannot be opened; nil when nothing did.
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
    if let value = try opened.get().value() { return value }
    return standard
  }

  /// Stores the value, if what is there can be read. No other write comes between the look and the write. A value that expires keeps
  /// its expiry.
  ///
  /// - Throws: why it cannot be read, and it is still there; or why the value was not stored.
  public func save(_ value: Value) throws(StorageError) {
    try opened.get().update(forKey: ()) { (stored: inout Value?) throws(StorageError) in stored = value }
  }

  /// Stores the value, also in place of one that cannot be read.
  public func replace(_ value: Value) throws(StorageError) {
    try noting { () throws(StorageError) in try opened.get().set(value) }
  }

  /// Changes the value atomically; what it is then.
  @discardableResult
  public func update(_ body: (inout Value) throws(StorageError) -> Void) throws(StorageError) -> Value {
    try opened.get().update(forKey: (), default: standard, body)
  }

  /// Changes the value atomically, with a body that may throw errors of its own; what it is then. Any error changes nothing.
  @discardableResult
  public func update(_ body: (inout Value) throws -> Void) throws -> Value {
    try opened.get().update(forKey: (), default: standard, body)
  }

  /// Removes the value: from then on it is the default.
  public func reset() throws(StorageError) {
    try noting { () throws(StorageError) in _ = try opened.get().removeValue() }
  }
}
