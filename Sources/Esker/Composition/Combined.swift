/// A fast storage in front of one that lasts; see `combined` of ``StorageProtocol``.
///
/// The two never disagree for longer than a write takes, whoever writes through this storage and its copies at the same time:
/// a value read from the back is not put in front if a write came in between, and writes that overlap leave the key to be
/// fetched again. Writes that go past it, to the back itself, are not seen in front.
public struct Combined<Front: StorageProtocol, Back: StorageProtocol>: StorageProtocol
where Front.Key == Back.Key, Front.Value == Back.Value {
  /// What is asked first.
  public let front: Front
  /// What lasts.
  public let back: Back
  /// What is done with what only the back has.
  public let pullStrategy: PullStrategy
  /// Where writes go.
  public let setStrategy: SetStrategy
  /// An identity of its own.
  public let identity = StorageIdentity()
  @usableFromInline let tiers: Tiers<Front.Key>

  @usableFromInline
  init(_ front: Front, _ back: Back, _ pull: PullStrategy, _ set: SetStrategy, _ tiers: Tiers<Front.Key>) {
    self.front = front
    self.back = back
    pullStrategy = pull
    setStrategy = set
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

  /// Stores the value where the strategy says.
  public func set(_ value: Front.Value, forKey key: Front.Key, expiry: Expiry?) throws(StorageError) {
    try tiers.write(key, front, bothTiers: setStrategy != .frontOnly) { () throws(StorageError) in
      switch setStrategy {
      case .frontFirst:
        try front.set(value, forKey: key, expiry: expiry)
        do throws(StorageError) {
          try back.set(value, forKey: key, expiry: expiry)
        } catch {
          try front.removeValue(forKey: key)
          throw error
        }
      case .backFirst:
        try back.set(value, forKey: key, expiry: expiry)
        do throws(StorageError) {
          try front.set(value, forKey: key, expiry: expiry)
        } catch {
          // The value is where it lasts. What matters is that the front does not have the old one.
          try front.removeValue(forKey: key)
        }
      case .frontOnly:
        try front.set(value, forKey: key, expiry: expiry)
      case .backOnly:
        try back.set(value, forKey: key, expiry: expiry)
        try front.removeValue(forKey: key)
      }
    }
  }

  /// Removes the key from both; with `.frontOnly` from the front, so that what the back has is seen again.
  @discardableResult
  public func removeValue(forKey key: Front.Key) throws(StorageError) -> Bool {
    try tiers.write(key, front, bothTiers: setStrategy != .frontOnly) { () throws(StorageError) in
      if setStrategy == .frontOnly { return try front.removeValue(forKey: key) }
      let wasInBack = try back.removeValue(forKey: key)
      let wasInFront = try front.removeValue(forKey: key)
      return wasInBack || wasInFront
    }
  }
}

extension Combined: UpdatableStorage where Front: UpdatableStorage, Back: UpdatableStorage {
  /// Changes the value atomically where it lasts, and drops it from the front; with `.frontOnly` changes the front's, beginning
  /// with what the back has.
  @discardableResult
  public func update<R>(
    forKey key: Front.Key,
    expiry: Expiry?,
    _ body: (inout Front.Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try tiers.write(key, front, bothTiers: false) { () throws(StorageError) -> R in
      if setStrategy == .frontOnly {
        return try front.update(forKey: key, expiry: expiry) { (value: inout Front.Value?) throws(StorageError) -> R in
          if value == nil { value = try back.value(forKey: key) }
          return try body(&value)
        }
      }
      let result = try back.update(forKey: key, expiry: expiry, body)
      try front.removeValue(forKey: key)
      return result
    }
  }
}

extension Combined: ClearableStorage where Front: ClearableStorage, Back: ClearableStorage {
  /// Removes everything from both, the back first. Writes that are under way meanwhile may stay in the back.
  public func removeAll() throws(StorageError) {
    try tiers.writeAll(front) { () throws(StorageError) in
      try back.removeAll()
      try front.removeAll()
    }
  }

  /// Removes what is expired from both; how much there was in the back.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int {
    try front.removeExpired()
    return try back.removeExpired()
  }
}

extension StorageProtocol {
  /// This storage in front of `back`: reads ask it first, writes go to both, the back first unless `setStrategy` says
  /// otherwise, so that a value the back refuses changes nothing.
  public func combined<Back: StorageProtocol>(
    with back: Back,
    pullStrategy: PullStrategy = .pullThenComplete,
    setStrategy: SetStrategy = .backFirst
  ) -> Combined<Self, Back> where Back.Key == Key, Back.Value == Value {
    Combined(self, back, pullStrategy, setStrategy, Tiers())
  }

  /// This storage in front of `back`: reads ask it first, writes go to both, the back first unless `setStrategy` says
  /// otherwise, so that a value the back refuses changes nothing.
  public func combined<Back: StorageProtocol>(
    with back: Back,
    pullStrategy: PullStrategy = .pullThenComplete,
    setStrategy: SetStrategy = .backFirst
  ) -> Combined<Self, Back> where Back.Key == Key, Back.Value == Value, Key: Hashable {
    Combined(self, back, pullStrategy, setStrategy, Tiers())
  }
}
