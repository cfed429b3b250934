import Esker
import Hummingbird
import ServiceLifecycle

/// Keeps what a service of Hummingbird persists across requests in a storage of Esker: a log, memory, Redis with near copies, sealed values.
///
/// ```swift
/// let persist = EskerPersistDriver(try store.storage("persist", transformer: .bytes))
/// application.addServices(persist)
/// ```
///
/// Values are stored as CBOR, which says of what kind they are. The storage stays the caller's, who closes what is behind it. Thread safety:
/// any task.
public struct EskerPersistDriver<Base: StorageRequest.AsyncUpdatable>: PersistDriver
where Base.Key == String, Base.Value == [UInt8] {
  private let storage: Base
  private let durability: Durability?
  private let removeExpired: (@Sendable () async throws -> Void)?
  private let interval: Duration

  /// A driver over a storage that removes what has expired by itself, as a remote one does.
  ///
  /// - Parameters:
  ///   - storage: where values are kept.
  ///   - durability: what each write survives once it has returned; nil for that of the storage.
  public init(_ storage: Base, durability: Durability? = nil) {
    self.storage = storage
    self.durability = durability
    removeExpired = nil
    interval = .zero
  }

  /// A driver that removes what has expired from time to time, as long as it runs as a service. It is invisible in any case; in a log it
  /// takes memory until then.
  ///
  /// - Parameters:
  ///   - storage: where values are kept.
  ///   - durability: what each write survives once it has returned; nil for that of the storage.
  ///   - interval: how long after one removal the next one begins.
  public init(_ storage: Base, durability: Durability? = nil, removingExpiredEvery interval: Duration = .seconds(600))
  where Base: ClearableStorage {
    self.storage = storage
    self.durability = durability
    removeExpired = { _ = try await storage.async.removeExpired() }
    self.interval = interval
  }

  /// Stores a value under a key that has none.
  ///
  /// - Throws: `PersistError.duplicate` if there is one that has not expired; `StorageError`.
  public func create<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws {
    let bytes = try Transformer<Object>.binary.encode(value)
    let expiry = expires.map(Expiry.after)
    let isNew = try await storage.async.setIfAbsent(bytes, forKey: key, expiry: expiry, durability: durability)
    guard isNew else { throw PersistError.duplicate }
  }

  /// Stores a value. Without `expires`, one that was there keeps its expiry.
  ///
  /// - Throws: `StorageError`.
  public func set<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws {
    let bytes = try Transformer<Object>.binary.encode(value)
    if let expires {
      try await storage.async.set(bytes, forKey: key, expiry: .after(expires), durability: durability)
    } else {
      try await storage.async.update(forKey: key, durability: durability) {
        (stored: inout [UInt8]?) throws(StorageError) in stored = bytes
      }
    }
  }

  /// The value of a key; nil if there is none, or it has expired.
  ///
  /// - Throws: `PersistError.invalidConversion` if it is of another type; `StorageError`.
  public func get<Object: Codable & Sendable>(key: String, as type: Object.Type) async throws -> Object? {
    try await getWithTTL(key: key, as: type)?.object
  }

  /// The value of a key and how long it will be there, in whole milliseconds; without a time if it does not expire.
  ///
  /// - Throws: `PersistError.invalidConversion` if it is of another type; `StorageError`.
  public func getWithTTL<Object: Codable & Sendable>(
    key: String,
    as type: Object.Type
  ) async throws -> (object: Object, ttl: Duration?)? {
    guard let entry = try await storage.async.entry(forKey: key) else { return nil }
    guard let object = try? Transformer<Object>.binary.decode(entry.value) else { throw PersistError.invalidConversion }
    return (object, entry.remaining(at: storage.time))
  }

  /// Removes a key and its value, if it is there.
  ///
  /// - Throws: `StorageError`.
  public func remove(key: String) async throws {
    try await storage.async.removeValue(forKey: key, durability: durability)
  }

  /// Runs until the service is to end.
  public func run() async throws {
    guard let removeExpired else {
      try? await gracefulShutdown()
      return
    }
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: interval)) != nil {
        // What could not be removed is not visible either, and the next round tries again. Why a store fails, its events tell.
        try? await removeExpired()
      }
    }
  }
}
