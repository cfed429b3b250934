internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// The name that the engine calls it by.
@usableFromInline typealias KeyspaceCore = _KeyspaceCore

/// The part of a keyspace that the engine works with.
///
/// Not part of the interface: use ``Keyspace`` or ``LogStore``. It is public because a public protocol, ``ByteStore``, asks for it, and
/// Swift lets no such protocol ask for less; the underscore keeps it out of completion.
@safe
public final class _KeyspaceCore: Sendable {
  @usableFromInline let engine: Engine
  // A copy of the engine's: reaching it through the engine would cost a retain and a release on each call.
  let keydir: Keydir
  let id: UInt32
  let name: String

  /// One incarnation of the keyspace: emptying it begins the next, in which keys hash differently.
  struct Incarnation {
    let tag: KeyspaceTag
    let hash: KeyHash
  }

  /// The current incarnation. Incarnations stay allocated as long as this object, so a reader may use one without a lock.
  private let present: Atomic<UInt>
  /// Safety: only `init`, `begin` under the writer's lock, and `deinit` touch it.
  nonisolated(unsafe) private var incarnations: [UnsafeMutablePointer<Incarnation>] = unsafe []

  /// Entries in the index; written under the writer's lock.
  private let entryCount = Atomic<Int>(0)
  /// Bytes of their records, as long as they are not packed; written under the writer's lock.
  private let recordBytes = Atomic<Int>(0)
  /// When the first of them expires, if not later.
  let expiry = ExpiryBound()

  /// The hashes of the keyspace's keys, while it is small. Changed under the writer's lock, as the flag.
  let keyHashes = Guarded(KeyHashList(), .leaf)
  /// What is kept of its keys besides the index.
  struct KeptKeys: OptionSet {
    let rawValue: UInt8
    /// A list of their hashes.
    static let hashes = KeptKeys(rawValue: 1)
    /// The keys themselves, in order.
    static let order = KeptKeys(rawValue: 2)
    /// Their hashes in the order in which they go, where the keyspace has a capacity.
    static let ages = KeptKeys(rawValue: 4)
  }

  /// Relaxed: read and changed under the writer's lock.
  private let kept: Atomic<UInt8>

  /// The keys in order, once somebody asked for that. Changed under the writer's lock.
  private let orderOfKeys = Guarded<KeyOrder?>(nil, .leaf)
  /// Held while they are gathered.
  let ordering = Lock(.ordering)

  /// What the keyspace may take, and the order in which its keys go. A reader has none. Changed under the writer's lock.
  private let limits: Guarded<(budget: KeyspaceBudget, clock: KeyClock?)>
  /// Which keys were read lately, where something is evicted; 0 if nothing is. Marks stay allocated as long as this object, and those of
  /// the keydir longer.
  private let marks = Atomic<UInt>(0)
  /// Safety: only `init`, `use` under the writer's lock, and `deinit` touch it.
  nonisolated(unsafe) private var ownMarks: [UnsafeMutablePointer<ReadMarks>] = unsafe []
  /// The length in bytes of the marks in use.
  private let marksLength = Atomic<Int>(0)

  /// Whether there are watchers or listeners. Relaxed: writers read it under the writer's lock, which it is changed under.
  let isWatched = Atomic<Bool>(false)
  let watchers = Watchers()

  /// Milliseconds until values expire by default; -1 if the store's default applies.
  let defaultExpiryMilliseconds: Atomic<Int64>

  private let recordedForms: Guarded<KeyspaceForms>

  init(_ row: KeyspaceRow, of engine: Engine) {
    self.engine = engine
    keydir = engine.keydir
    id = row.id
    name = row.name
    defaultExpiryMilliseconds = Atomic(row.defaultExpiry)
    recordedForms = Guarded(row.forms, .leaf)
    kept = Atomic(row.id != 0 ? KeptKeys.hashes.rawValue : 0)
    limits = Guarded((row.budget, nil), .leaf)
    present = Atomic(0)
    begin(incarnation: row.incarnation)
    if let marks = keydir.readMarks { use(marks) }
    if !engine.env.options.readOnly { limit(to: row.budget, isEmpty: false, newMarks(for: row.budget)) }
  }

  deinit {
    // Safety: no pointer to one outlives this object. An incarnation has nothing to deinitialize.
    unsafe incarnations.forEach { unsafe $0.deallocate() }
    unsafe ownMarks.forEach { marks in
      // Those of the keydir are its own.
      if keydir.readMarks == nil { unsafe marks.pointee.deallocate() }
      unsafe marks.deallocate()
    }
  }

  /// Begins an incarnation. Called under the writer's lock.
  func begin(incarnation: UInt32) {
    let tag = KeyspaceTag(id: id, incarnation: incarnation)
    // Safety: initialized before it is published, with release ordering, and never changed again.
    let begun = UnsafeMutablePointer<Incarnation>.allocate(capacity: 1)
    unsafe begun.initialize(
      to: Incarnation(
        tag: tag,
        hash: KeyHash(seedLow: keydir.env.seed.low, seedHigh: keydir.env.seed.high, keyspace: tag)
      )
    )
    unsafe incarnations.append(begun)
    present.store(UInt(bitPattern: begun), ordering: .releasing)
  }

  /// The current incarnation; valid as long as this object.
  @inline(__always)
  var incarnation: UnsafePointer<Incarnation> {
    // Safety: `init` has stored a pointer. Acquiring: the incarnation behind it was initialized before.
    unsafe UnsafePointer(bitPattern: present.load(ordering: .acquiring)).unsafelyUnwrapped
  }

  // Safety: an incarnation stays allocated as long as this object.
  var tag: KeyspaceTag { unsafe incarnation.pointee.tag }

  /// Throws if the keyspace was removed.
  func checkPresent() throws(StoreError) {
    if tag.isRemoved { throw .keyspaceRemoved(name) }
  }

  @inline(__always)
  var count: Int { entryCount.load(ordering: .relaxed) }

  /// Called under the writer's lock, so the load and the store need not be one step. Relaxed: readers only report the count.
  @inline(__always)
  func countEntries(_ change: Int) { entryCount.store(count &+ change, ordering: .relaxed) }

  /// Bytes of the records of all entries, as long as they are not packed. Those of a record whose lengths could not be read when it
  /// was replaced still count.
  @inline(__always)
  var byteCount: Int { recordBytes.load(ordering: .relaxed) }

  /// Called under the writer's lock, as ``countEntries(_:)``. Never below 0, as lengths may be damaged.
  @inline(__always)
  func countBytes(_ change: Int) {
    if change != 0 { recordBytes.store(max(0, byteCount &+ change), ordering: .relaxed) }
  }

  /// Called under the writer's lock, or before any other thread has the store.
  func setCount(_ count: Int, byteCount: Int) {
    entryCount.store(count, ordering: .relaxed)
    recordBytes.store(byteCount, ordering: .relaxed)
  }

  /// What is kept of its keys besides the index. Called under the writer's lock.
  @inline(__always)
  var keptKeys: KeptKeys { KeptKeys(rawValue: kept.load(ordering: .relaxed)) }

  /// Whether there is a hash list. Used under the writer's lock.
  var hasKeyHashes: Bool {
    get { keptKeys.contains(.hashes) }
    set { keep(.hashes, newValue) }
  }

  private func keep(_ keys: KeptKeys, _ isKept: Bool) {
    let others = keptKeys.subtracting(keys)
    kept.store((isKept ? others.union(keys) : others).rawValue, ordering: .relaxed)
  }

  /// The keys in order; nil if nobody has asked for that. Any thread reads it; it is replaced under the writer's lock.
  var order: KeyOrder? {
    get { orderOfKeys.withLock { $0 } }
    set {
      orderOfKeys.withLock { $0 = newValue }
      keep(.order, newValue != nil)
    }
  }

  /// The same under the writer's lock, where it costs a load if there is none.
  @inline(__always)
  var keptOrder: KeyOrder? { keptKeys.contains(.order) ? order : nil }

  // MARK: Capacity

  var budget: KeyspaceBudget { limits.withLock { $0.budget } }

  /// The order in which keys go; nil without a capacity.
  var keyClock: KeyClock? { limits.withLock { $0.clock } }

  /// Whether it has a capacity. Used under the writer's lock.
  @inline(__always)
  var isLimited: Bool { keptKeys.contains(.ages) }

  /// Sets what the keyspace may take. Called under the writer's lock, or before any other thread has the store.
  ///
  /// - Parameters:
  ///   - isEmpty: Whether it is known to have no keys.
  ///   - marks: What ``newMarks(for:)`` gave.
  func limit(to budget: KeyspaceBudget, isEmpty: Bool, _ marks: ReadMarks?) {
    limits.withLock { limits in
      limits.budget = budget
      if budget == .unlimited {
        limits.clock = nil
      } else if limits.clock == nil {
        limits.clock = KeyClock(isGathered: isEmpty)
      }
    }
    keep(.ages, budget != .unlimited)
    if let marks { use(marks) }
  }

  /// Marks for a keyspace of that budget; nil if those that there are will do. Takes no lock: there may be many.
  func newMarks(for budget: KeyspaceBudget) -> ReadMarks? {
    guard budget != .unlimited, keydir.readMarks == nil else { return nil }
    let capacity = budget.storeCapacity
    guard ReadMarks.length(for: capacity) > marksLength.load(ordering: .relaxed) else { return nil }
    return ReadMarks(capacity: capacity)
  }

  private func use(_ marks: ReadMarks) {
    marksLength.store(marks.byteCount, ordering: .relaxed)
    // Safety: initialized before it is published, with release ordering, and never changed again.
    let place = UnsafeMutablePointer<ReadMarks>.allocate(capacity: 1)
    unsafe place.initialize(to: marks)
    unsafe ownMarks.append(place)
    self.marks.store(UInt(bitPattern: place), ordering: .releasing)
  }

  // Safety: as said of `marks`. Acquiring: what it leads to was initialized before.
  @inline(__always)
  private var readMarks: UnsafePointer<ReadMarks>? {
    unsafe UnsafePointer(bitPattern: marks.load(ordering: .acquiring))
  }

  /// Marks a key as read, where something is evicted.
  @inline(__always)
  func noteRead(_ hash: UInt64) {
    // Safety: as said of `marks`.
    if let marks = unsafe readMarks { unsafe marks.pointee.set(hash) }
  }

  /// Clears a key's mark; returns whether it was read.
  func takeMark(_ hash: UInt64) -> Bool {
    // Safety: as said of `marks`.
    guard let marks = unsafe readMarks else { return false }
    return unsafe marks.pointee.take(hash)
  }

  /// What a snapshot shows of it.
  var shown: SnapshotKeyspace {
    SnapshotKeyspace(
      name: name,
      tag: tag,
      defaultExpiry: defaultExpiryMilliseconds.load(ordering: .relaxed),
      forms: forms,
      budget: budget
    )
  }

  /// The forms of keys and values that the manifest records.
  var forms: KeyspaceForms { recordedForms.withLock { $0 } }

  /// Notes what a manifest records, which in a writer may be older than what is known; whether that is news.
  func note(_ row: KeyspaceRow) -> Bool {
    let isOtherBudget = engine.env.options.readOnly && budget != row.budget
    if isOtherBudget { limits.withLock { $0.budget = row.budget } }
    let isOtherExpiry =
      engine.env.isFollowing
      && defaultExpiryMilliseconds.exchange(row.defaultExpiry, ordering: .relaxed) != row.defaultExpiry
    return recordedForms.withLock { known in
      let before = known
      known = known.completed(by: row.forms)
      return known != before
    } || isOtherBudget || isOtherExpiry
  }

  /// Takes over what another process has set. The caller holds no lock.
  func takeOver(_ row: KeyspaceRow) {
    defaultExpiryMilliseconds.store(row.defaultExpiry, ordering: .relaxed)
    guard row.budget != budget else { return }
    let marks = newMarks(for: row.budget)
    engine.writer.withLock { _ in limit(to: row.budget, isEmpty: count == 0, marks) }
  }

  var defaultExpiry: Duration? {
    let milliseconds = defaultExpiryMilliseconds.load(ordering: .relaxed)
    return milliseconds < 0 ? nil : .milliseconds(milliseconds)
  }
}
