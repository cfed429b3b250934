internal import EskerPlatform

/// A fast storage in front of one that lasts; see `combined(with:pullStrategy:setStrategy:)`.
///
/// The two never disagree for longer than a write takes, whoever writes through this storage and its copies at the same time:
/// a value read from the back is not put in front if a write came in between, and writes that overlap leave the key to be
/// fetched again. As long as they do, reads ask the back: nobody finds in front what is older than a write that has returned. Writes that go past it, to the back itself, are not seen in front.
///
/// That takes a front which removes what it is asked to. One that refuses may go on answering with an old value until the key is next
/// written or removed there. A write that meets such a refusal throws it. A read does not: what it returns is what the back had, and
/// only what it copied to the front, while a write overtook it, stays there. Memory never refuses a removal.
///
/// A value that expires in the back does so in front at the same time. Of one that does not, the front has its own default say when it
/// goes there.
///
/// A write on a condition is made where the policy says that values last, and so is an update. Entries that come from the front
/// have no version there: one that is to have its version comes from the back, and from the front only if the back fails or has nothing.
public struct Combined<Front: StorageProtocol, Back: StorageProtocol>: StorageProtocol
where Front.Key == Back.Key, Front.Value == Back.Value, Front.Key: StorageKey {
  /// The type of keys.
  public typealias Key = Front.Key
  /// The type of values.
  public typealias Value = Front.Value

  /// What is asked first.
  public let front: Front
  /// What is behind.
  public let back: Back
  /// What is done with reads and writes.
  public let policy: TierPolicy
  private let fence = TierFence(stripes: 64)
  private let keys = Key.keyTransformer

  init(_ front: Front, _ back: Back, _ policy: TierPolicy) {
    self.front = front
    self.back = back
    self.policy = policy
  }

  /// Both names.
  public var name: String { "\(front.name)-\(back.name)" }

  /// The time of the storage that decides what is there.
  public var time: WallTime { policy.isLedByFront ? front.time : back.time }

  /// The identity of the storage that decides what is there.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity {
    policy.isLedByFront ? try front.identity(of: key) : try back.identity(of: key)
  }

  private func hash(_ key: Key) throws(StorageError) -> Int {
    do { return try key.held(by: keys).hashValue } catch { throw .key("\(key)", view: name, underlying: error) }
  }

  /// Whether the front is passed over by a read.
  private func passesFront(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Bool {
    if policy.isLedByFront { return false }
    if call.needsVersion { return true }
    return try isInDoubt(key)
  }

  /// Whether the front may have what is older than a write that has returned.
  private func isInDoubt(_ key: Key) throws(StorageError) -> Bool {
    fence.hasOverlaps ? fence.didOverlap(try hash(key)) : false
  }

  /// Whether the front, which was passed over for what has a version, is asked after all, since the back has not answered.
  private func asksFrontAfterAll(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Bool {
    guard call.needsVersion, call.acceptsUnversioned, !policy.isLedByFront else { return false }
    return try !isInDoubt(key)
  }

  /// Whether a failure of the front is passed over. What is to be changed on condition of what is there must not be replaced
  /// where it cannot be read.
  private func passesOver(_ error: StorageError, _ call: StorageRequest.Read) -> Bool {
    if case .cancelled = error { return false }
    return !(call.refusesUnversioned && policy.isLedByFront)
  }

  /// Whether the front may get what the back has. Not if it could not be read: it may have something else.
  private func mayKeep(_ found: Entry<Value>, _ call: StorageRequest.Read, _ failure: StorageError?) -> Bool {
    failure == nil && found.isKeepable && !call.allowsExpired && !call.needsVersion
  }

  /// What the front found, as an entry of this storage.
  private func fromFront(_ entry: Entry<Value>) -> Entry<Value> {
    if policy.isLedByFront { return entry }
    var entry = entry
    entry.version = nil
    return entry
  }

  /// What the back found, of which `failure` kept the front from telling, as an entry of this storage.
  private func fromBack(_ entry: Entry<Value>, _ failure: StorageError?) -> Entry<Value> {
    guard policy.isLedByFront else { return entry }
    var entry = entry
    // The front, which decides, does not have it, or something else.
    entry.version = nil
    if failure != nil { entry.isTentative = true }
    return entry
  }
}

// MARK: Reading

extension Combined: AsyncReadableStorage
where Front: ReadableStorage, Front: WritableStorage, Back: AsyncReadableStorage {
  /// What the memory of the front knows, or else that of the back.
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    do throws(StorageError) {
      if try passesFront(key, call) {
        if case .entry(let found) = try back.held(key, call) { return .entry(fromBack(found, nil)) }
        return .unknown
      }
      switch try front.held(key, call) {
      // The back may have a fresh one.
      case .entry(let found) where call.allowsExpired && found.isExpired(at: front.time): return .unknown
      case .entry(let found): return .entry(fromFront(found))
      case .unknown: return .unknown
      case .absent where policy.pull == .neverAsk: return .absent
      case .absent: break
      }
      // What the front is to have as well it gets from the read.
      let isForFront = policy.pull != .neverPull && !call.allowsExpired && !call.needsVersion
      if !isForFront, case .entry(let found) = try back.held(key, call.forPreview) {
        return .entry(fromBack(found, nil))
      }
    } catch {}
    // The read passes over what fails.
    return .unknown
  }

  /// The front's entry, or the back's; that of the front, if it has expired and is wanted even so, where the back has no fresh one. A
  /// front that fails is passed over; its error is thrown if the back has nothing.
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    var failure: StorageError?
    var stale: Entry<Value>?
    let passesFront = try passesFront(key, call)
    if !passesFront {
      do throws(StorageError) {
        if let found = try await front.found(key, call.forFirstPart) {
          guard call.allowsExpired, found.isExpired(at: front.time) else { return fromFront(found) }
          stale = fromFront(found)
        }
      } catch {
        guard passesOver(error, call) else { throw error }
        failure = error
      }
    }
    if policy.pull != .neverAsk {
      let hash = try hash(key)
      let ticket = fence.beginRead(hash)
      // Where the front is passed over, it is the memory of the back that was asked.
      let next = passesFront ? call : call.forOtherPart
      let found: Entry<Value>?
      do throws(StorageError) { found = try await back.found(key, next) } catch {
        guard passesOver(error, call) else { throw error }
        if let stale { return stale }
        guard let spare = try? await asyncSpare(key, call) else { throw error }
        return spare
      }
      if let found, stale == nil || !found.isExpired(at: back.time) {
        if mayKeep(found, call, failure) {
          switch policy.pull {
          // The front may wait for its disk.
          case .pullThenComplete:
            try? await IOThreads.shared.run { () throws(StorageError) in fill(found, key, hash, ticket) }
          case .completeThenPull: IOThreads.shared.submit { fill(found, key, hash, ticket) }
          case .neverPull, .neverAsk: break
          }
        }
        return fromBack(found, failure)
      }
    }
    if let failure { throw failure }
    if let stale { return stale }
    return try await asyncSpare(key, call)
  }

  private nonisolated(nonsending) func asyncSpare(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    guard try asksFrontAfterAll(key, call) else { return nil }
    return try await front.found(key, call.forSpare).map { fromFront($0) }
  }

  /// Puts in the front what the back has. The value is there whether or not the front takes it, and a read that has found it does not
  /// fail because the front then refuses to let go of it.
  private func fill(_ found: Entry<Value>, _ key: Key, _ hash: Int, _ ticket: TierFence.Ticket) {
    var write = StorageRequest.Write(.set(found.value), expiry: found.expiry.inFront)
    if policy.isLedByFront {
      // What was written to the front meanwhile is nowhere else, so it must not even be dropped.
      write.condition = .absent
      _ = try? front.write(key, write)
      return
    }
    guard fence.enterFill(ticket) else { return }
    defer { fence.leaveWrite(hash) }
    _ = try? front.write(key, write)
    if fence.didOverlap(hash) { _ = try? front.write(key, StorageRequest.Write(.remove)) }
  }
}

extension Combined: ReadableStorage
where Front: ReadableStorage, Front: WritableStorage, Back: ReadableStorage {
  /// The front's entry, or the back's; that of the front, if it has expired and is wanted even so, where the back has no fresh one. A
  /// front that fails is passed over; its error is thrown if the back has nothing.
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    var failure: StorageError?
    var stale: Entry<Value>?
    if try !passesFront(key, call) {
      do throws(StorageError) {
        if let found = try front.read(key, call) {
          guard call.allowsExpired, found.isExpired(at: front.time) else { return fromFront(found) }
          stale = fromFront(found)
        }
      } catch {
        guard passesOver(error, call) else { throw error }
        failure = error
      }
    }
    if policy.pull != .neverAsk {
      let hash = try hash(key)
      let ticket = fence.beginRead(hash)
      let found: Entry<Value>?
      do throws(StorageError) { found = try back.read(key, call) } catch {
        guard passesOver(error, call) else { throw error }
        if let stale { return stale }
        guard let spare = try? spare(key, call) else { throw error }
        return spare
      }
      if let found, stale == nil || !found.isExpired(at: back.time) {
        if mayKeep(found, call, failure) {
          switch policy.pull {
          case .pullThenComplete: fill(found, key, hash, ticket)
          case .completeThenPull: IOThreads.shared.submit { fill(found, key, hash, ticket) }
          case .neverPull, .neverAsk: break
          }
        }
        return fromBack(found, failure)
      }
    }
    if let failure { throw failure }
    if let stale { return stale }
    return try spare(key, call)
  }

  private func spare(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    guard try asksFrontAfterAll(key, call) else { return nil }
    return try front.read(key, call.forSpare).map { fromFront($0) }
  }
}

// MARK: Writing

extension Combined: AsyncWritableStorage where Front: AsyncWritableStorage, Back: AsyncWritableStorage {
  /// Writes where the policy says.
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    let hash = try hash(key)
    fence.enterWrite(hash)
    defer { fence.leaveWrite(hash) }
    var plan = TierWrite(call, policy)
    try await take(&plan, key)
    if plan.next == nil, !plan.wroteBoth { return try plan.receipt() }
    // Once one tier is written the rest is done, also for a task that is cancelled meanwhile.
    let begun = plan
    let outcome: Result<StorageRequest.Receipt, StorageError> = await Task {
      var plan = begun
      do throws(StorageError) {
        while plan.next != nil { try await take(&plan, key) }
        if plan.wroteBoth, fence.didOverlap(hash) { _ = try await front.asyncWrite(key, StorageRequest.Write(.remove)) }
        return .success(try plan.receipt())
      } catch {
        return .failure(error)
      }
    }.value
    return try outcome.get()
  }

  /// Takes the next step of a write.
  private nonisolated(nonsending) func take(_ plan: inout TierWrite<Value>, _ key: Key) async throws(StorageError) {
    guard let step = plan.next else { return }
    do throws(StorageError) {
      switch step {
      case .front(let call): plan.frontDid(try await front.asyncWrite(key, call))
      case .back(let call): plan.backDid(try await back.asyncWrite(key, call))
      }
    } catch {
      try plan.failed(error, back: back.name)
    }
  }
}

extension Combined: WritableStorage where Front: WritableStorage, Back: WritableStorage {
  /// Writes where the policy says.
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    let hash = try hash(key)
    fence.enterWrite(hash)
    defer { fence.leaveWrite(hash) }
    var plan = TierWrite(call, policy)
    while let step = plan.next {
      do throws(StorageError) {
        switch step {
        case .front(let call): plan.frontDid(try front.write(key, call))
        case .back(let call): plan.backDid(try back.write(key, call))
        }
      } catch {
        try plan.failed(error, back: back.name)
      }
    }
    if plan.wroteBoth, fence.didOverlap(hash) { _ = try front.write(key, StorageRequest.Write(.remove)) }
    return try plan.receipt()
  }
}

extension Combined: StorageRequest.AsyncUpdatable
where Front: UpdatableStorage, Back: StorageRequest.AsyncUpdatable {}

extension Combined: UpdatableStorage where Front: UpdatableStorage, Back: UpdatableStorage {}

extension Combined: ClearableStorage where Front: ClearableStorage, Back: ClearableStorage {
  /// Removes everything from both, the back first. Writes that are under way meanwhile may stay in the back.
  public func removeAll(durability: Durability?) throws(StorageError) {
    fence.enterWriteOfAll()
    defer { fence.leaveWriteOfAll() }
    if policy.set != .frontOnly {
      do throws(StorageError) { try back.removeAll(durability: durability) } catch {
        // It may be empty all the same. Then the front must not go on answering.
        if !policy.isLedByFront { try? front.removeAll(durability: durability) }
        throw error
      }
    }
    try front.removeAll(durability: durability)
    if fence.didOverlapWriteOfAll() { try front.removeAll(durability: durability) }
  }

  /// Removes expired values from both; returns how many the back had. With ``TierPolicy/Set/frontOnly``, the back is left alone, and
  /// the count is the front's.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int {
    let inFront = try front.removeExpired()
    return policy.set == .frontOnly ? inFront : try back.removeExpired()
  }
}

extension Combined: Restorable {
  func behindRestorer(_ key: Key) throws(StorageError) -> Restorer? {
    if policy.set == .frontOnly { return try restorer(of: front, key) }
    // The back is not asked, and gets what the front gets back.
    if policy.isLedByFront { return try plainRestorer(of: self, key) }
    let hash = try hash(key)
    // The front fetches it again.
    let restore = restoring(try restorer(of: back, key), remover(of: front, key))
    return { () throws(StorageError) in
      fence.enterWrite(hash)
      defer { fence.leaveWrite(hash) }
      try restore?()
    }
  }
}

// MARK: Checking

extension Combined: CheckableStorage {
  /// That of the tier that decides what is there: what the other has may be read from it again, or is passed over.
  func forEachFinding(
    progress: (Double) throws(StorageError) -> Void,
    _ body: (Finding<Key, Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    if policy.isLedByFront {
      try findAll(of: front, progress: progress, body)
    } else {
      try findAll(of: back, progress: progress, body)
    }
  }
}

// MARK: Making

extension StorageProtocol where Key: StorageKey {
  /// This storage in front of `back`: reads ask it first, writes go to both, the back first unless `setStrategy` says
  /// otherwise, so that a value the back refuses changes nothing.
  public func combined<Back: StorageProtocol>(
    with back: Back,
    pullStrategy: TierPolicy.Pull = .pullThenComplete,
    setStrategy: TierPolicy.Set = .backFirst
  ) -> Combined<Self, Back> where Back.Key == Key, Back.Value == Value {
    Combined(self, back, TierPolicy(pull: pullStrategy, set: setStrategy))
  }

  /// This storage, fetching what it does not have from `back` and keeping it. `back` is only read. What has been written here meanwhile
  /// stays: what is fetched is stored on the condition that there is nothing, so a zip, which knows no conditions, keeps nothing.
  public func backed<Back: ReadableStorage>(
    by back: Back,
    pullStrategy: TierPolicy.Pull = .pullThenComplete
  ) -> Combined<Self, Fallback<EmptyStorage<Key, Value>, Back>> where Back.Key == Key, Back.Value == Value {
    combined(
      with: EmptyStorage<Key, Value>(name: back.name) { back.time }.fallback(with: back),
      pullStrategy: pullStrategy,
      setStrategy: .frontOnly
    )
  }

  /// This storage, with every write going to `target` too. A value that is refused here is not stored there; one that is refused
  /// there stays here, and the error says so: it is ``StorageError/back(name:underlying:)`` or that of a store.
  ///
  /// The result can be read only if `target` can, although `target` is never asked.
  public func pushing<Target: StorageProtocol>(
    to target: Target
  ) -> Combined<Self, Target> where Target.Key == Key, Target.Value == Value {
    combined(with: target, pullStrategy: .neverAsk, setStrategy: .frontFirst)
  }
}
