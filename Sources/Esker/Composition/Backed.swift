/// A storage that fetches what it does not have from another, and writes to itself only; see
/// `backed(by:pullStrategy:)` of ``StorageProtocol``.
public typealias Backed<Front: StorageProtocol, Back: ReadableStorage> = Combined<Front, Unwritten<Back>>
where Front.Key == Back.Key, Front.Value == Back.Value

/// The back of a combination that writes to its front only. It is read; what would write it throws
/// ``StorageError/unsupported(operation:view:)``.
public struct Unwritten<Base: ReadableStorage>: UpdatableStorage {
  /// What is read.
  public let base: Base

  /// The name of what is behind.
  public var name: String { base.name }
  /// The identity of what is behind: it is the same storage.
  public var identity: StorageIdentity { base.identity }
  /// As what is behind.
  public var mayBlock: Bool { base.mayBlock }

  /// The entry of what is behind.
  public func entry(forKey key: Base.Key) throws(StorageError) -> Entry<Base.Value>? { try base.entry(forKey: key) }

  /// The value of what is behind.
  public func value(forKey key: Base.Key) throws(StorageError) -> Base.Value? { try base.value(forKey: key) }

  /// Whether the key is there.
  public func contains(_ key: Base.Key) throws(StorageError) -> Bool { try base.contains(key) }

  /// What memory knows.
  public func residentEntry(forKey key: Base.Key) throws(StorageError) -> Resident<Base.Value> {
    try base.residentEntry(forKey: key)
  }

  private var refusal: StorageError { .unsupported(operation: "be written through a front that it backs", view: name) }

  /// Throws.
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) { throw refusal }

  /// Throws.
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool { throw refusal }

  /// Throws.
  public func update<R>(
    forKey key: Base.Key,
    expiry: Expiry?,
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R { throw refusal }
}

/// A readable storage and another that is asked next; see ``ReadableStorage/backed(by:)``.
public struct ReadBacked<Front: ReadableStorage, Back: ReadableStorage>: ReadableStorage
where Front.Key == Back.Key, Front.Value == Back.Value {
  /// What is asked first.
  public let front: Front
  /// What is asked next.
  public let back: Back
  /// An identity of its own.
  public let identity = StorageIdentity()

  /// Both names.
  public var name: String { "\(front.name)-\(back.name)" }

  /// Whether either may wait.
  public var mayBlock: Bool { front.mayBlock || back.mayBlock }

  /// The front's entry, or the back's. A front that fails is passed over; its error is thrown if the back has nothing.
  public func entry(forKey key: Front.Key) throws(StorageError) -> Entry<Front.Value>? {
    var failure: StorageError?
    do throws(StorageError) {
      if let found = try front.entry(forKey: key) { return found }
    } catch {
      failure = error
    }
    if let found = try back.entry(forKey: key) { return found }
    if let failure { throw failure }
    return nil
  }

  /// What the memory of the front knows, or else that of the back.
  @inlinable
  public func residentEntry(forKey key: Front.Key) throws(StorageError) -> Resident<Front.Value> {
    switch try front.residentEntry(forKey: key) {
    case .present(let found): return .present(found)
    case .unknown: return .unknown
    case .absent: return try back.residentEntry(forKey: key)
    }
  }
}

extension StorageProtocol {
  /// This storage, fetching what it does not have from `back` and keeping it. `back` is only read.
  public func backed<Back: ReadableStorage>(
    by back: Back,
    pullStrategy: PullStrategy = .pullThenComplete
  ) -> Backed<Self, Back> where Back.Key == Key, Back.Value == Value {
    Combined(self, Unwritten(base: back), pullStrategy, .frontOnly, Tiers())
  }

  /// This storage, fetching what it does not have from `back` and keeping it. `back` is only read.
  public func backed<Back: ReadableStorage>(
    by back: Back,
    pullStrategy: PullStrategy = .pullThenComplete
  ) -> Backed<Self, Back> where Back.Key == Key, Back.Value == Value, Key: Hashable {
    Combined(self, Unwritten(base: back), pullStrategy, .frontOnly, Tiers())
  }
}

extension ReadableStorage {
  /// This storage, and `back` for what it does not have; for reading only.
  @_disfavoredOverload
  public func backed<Back: ReadableStorage>(
    by back: Back
  ) -> ReadBacked<Self, Back> where Back.Key == Key, Back.Value == Value {
    ReadBacked(front: self, back: back)
  }
}
