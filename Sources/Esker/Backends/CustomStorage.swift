internal import Foundation
internal import Synchronization

/// A back of the caller's making, from two functions. Their errors come out as ``StorageError/back(name:underlying:)``.
///
/// ```swift
/// let api = CustomStorage<String, User>(name: "api") { try fetch($0) } set: { try send($0, $1) }
/// let users = api.cached(MemoryLimits(count: 500))
/// ```
///
/// Writes through it and its copies are atomic among each other, `update` included, without any help of the functions. They may be
/// called on any thread, and for different keys at the same time. A version may become outdated by a write to another key.
public struct CustomStorage<Key: StorageKey, Value: Sendable>: UpdatableStorage {
  /// What the back is called.
  public let name: String
  private let get: @Sendable (Key) throws -> Entry<Value>?
  private let put: @Sendable (Key, Value?, Expiry) throws -> Void
  private let keepsExpiry: Bool
  private let clock: Options.Clock
  private let number = StorageRequest.newStorage()
  private let keys = Key.keyTransformer
  private let stripes = (0..<64).map { _ in Stripe() }

  /// The keys of a stripe are written one at a time. The count of writes is the version of what is there: the functions know
  /// none.
  private final class Stripe: Sendable {
    // Recursive: a function may use the storage, for the same key or another one of the stripe.
    private let lock = NSRecursiveLock()
    /// Raised by a holder of the lock before a write is tried and after, so that one that failed, and may have been made, counts
    /// too.
    private let counts = Atomic<UInt64>(1)

    /// The number of beginnings and ends of writes so far. Acquired before the back is read: a write that is under way then, or that
    /// comes in between, makes a condition fail, never hold.
    var version: UInt64 { counts.load(ordering: .acquiring) }

    func alone<R>(_ body: () throws -> R) rethrows -> R {
      lock.lock()
      defer { lock.unlock() }
      return try body()
    }

    /// Makes a write; the version from then on.
    func counting(_ write: () throws -> Void) rethrows -> UInt64 {
      count()
      do { try write() } catch {
        count()
        throw error
      }
      return count()
    }

    @discardableResult
    private func count() -> UInt64 { counts.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
  }

  /// A back that reads by `get`, which answers nil for an absent key, and writes by `set`, which removes when given nil.
  ///
  /// It knows no expiry: a write that has one throws ``StorageError/unsupported(operation:view:)``.
  public init(
    name: String,
    get: @escaping @Sendable (Key) throws -> Value?,
    set: @escaping @Sendable (Value?, Key) throws -> Void
  ) {
    self.name = name
    self.get = { try get($0).map { Entry($0, origin: .back) } }
    put = { key, value, _ in try set(value, key) }
    keepsExpiry = false
    clock = .system
  }

  /// A back that keeps expiries: `read` answers with an entry, and `write` is given the instant at which a value expires, or `.never`.
  /// What `read` answers with is taken to be there, whatever its expiry.
  ///
  /// - Parameters:
  ///   - name: what errors call the back.
  ///   - clock: by which the instants are reckoned of expiries that are durations.
  ///   - read: the entry of a key; nil if there is none.
  ///   - write: stores a value, or removes the key if there is none.
  public init(
    name: String,
    clock: Options.Clock = .system,
    read: @escaping @Sendable (Key) throws -> Entry<Value>?,
    write: @escaping @Sendable (_ key: Key, _ value: Value?, _ expiry: Expiry) throws -> Void
  ) {
    self.name = name
    get = read
    put = write
    keepsExpiry = true
    self.clock = clock
  }

  /// The time by the clock that the back was made with.
  public var time: WallTime { clock.now() }

  /// The back and the key's bytes.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    try key.identity(in: number, by: keys, named: name)
  }

  private func stripe(of key: Key) throws(StorageError) -> Stripe {
    do {
      return stripes[Int(UInt(bitPattern: try key.held(by: keys).hashValue) % UInt(stripes.count))]
    } catch {
      throw .key("\(key)", view: name, underlying: error)
    }
  }

  /// What the function for reading answers.
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    let version = try stripe(of: key).version
    do {
      guard var found = try get(key) else { return nil }
      found.origin = .back
      found.version = SequenceNumber(rawValue: version)
      return found
    } catch {
      throw .back(name: name, underlying: error)
    }
  }

  /// Calls the function for writing if the condition holds.
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    if !keepsExpiry, let expiry = call.expiry, expiry != .never {
      throw .unsupported(operation: "keep an expiry", view: name)
    }
    let stripe = try stripe(of: key)
    do {
      return try stripe.alone {
        // Not asked for what nothing depends on: it may take its time.
        let isPlain = if case (.always, .set) = (call.condition, call.action) { true } else { false }
        let found = isPlain ? nil : try get(key)
        // A duration counts from the write, which whoever keeps the entry does not know.
        let now = time
        let expiry = (call.expiry ?? .never).resolved(at: now)
        var receipt = StorageRequest.Receipt(
          isDone: call.condition.holds(found == nil ? nil : stripe.version),
          wasThere: found != nil,
          expiry: expiry
        )
        guard receipt.isDone else { return receipt }
        var value: Value?
        var end = expiry
        switch call.action {
        case .set(let new):
          value = new
        case .remove:
          guard found != nil else { return receipt }
          end = .never
        case .touch, .extend:
          receipt.isDone = found != nil
          guard let found else { return receipt }
          value = found.value
          receipt.expiry = found.expiry
          guard keepsExpiry, let new = expiry.milliseconds,
            call.action.changes(found.expiry.milliseconds ?? .max, to: new, now.millisecondsSince1970)
          else { return receipt }
        }
        receipt.expiry = end
        let version = SequenceNumber(rawValue: try stripe.counting { try put(key, value, end) })
        if value != nil { receipt.version = version }
        return receipt
      }
    } catch {
      throw .back(name: name, underlying: error)
    }
  }
}
