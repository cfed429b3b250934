internal import EskerFormat
internal import EskerLog
internal import EskerPlatform

/// Decides which near copies of a remote store may be served without asking: the rules of the article on guarantees, for one prefix.
///
/// It knows keys and versions, but neither values nor types. Views hold the copies, each with the generation of its domain in which it
/// was found current, and ask ``DomainTable/isTrusted(_:_:at:)`` on every hit, without a lock. All else is under one lock, which is held
/// while the memory of views is told, and never while the store is asked or a caller is resumed. No synchronous function that users
/// call takes it, so the `deinit` of a value may do what it likes.
///
/// **One order.** Per key, replies and changes come in the order of messages, and are judged here before the next is delivered. What is
/// read is decoded later, by a task; the *flight* remembers what was reported in between, so it is kept only if nothing was.
final class Coherence: RemoteSink {
  let domains: DomainTable
  let counters = RemoteCounters()
  let faults: PlantedFaults
  let now: @Sendable () -> RemoteInstant
  private let hash: KeyHash
  let store: any RemoteStore
  let state: Guarded<State>
  /// Told of leases, after they count; must not wait.
  let granted: @Sendable (DomainTable, RemoteInstant) -> Void
  /// Told of each change, raise and rollback, after the near copies; must not wait.
  let report: @Sendable (Report) -> Void

  /// What is told to observers.
  enum Report: Sendable {
    case changed([UInt8])
    case raised(Range<UInt16>)
    case suspended(Range<UInt16>)
    /// What the owner has now is older than what was seen before: the remote store has lost a write.
    case rolledBack([UInt8])
    /// Leases have begun or go on; reported only once somebody waits for them.
    case leased(Range<UInt16>)
  }

  struct State: ~Copyable {
    var active = ActiveKeys()
    var verified: VerifiedSet
    var tiers: [any NearTier] = []
    var ends: [TrustEnd]
    /// Writes whose callers gave up, by the hash and bytes of their keys.
    var abandoned: [UInt64: RemoteKey] = [:]
    /// Writes that were answered while the lease was over, until it is known whether the owner was still the owner.
    var confirming: [Confirming] = []
    var waitingCount = 0
    /// Keys of which a write waits in a queue, by hash, and how often each is held. Where two hashes are equal, one key costs the other
    /// that nothing of it is kept.
    var held: [UInt64: Int] = [:]
    /// Tasks that wait for changes.
    var watches = ChangeWatches()
    var lastID: UInt64 = 0
    var isObserved = false
    var leasesAreObserved = false
    /// When it was learnt last of each domain that a write of this process was made, or may have been; empty unless replicas are asked.
    var lastWrites: [RemoteInstant] = []

    mutating func noteWrite(_ key: RemoteKey, at now: RemoteInstant) {
      if !lastWrites.isEmpty { lastWrites[Int(key.domain)] = now }
    }

    mutating func nextID() -> UInt64 {
      lastID += 1
      return lastID
    }
  }

  /// When trust in what was learnt in a generation ended, at the latest.
  struct TrustEnd {
    var leaseEnd = RemoteInstant(nanoseconds: 0)
    var formerGeneration: UInt32 = 0
    var formerEnd = RemoteInstant(nanoseconds: 0)
  }

  struct Confirming {
    let key: RemoteKey
    let generation: UInt32
    let deadline: RemoteInstant
    let outcome: WriteOutcome
    /// Nil once there was another write of the key.
    var keep: (@Sendable (UInt32) -> Void)?
    let completion: @Sendable (Result<WriteOutcome, RemoteError>) -> Void
  }

  /// How many writes may wait for others of their keys.
  static let waitingLimit = 65_536

  init(
    _ store: any RemoteStore,
    verified: VerifiedSet,
    seeds: (UInt64, UInt64),
    faults: PlantedFaults = [],
    now: @escaping @Sendable () -> RemoteInstant = { .now },
    granted: @escaping @Sendable (DomainTable, RemoteInstant) -> Void = { _, _ in },
    report: @escaping @Sendable (Report) -> Void = { _ in }
  ) {
    self.store = store
    self.faults = faults
    self.now = now
    self.granted = granted
    self.report = report
    hash = KeyHash(seedLow: seeds.0, seedHigh: seeds.1)
    domains = DomainTable(count: store.domainCount)
    state = Guarded(
      State(verified: verified, ends: Array(repeating: TrustEnd(), count: store.domainCount)),
      .coherence
    )
  }

  /// The hash of a key.
  ///
  /// Safety: the span keeps the bytes during the call.
  func hash(of key: RawSpan) -> UInt64 { unsafe key.withUnsafeBytes { unsafe hash.hash($0) } }

  func hash(of key: RemoteKey) -> UInt64 { key.bytes.withBytes { hash(of: $0) } }

  /// Adds the memory of a view; it is kept until it is removed.
  func add(_ tier: any NearTier) { state.withLock { $0.tiers.append(tier) } }

  func remove(_ tier: any NearTier) { state.withLock { $0.tiers.removeAll { $0 === tier } } }

  /// Forgets all memory, and ends all waits: nothing is reported any more.
  func removeTiers() {
    var effects = CoherenceEffects()
    state.withLock { state in
      state.tiers = []
      effects.end(state.watches.everyone)
    }
    effects.run()
  }

  /// From now on changes are reported, which costs an allocation each.
  func observe() { state.withLock { $0.isObserved = true } }

  /// Whether a copy in the log of that version is known to be current.
  func isVerified(_ key: RemoteKey, _ version: RemoteVersion) -> Bool {
    let hash = hash(of: key)
    let generation = domains.generation(key.domain)
    guard domains.isTrusted(key.domain, generation, at: now()) else { return false }
    return state.withLock { $0.verified.contains(hash, version, in: generation) }
  }

  /// When the trust in something ended that was found current in `generation` and at `instant`, and of which no change was reported: a
  /// lower bound.
  func endOfTrust(_ domain: UInt16, _ generation: UInt32, verifiedAt instant: RemoteInstant) -> RemoteInstant {
    state.withLock { max(instant, endOfTrust(domain, generation, $0) ?? instant) }
  }

  /// The same of a copy in the log; nil if it is not known to have been current in the last two generations.
  func endOfTrust(_ key: RemoteKey, _ version: RemoteVersion) -> RemoteInstant? {
    let hash = hash(of: key)
    return state.withLock { state in
      let generations = [domains.generation(key.domain), state.ends[Int(key.domain)].formerGeneration]
      let known = generations.first { state.verified.contains(hash, version, in: $0) }
      return known.flatMap { endOfTrust(key.domain, $0, state) }
    }
  }

  private func endOfTrust(_ domain: UInt16, _ generation: UInt32, _ state: borrowing State) -> RemoteInstant? {
    let end = state.ends[Int(domain)]
    if generation == domains.generation(domain) { return min(end.leaseEnd, now()) }
    return generation == end.formerGeneration ? end.formerEnd : nil
  }

  /// Whether changes of a domain are being reported.
  func hasLease(_ domain: UInt16) -> Bool { domains.isTrusted(domain, domains.generation(domain), at: now()) }

  /// Whether what was current at an instant, or later, has everything in it that this process has written to a domain.
  func hasOwnWrites(_ domain: UInt16, at instant: RemoteInstant) -> Bool {
    state.withLock { !$0.lastWrites.isEmpty && $0.lastWrites[Int(domain)] < instant }
  }

  /// From now on it is known when this process has written.
  func observeReplicas() {
    state.withLock { state in
      guard state.lastWrites.isEmpty else { return }
      state.lastWrites = Array(repeating: now(), count: store.domainCount)
    }
    store.observeReplicas()
  }

  /// Whether replies of a generation count, under the lock.
  func isCurrent(_ stamp: RemoteStamp, _ domain: UInt16) -> Bool {
    if faults.contains(.fillWhileSuspended) { return true }
    let generation = faults.contains(.keepEpoch) ? domains.generation(domain) : stamp.generation
    return domains.isTrusted(domain, generation, at: now())
  }
}

/// What is left to do once the lock is released: requests of the store, and callers to resume.
struct CoherenceEffects {
  private var actions: [() -> Void] = []

  mutating func add(_ action: @escaping () -> Void) { actions.append(action) }

  consuming func run() { for action in actions { action() } }
}

extension LockRank {
  /// Held while the memory of views is told.
  static let coherence = LockRank(47, "coherence")
}
