/// A storage that fetches what it does not have from another, and writes to itself only; see
/// `backed(by:pullStrategy:)` of ``StorageProtocol``.
public struct Backed<Front: StorageProtocol, Back: ReadableStorage>: StorageProtocol
where Front.Key == Back.Key, Front.Value == Back.Value {
  /// What is asked first and written.
  public let front: Front
  /// What is asked next.
  public let back: Back
  /// What is done with what only the back has.
  public let pullStrategy: PullStrategy
  /// An identity of its own.
  public let identity = StorageIdentity()
  @usableFromInline let tiers: Tiers<Front.Key>

  init(_ front: Front, _ back: Back, _ pull: PullStrategy, _ tiers: Tiers<Front.Key>) {
    self.front = front
    self.back = back
    pullStrategy = pull
    self.tiers = tiers
  }

  /// Both names.
  public var name: String { "\(front.name)-\(back.name)" }

  /// Whether either may wait.
  public var mayBlock: Bool { front.mayBlock || back.mayBlock }

  /// The front's entry, or the back's. A front that fails is passed over; its error is thrown if the back has nothing.
  @inlinable
  public func entry(forKey key: Front.Key) throws(StorageError) -> Entry<Front.Value>? {
    var failure: StorageError?
    do throws(StorageError) {
      if let found = try front.entry(forKey: key) { return found }
    } catch {
      failure = error
    }
    return try tiers.entryOfBack(key, front, back, pullStrategy, failure)
  }

  /// The front's value, or the back's. A front that fails is passed over; its error is thrown if the back has nothing.
  @inlinable
  public func value(forKey key: Front.Key) throws(StorageError) -> Front.Value? {
    var failure: StorageError?
    do throws(StorageError) {
      if let found = try front.value(forKey: key) { return found }
    } catch {
      failure = error
    }
    return try tiers.entryOfBack(key, front, back, pullStrategy, failure)?.value
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

  /// Stores the value in front.
  public func set(_ value: Front.Value, forKey key: Front.Key, expiry: Expiry?) throws(StorageError) {
    try tiers.write(key, front, bothTiers: false) { () throws(StorageError) in
      try front.set(value, forKey: key, expiry: expiry)
    }
  }

  /// Removes the key from the front: what the back has is seen again.
  @discardableResult
  public func removeValue(forKey key: Front.Key) throws(StorageError) -> Bool {
    try tiers.write(key, front, bothTiers: false) { () throws(StorageError) in try front.removeValue(forKey: key) }
  }
}

extension Backed: UpdatableStorage where Front: UpdatableStorage {
  /// Changes the front's value atomically, beginning with the back's where the front has none.
  @discardableResult
  public func update<R>(
    forKey key: Front.Key,
    expiry: Expiry?,
    _ body: (inout Front.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try tiers.write(key, front, bothTiers: false) { () throws(StorageError) -> R in
      try front.update(forKey: key, expiry: expiry) { (value: inout Front.Value?) throws(StorageError) -> R in
        if value == nil { value = try back.value(forKey: key) }
        return try body(&value)
      }
    }
  }
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
    Backed(self, back, pullStrategy, Tiers())
  }

  /// This storage, fetching what it does not have from `back` and keeping it. `back` is only read.
  public func backed<Back: ReadableStorage>(
    by back: Back,
    pullStrategy: PullStrategy = .pullThenComplete
  ) -> Backed<Self, Back> where Back.Key == Key, Back.Value == Value, Key: Hashable {
    Backed(self, back, pullStrategy, Tiers())
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
