/// What a composition of a front and a back does with what it finds in the back only.
public enum PullStrategy: Hashable, Sendable {
  /// Puts it in the front, then returns it.
  case pullThenComplete
  /// Returns it; a thread of Esker's puts it in the front.
  case completeThenPull
  /// Leaves the front as it is.
  case neverPull
}

/// Where a composition of a front and a back writes.
public enum SetStrategy: Hashable, Sendable {
  /// To the front, then to the back. If the back refuses, the key is dropped from the front.
  case frontFirst
  /// To the back, then to the front. If the back refuses, nothing has changed.
  case backFirst
  /// To the front only: it has what the back will never know.
  case frontOnly
  /// To the back only; the key is dropped from the front.
  case backOnly
}

/// The reading side of a front and a back, kept from disagreeing by a fence.
@usableFromInline
struct Tiers<Key: Sendable>: Sendable {
  let fence: Fence
  let hash: @Sendable (Key) -> Int

  @usableFromInline
  init() {
    fence = Fence(stripes: 1)
    hash = { _ in 0 }
  }

  @usableFromInline
  init() where Key: Hashable {
    fence = Fence(stripes: 64)
    hash = { $0.hashValue }
  }

  /// Looks in the back for what the front does not have. A front that failed is passed over, and its error thrown if the
  /// back has nothing.
  @usableFromInline
  func entryOfBack<Front: StorageProtocol, Back: ReadableStorage>(
    _ key: Key,
    _ front: Front,
    _ back: Back,
    _ strategy: PullStrategy,
    _ failure: StorageError?
  ) throws(StorageError) -> Entry<Front.Value>?
  where Front.Key == Key, Back.Key == Key, Front.Value == Back.Value {
    let ticket = fence.beginRead(hash(key))
    guard let found = try back.entry(forKey: key) else {
      if let failure { throw failure }
      return nil
    }
    switch strategy {
    case .pullThenComplete: fill(front, found, key, ticket)
    case .completeThenPull: IOThreads.shared.submit { fill(front, found, key, ticket) }
    case .neverPull: break
    }
    return found
  }

  /// The value is there whether or not the front takes it.
  private func fill<Front: WritableStorage>(
    _ front: Front,
    _ found: Entry<Front.Value>,
    _ key: Key,
    _ ticket: Fence.Ticket
  ) where Front.Key == Key {
    _ = try? fence.fill(ticket) { () throws(StorageError) in
      try front.set(found.value, forKey: key, expiry: found.expiry)
    }
  }

  /// Runs a removal of everything; empties the front once more if another write overlapped with it.
  func writeAll<Front: ClearableStorage>(
    _ front: Front,
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) where Front.Key == Key {
    fence.enterWriteOfAll()
    defer { fence.leaveWriteOfAll() }
    try body()
    if fence.didOverlapWriteOfAll() { try front.removeAll() }
  }

  /// Runs a write; drops the key from the front if another write overlapped and both tiers were written.
  func write<Front: WritableStorage, R>(
    _ key: Key,
    _ front: Front,
    bothTiers: Bool = true,
    _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R where Front.Key == Key {
    let hash = hash(key)
    fence.enterWrite(hash)
    defer { fence.leaveWrite(hash) }
    let result = try body()
    if bothTiers, fence.didOverlap(hash) { try front.removeValue(forKey: key) }
    return result
  }
}
