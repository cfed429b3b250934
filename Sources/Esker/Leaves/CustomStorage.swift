internal import Foundation

/// A back of the caller's making, from two functions. Their errors come out as ``StorageError/back(name:underlying:)``.
///
/// ```swift
/// let api = CustomStorage<String, User>(name: "api") { try fetch($0) } set: { try send($0, $1) }
/// let users = api.cached(MemoryLimits(count: 500))
/// ```
///
/// Writes through it and its copies are atomic among each other, `update` included: the functions need not know of that. They
/// may be called on any thread, and for different keys at the same time. A version may pass with a write to another key.
public struct CustomStorage<Key: StorageKey, Value: Sendable>: UpdatableStorage {
  /// What the back is called.
  public let name: String
  private let get: @Sendable (Key) throws -> Entry<Value>?
  private let put: @Sendable (Key, Value?, Expiry) throws -> Void
  private let keepsExpiry: Bool
  private let number = StorageCall.newStorage()
  private let stripes = (0..<64).map { _ in Stripe() }

  /// The keys of a stripe are written one at a time. The number of writes is the version of what is there: the functions know
  /// none.
  ///
  /// Safety: threads may share it, since only a holder of the lock touches the number.
  private final class Stripe: @unchecked Sendable {
    // Recursive: a function may use the storage, for another key of the stripe perhaps.
    private let lock = NSRecursiveLock()
    private var writes: UInt64 = 1

    func alone<R>(_ body: (inout UInt64) throws -> R) rethrows -> R {
      lock.lock()
      defer { lock.unlock() }
      return try body(&writes)
    }
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
  }

  /// A back that keeps expiries: `read` answers with an entry, and `write` is given when a value expires. What `read` answers
  /// with is taken to be there, whatever its expiry.
  public init(
    name: String,
    read: @escaping @Sendable (Key) throws -> Entry<Value>?,
    write: @escaping @Sendable (_ key: Key, _ value: Value?, _ expiry: Expiry) throws -> Void
  ) {
    self.name = name
    get = read
    put = write
    keepsExpiry = true
  }

  /// The back and the key's bytes.
  public func identity(of key: Key) throws(StorageError) -> StorageCall.Identity {
    do {
      return StorageCall.Identity(storage: number, key: try Key.keyTransformer.encode(key))
    } catch {
      throw .key("\(key)", view: name, underlying: error)
    }
  }

  private func stripe(of key: Key) throws(StorageError) -> Stripe {
    do {
      return stripes[Int(UInt(bitPattern: try key.held().hashValue) % UInt(stripes.count))]
    } catch {
      throw .key("\(key)", view: name, underlying: error)
    }
  }

  /// What the function for reading answers.
  public func read(_ key: Key, _ call: StorageCall.Read) throws(StorageError) -> Entry<Value>? {
    // Before the value: a write that comes in between makes a condition fail, never hold.
    let writes = try stripe(of: key).alone { $0 }
    do {
      guard var found = try get(key) else { return nil }
      found.origin = .back
      found.version = SequenceNumber(rawValue: writes)
      return found
    } catch {
      throw .back(name: name, underlying: error)
    }
  }

  /// Calls the function for writing if the condition holds.
  public func write(
    _ key: Key,
    _ call: StorageCall.Write<Value>
  ) throws(StorageError) -> StorageCall.Receipt {
    if !keepsExpiry, let expiry = call.expiry, expiry != .never {
      throw .unsupported(operation: "keep an expiry", view: name)
    }
    let expiry = call.expiry ?? .never
    let stripe = try stripe(of: key)
    do {
      return try stripe.alone { writes in
        // Not asked for what nothing depends on: it may take its time.
        let isPlain = if case (.always, .set) = (call.condition, call.action) { true } else { false }
        let found = isPlain ? nil : try get(key)
        var receipt = StorageCall.Receipt(
          isDone: call.condition.holds(found == nil ? nil : writes),
          wasThere: found != nil,
          expiry: expiry
        )
        guard receipt.isDone else { return receipt }
        switch call.action {
        case .set(let value):
          try put(key, value, expiry)
        case .remove:
          if found != nil { try put(key, nil, .never) }
        case .touch, .extend:
          guard let found else {
            receipt.isDone = false
            return receipt
          }
          if keepsExpiry { try put(key, found.value, expiry) }
        }
        writes += 1
        receipt.version = SequenceNumber(rawValue: writes)
        return receipt
      }
    } catch {
      throw .back(name: name, underlying: error)
    }
  }
}
