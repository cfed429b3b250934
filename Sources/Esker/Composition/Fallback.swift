/// Asks a second storage for what the first does not have; see `fallback(with:)`.
///
/// Writes go to the first. What only the second has counts as absent for a write on a condition, so an update of it begins with
/// its value and stores the result in the first.
public struct Fallback<First: StorageProtocol, Second: StorageProtocol>: StorageProtocol
where First.Key == Second.Key, First.Value == Second.Value {
  /// The type of keys.
  public typealias Key = First.Key
  /// The type of values.
  public typealias Value = First.Value

  /// What is asked first, and written.
  public let first: First
  /// What is asked next.
  public let second: Second

  /// The name of the first.
  public var name: String { first.name }

  /// The time of the first, where what expires is written.
  public var time: WallTime { first.time }

  /// The identity of the first.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity { try first.identity(of: key) }

  /// What the second has, of which `failure` kept the first from telling.
  private func ofSecond(_ entry: Entry<Value>, _ failure: StorageError?) -> Entry<Value> {
    var entry = entry
    entry.version = nil
    if failure != nil { entry.isTentative = true }
    return entry
  }

  /// Whether a failure of the first is passed over. What is to be changed on condition of what is there must not be replaced
  /// where it cannot be read.
  private func passesOver(_ error: StorageError, _ call: StorageRequest.Read) -> Bool {
    if case .cancelled = error { return false }
    return !call.refusesUnversioned
  }
}

extension Fallback: AsyncReadableStorage where First: AsyncReadableStorage, Second: AsyncReadableStorage {
  /// What the memory of the first knows, or else that of the second.
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    do throws(StorageError) {
      switch try first.held(key, call) {
      // The second may have a fresh one.
      case .entry(let found) where call.allowsExpired && found.isExpired(at: first.time): return .unknown
      case .entry(let found): return .entry(found)
      case .unknown: return .unknown
      case .absent: break
      }
      if case .entry(let found) = try second.held(key, call.forPreview) { return .entry(ofSecond(found, nil)) }
    } catch {}
    // The read passes over what fails.
    return .unknown
  }

  /// The entry of the first, or of the second; that of the first, if it has expired and is wanted even so, where the second has no
  /// fresh one. A first that fails is passed over; its error is thrown if the second has nothing.
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    var failure: StorageError?
    var stale: Entry<Value>?
    do throws(StorageError) {
      if let found = try await first.found(key, call.forFirstPart) {
        guard call.allowsExpired, found.isExpired(at: first.time) else { return found }
        stale = found
      }
    } catch {
      guard passesOver(error, call) else { throw error }
      failure = error
    }
    let found: Entry<Value>?
    do throws(StorageError) { found = try await second.found(key, call.forOtherPart) } catch {
      guard let stale, passesOver(error, call) else { throw error }
      return stale
    }
    if let found, stale == nil || !found.isExpired(at: second.time) { return ofSecond(found, failure) }
    if let failure { throw failure }
    return stale
  }
}

extension Fallback: ReadableStorage where First: ReadableStorage, Second: ReadableStorage {
  /// The entry of the first, or of the second; that of the first, if it has expired and is wanted even so, where the second has no
  /// fresh one. A first that fails is passed over; its error is thrown if the second has nothing.
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    var failure: StorageError?
    var stale: Entry<Value>?
    do throws(StorageError) {
      if let found = try first.read(key, call) {
        guard call.allowsExpired, found.isExpired(at: first.time) else { return found }
        stale = found
      }
    } catch {
      guard passesOver(error, call) else { throw error }
      failure = error
    }
    let found: Entry<Value>?
    do throws(StorageError) { found = try second.read(key, call) } catch {
      guard let stale, passesOver(error, call) else { throw error }
      return stale
    }
    if let found, stale == nil || !found.isExpired(at: second.time) { return ofSecond(found, failure) }
    if let failure { throw failure }
    return stale
  }
}

extension Fallback: AsyncWritableStorage where First: AsyncWritableStorage {
  /// Writes to the first.
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    try await first.asyncWrite(key, call)
  }
}

extension Fallback: WritableStorage where First: WritableStorage {
  /// Writes to the first.
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    try first.write(key, call)
  }
}

extension Fallback: StorageRequest.AsyncUpdatable
where First: StorageRequest.AsyncUpdatable, Second: AsyncReadableStorage {}

extension Fallback: UpdatableStorage where First: UpdatableStorage, Second: ReadableStorage {}

extension Fallback: CheckableStorage {
  /// That of the first, where values are stored.
  func forEachFinding(
    progress: (Double) throws(StorageError) -> Void,
    _ body: (Finding<Key, Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try findAll(of: first, progress: progress, body)
  }
}

extension AsyncReadableStorage {
  /// This storage, and `second` for what it does not have. `second` is only read, and what it has is not kept here.
  public func fallback<Second: StorageProtocol>(
    with second: Second
  ) -> Fallback<Self, Second> where Second.Key == Key, Second.Value == Value {
    Fallback(first: self, second: second)
  }
}
