public import EskerMemory
public import Synchronization

/// The values of one type that a front holds; an absent one is nil. Its limits are those of the pool, with the other planes.
@usableFromInline
final class FrontPlane<Key: StorageKey, Value: Sendable>: Sendable {
  /// Values with the numbers of the writes that stored them; nil for a key that is absent.
  @usableFromInline let cache: MemoryCache<Key.Held, Value?>
  /// Milliseconds of the time that the storage behind follows.
  @usableFromInline let clock: @Sendable () -> Int64
  /// Whether there was ever anything in it that expires. Reading the clock takes as long as finding the value. Relaxed: it
  /// is set before the first such entry is put, and a read that finds it unset may count as one from before that.
  @usableFromInline let mayExpire = Atomic<Bool>(false)
  @usableFromInline let cost: (@Sendable (Value) -> Int)?
  /// Removals of everything under way in the low bits, above them how many there were. A ticket acquires what removals
  /// released that are over; a removal that begins later empties the cache after the fill.
  @usableFromInline let removals = Atomic<UInt64>(0)

  /// What an absent key counts where values are counted by what they take.
  @inlinable static var costOfAbsence: Int { 64 }

  init(pool: MemoryPool, cost: (@Sendable (Value) -> Int)?, clock: @escaping @Sendable () -> Int64) {
    cache = MemoryCache(sharing: pool)
    self.cost = cost
    self.clock = clock
  }

  deinit {
    cache.leave()
  }

  /// The instant that decides what is expired, as far as anything can be.
  @inlinable @inline(__always)
  var now: Int64 { mayExpire.load(ordering: .relaxed) ? clock() : .min }

  /// What is held of a key, which may be that it is absent; nil for nothing.
  @inlinable @inline(__always)
  func value(_ key: Key.Held) -> Value?? { cache.get(key, now: now) }

  /// What is held of a key, as far as it answers the call: what has no version does not where one is needed, nor does absence where
  /// something expired may be behind.
  @inlinable @inline(__always)
  func entry(_ key: Key.Held, _ call: StorageRequest.Read) -> StorageRequest.Held<Value> {
    guard let found = call.counting == .all ? cache.entry(key, now: now) : looked(key, call) else { return .unknown }
    guard let value = found.value else { return call.allowsExpired ? .unknown : .absent }
    if call.needsVersion, found.version == 0 { return .unknown }
    return .entry(
      Entry(
        value,
        origin: .memory,
        expiry: Expiry(milliseconds: found.expiry),
        version: found.version == 0 ? nil : SequenceNumber(rawValue: found.version)
      )
    )
  }

  /// What is held of a key, without counting a miss.
  @usableFromInline
  func looked(_ key: Key.Held, _ call: StorageRequest.Read) -> (value: Value?, expiry: Int64, version: UInt64)? {
    guard let found = cache.look(key), found.expiry > now else { return nil }
    return call.counting == .hits ? cache.entry(key, now: now) : found
  }

  // MARK: Filling

  @usableFromInline
  struct Ticket {
    @usableFromInline let fill: FillTicket
    @usableFromInline let removals: UInt64

    @inlinable
    init(fill: FillTicket, removals: UInt64) {
      self.fill = fill
      self.removals = removals
    }
  }

  /// Called before the storage behind is read.
  @inlinable
  func beginFill(_ key: Key.Held) -> Ticket {
    let removals = removals.load(ordering: .acquiring)
    return Ticket(fill: cache.beginFill(key), removals: removals)
  }

  /// Keeps what was read, unless it may have been written since.
  @inlinable
  func fill(_ key: Key.Held, _ value: Value?, expiry: Expiry, version: SequenceNumber?, _ ticket: Ticket) {
    guard let expiry = expiry.milliseconds, ticket.removals & 0xFFFF == 0 else { return }
    guard removals.load(ordering: .acquiring) == ticket.removals else { return }
    if expiry != .max { mayExpire.store(true, ordering: .relaxed) }
    cache.fill(
      value,
      forKey: key,
      cost: weight(of: value),
      expiry: expiry,
      version: version?.rawValue ?? 0,
      now: now,
      ticket: ticket.fill
    )
  }

  /// Keeps what the write of that version stored, unless there may have been another one since; whether it did.
  ///
  /// A removal of everything counts as a write to each shard when it empties that, and is told under the lock that writes are told
  /// under: none comes between the removal's two ends.
  @inlinable
  func fill(_ key: Key.Held, _ value: Value, expiry: Expiry, ofWrite version: SequenceNumber) -> Bool {
    guard let expiry = expiry.milliseconds, removals.load(ordering: .acquiring) & 0xFFFF == 0 else { return false }
    if expiry != .max { mayExpire.store(true, ordering: .relaxed) }
    let cost = weight(of: value)
    return cache.fill(value, forKey: key, ofWrite: version.rawValue, cost: cost, expiry: expiry, now: now)
  }

  @inlinable
  func weight(of value: Value?) -> Int {
    guard let cost else { return 1 }
    return value.map(cost) ?? Self.costOfAbsence
  }

  @inlinable
  func enterWrite(_ key: Key.Held) -> WriteTicket { cache.enterWrite(key) }

  @inlinable
  func leaveWrite(_ ticket: WriteTicket) { cache.leaveWrite(ticket) }

  /// Lets go of what was dropped of the key.
  @inlinable
  func release(_ key: Key.Held) { cache.release(key) }
}

// MARK: Writes that the engine reports

extension FrontPlane {
  @inlinable
  func enterWrite(_ key: RawSpan) -> WriteTicket? {
    guard let key = Key.held(from: key) else { return nil }
    return cache.enterWrite(key, releases: false)
  }

  @usableFromInline
  func enterRemovalOfAll() {
    removals.wrappingAdd(0x1_0001, ordering: .acquiringAndReleasing)
    cache.removeAll(releases: false)
  }

  @usableFromInline
  func leaveRemovalOfAll() {
    removals.wrappingSubtract(1, ordering: .acquiringAndReleasing)
  }

  @usableFromInline
  func release() { cache.release() }
}

extension WriteFront {
  /// The front of a plane, which it keeps.
  @inlinable
  init<Key, Value>(_ plane: FrontPlane<Key, Value>) {
    self.init(
      enterWrite: { key in plane.enterWrite(key) },
      leaveWrite: { ticket, number in plane.cache.leaveWrite(ticket, number: number) },
      enterRemovalOfAll: { plane.enterRemovalOfAll() },
      leaveRemovalOfAll: { plane.leaveRemovalOfAll() },
      release: { plane.release() }
    )
  }
}
