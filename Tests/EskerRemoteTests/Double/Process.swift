import EskerLog

@testable import EskerRemote

/// A copy in the memory of a simulated process.
struct Copy {
  var stored: Stored
  var generation: UInt32
  var isDoubtful = false
}

/// The memory of the one view of a simulated process.
final class MemoryDouble: NearTier, @unchecked Sendable {
  var copies: [Int: Copy] = [:]

  func distrust(_ key: RawSpan, unless version: RemoteVersion?, at now: RemoteInstant) {
    let key = DoubleStore.number(key)
    guard let copy = copies[key] else { return }
    if let version, copy.stored.value?.version == version { return }
    copies[key]?.generation = 0
  }

  func trust(_ key: RawSpan, _ version: RemoteVersion, in generation: UInt32, at now: RemoteInstant) {
    let key = DoubleStore.number(key)
    guard copies[key]?.stored.value?.version == version else { return }
    copies[key]?.generation = generation
    copies[key]?.isDoubtful = false
  }

  func forget(_ key: RawSpan) { copies[DoubleStore.number(key)] = nil }

  func doubt(_ key: RawSpan, unless version: RemoteVersion?) {
    let key = DoubleStore.number(key)
    if let version, copies[key]?.stored.value?.version == version { return }
    copies[key]?.isDoubtful = true
  }
}

/// What the readers of one flight share.
final class SharedRead: FlightObject, @unchecked Sendable {
  var waiting: [(Stored) -> Void] = []
  var failed: [() -> Void] = []
}

/// Takes the change after a script of our own for its echo, if that error is planted.
struct SinkDouble: RemoteSink, @unchecked Sendable {
  unowned let process: Process
  let core: Coherence

  func changed(_ key: RawSpan, domain: UInt16, at stamp: RemoteStamp) {
    if process.echoes.remove(DoubleStore.number(key)) != nil { return }
    core.changed(key, domain: domain, at: stamp)
  }

  func raised(_ domains: Range<UInt16>, to generation: UInt32) { core.raised(domains, to: generation) }

  func trusted(_ domains: Range<UInt16>, in generation: UInt32, until instant: RemoteInstant) {
    core.trusted(domains, in: generation, until: instant)
  }

  func suspended(_ domains: Range<UInt16>) { core.suspended(domains) }

  func settled(_ write: RemoteWriteID, _ outcome: RemoteOutcome) { core.settled(write, outcome) }
}

/// A process with the real core, a memory, and a log that survives restarts.
final class Process: @unchecked Sendable {
  unowned let world: World
  let number: Int
  var store: DoubleStore
  var core: Coherence
  var memory = MemoryDouble()
  var log: [Int: Stored] = [:]
  /// What tasks have still to do, in any order.
  var tasks: [() -> Void] = []
  /// The log's writer works in order.
  var logWrites: [() -> Void] = []
  /// What completed operations have read or written, and what was written; by key.
  var floor: [Int: Set<Int>] = [:]
  var mine: [Int: Set<Int>] = [:]
  /// Writes of which nobody knows what came of them.
  var unknown: [Int: Set<Int>] = [:]
  var echoes: Set<Int> = []
  /// Writes that wait in the log, and survive restarts with it.
  var queued: [Int: QueuedWrite] = [:]
  var reading = 0
  var writing = 0
  let clock: VersionClock

  init(_ world: World, number: Int) {
    self.world = world
    self.number = number
    clock = VersionClock(writer: UInt64(number + 1))
    store = DoubleStore(world, client: number)
    core = Self.makeCore(world, store, VerifiedSet(capacity: 64))
  }

  private static func makeCore(_ world: World, _ store: DoubleStore, _ verified: VerifiedSet) -> Coherence {
    Coherence(
      store,
      verified: verified,
      seeds: (1, 2),
      faults: world.plant.faults,
      now: { [unowned world] in RemoteInstant(nanoseconds: world.now) }
    )
  }

  func start() {
    core.add(memory)
    for key in queued.keys {
      queued[key]?.isUnderWay = false
      queued[key]?.isOfEarlierLife = true
      core.hold(World.bytes(key))
    }
    store.begin(SinkDouble(process: self, core: core))
  }

  /// Memory, connections and operations are gone; the log stays.
  func restart() {
    for id in store.connections.values.sorted() { _ = world.close(id) }
    // Nobody knows the old connections any more: what they still do is like another's.
    for index in world.orphans.indices where world.orphans[index].client == number { world.orphans[index].client = -1 }
    let verified = world.plant == .persistTrust ? core.state.withLock { $0.verified } : VerifiedSet(capacity: 64)
    tasks = []
    logWrites = []
    floor = [:]
    mine = [:]
    unknown = [:]
    echoes = []
    reading = 0
    writing = 0
    memory = MemoryDouble()
    store = DoubleStore(world, client: number)
    core = Self.makeCore(world, store, verified)
    start()
  }

  // MARK: Reading

  /// Whether what is in memory is served without asking.
  func trusted(_ key: Int) -> Stored? {
    guard let copy = memory.copies[key] else { return nil }
    let domain = UInt16(key % world.authority.count)
    guard core.domains.isTrusted(domain, copy.generation, at: core.now()) else { return nil }
    return copy.stored
  }

  func read(_ key: Int) {
    let floor = floor[key] ?? []
    reading += 1
    let finish: (Stored) -> Void = { [unowned self] stored in
      reading -= 1
      world.checkRead(self, key, stored, floor)
      if stored.value != nil { self.floor[key, default: []].insert(stored.content) }
    }
    if let stored = trusted(key) {
      world.checkAge(self, key, stored)
      return finish(stored)
    }
    // The intent, which is newer than all that was read before.
    if let waiting = queued[key] {
      reading -= 1
      self.floor[key, default: []].insert(waiting.content)
      return
    }
    let remote = RemoteKey(World.bytes(key), domain: UInt16(key % world.authority.count))
    let (shared, new) = core.board(remote, view: 1) { SharedRead() }
    shared.waiting.append(finish)
    shared.failed.append { [unowned self] in reading -= 1 }
    if let new { fly(new, shared, key) }
  }

  /// A read that takes whatever memory has, as one of a bounded storage does: own writes are seen, however old the rest is.
  func readBounded(_ key: Int) -> Bool {
    guard queued[key] == nil, let copy = memory.copies[key], !copy.isDoubtful, copy.stored.value != nil else {
      return false
    }
    world.checkRead(self, key, copy.stored, (mine[key] ?? []).union(unknown[key] ?? []))
    return true
  }

  private func fly(_ flight: Coherence.FlightID, _ shared: SharedRead, _ key: Int) {
    let near = memory.copies[key]?.stored ?? log[key]
    if let near, let version = near.value?.version, memory.copies[key] == nil,
      core.landVerified(flight, version, keep: { memory.copies[key] = Copy(stored: near, generation: $0) })
    {
      world.checkAge(self, key, near)
      return end(flight, shared, near)
    }
    core.ask(flight, near?.value?.version, by: .distantFuture) { [self] result in
      // What is decoded, and kept, is so later, and in any order.
      tasks.append { [self] in landed(flight, shared, key, near, result) }
    }
  }

  private func landed(
    _ flight: Coherence.FlightID,
    _ shared: SharedRead,
    _ key: Int,
    _ near: Stored?,
    _ result: Result<RemoteChecked, RemoteError>
  ) {
    let stored: Stored
    switch result {
    case .failure:
      core.leave(flight)
      for waiter in shared.failed { waiter() }
      return
    case .success(.different):
      return core.ask(flight, nil, by: .distantFuture) { [self] result in
        tasks.append { [self] in landed(flight, shared, key, near, result) }
      }
    case .success(.same): stored = near ?? Stored(value: nil, content: 0)
    case .success(.changed(let value)): stored = Stored(value: value, content: World.content(of: value))
    }
    let isKept = core.land(flight, stored.value?.version) { generation in
      // What may not be current is nothing to this memory, which serves nothing stale.
      if generation != 0 { memory.copies[key] = Copy(stored: stored, generation: generation) }
    }
    if isKept { logWrites.append { [self] in log[key] = stored.value == nil ? nil : stored } }
    end(flight, shared, stored)
  }

  private func end(_ flight: Coherence.FlightID, _ shared: SharedRead, _ stored: Stored) {
    core.leave(flight)
    for waiter in shared.waiting { waiter(stored) }
  }

  // MARK: Writing

  func write(_ key: Int, isScript: Bool, isRemoval: Bool) {
    let content = world.nextContent()
    let version = clock.next(at: world.now / 1_000_000)
    let payload = withUnsafeBytes(of: UInt64(content)) { [UInt8]($0) }
    let value = payload.withBytes { RemoteValue(RemoteEnvelope(version: version), payload: $0) }
    let stored = Stored(value: isRemoval ? nil : value, content: content)
    let condition: RemoteCondition = isScript && world.random.oneIn(3) ? .absent : .always
    let remote = RemoteKey(World.bytes(key), domain: UInt16(key % world.authority.count))
    writing += 1
    if isRemoval { world.removals.insert(content) }
    if isScript { world.scripts.insert(content) }
    core.write(
      remote,
      isRemoval ? .remove(condition) : .set(value, condition),
      by: World.deadline(of: content),
      keep: { [unowned self] generation in
        guard generation != 0 else { return }
        var kept = stored
        if world.plant == .counterVersion, let counted = world.counted[content] { kept.value = counted }
        memory.copies[key] = Copy(stored: kept, generation: generation)
        logWrites.append { [unowned self] in log[key] = kept.value == nil ? nil : kept }
      },
      then: { [unowned self] result in
        writing -= 1
        if case .failure(.unknownOutcome) = result { unknown[key, default: []].insert(content) }
        guard case .success(let outcome) = result, outcome.isDone else { return }
        floor[key, default: []].insert(content)
        mine[key, default: []].insert(content)
        if isScript, world.plant == .ignoreEcho { echoes.insert(key) }
      }
    )
  }

  // MARK: Queued writes

  struct QueuedWrite {
    var intent: RemoteIntent
    var content: Int
    var isUnderWay = false
    /// Whether it has survived a restart: then a replay from before may still be executed, at any time, and is like another's.
    var isOfEarlierLife = false
  }

  /// Queues a write, which is acknowledged at once.
  func queue(_ key: Int, isRemoval: Bool) {
    let content = world.nextContent()
    let version = clock.next(at: world.now / 1_000_000)
    let payload = withUnsafeBytes(of: UInt64(content)) { [UInt8]($0) }
    let value = payload.withBytes { RemoteValue(RemoteEnvelope(version: version), payload: $0) }
    if isRemoval { world.removals.insert(content) }
    world.scripts.insert(content)
    if queued[key] == nil { core.hold(World.bytes(key)) }
    // Nobody knows whether and when that will be; it was read only as what waits, and that is this write now.
    if let left = queued[key], left.isOfEarlierLife { floor[key]?.remove(left.content) }
    let known: RemoteFound = memory.copies[key]?.stored.value?.version.map { .version($0) } ?? .absent
    // What is replaced may have arrived.
    let left = queued[key].map { $0.intent.value == nil ? .absent : $0.intent.base ?? known }
    let intent = RemoteIntent(isRemoval ? nil : value, version: version, base: left ?? known)
    queued[key] = QueuedWrite(intent: intent, content: content, isUnderWay: queued[key]?.isUnderWay ?? false)
    floor[key, default: []].insert(content)
  }

  /// Replays what waits of a key; it waits no more once it was answered and is still the same.
  func replay(_ key: Int) {
    guard let waiting = queued[key] else { return }
    queued[key]?.isUnderWay = true
    let remote = RemoteKey(World.bytes(key), domain: UInt16(key % world.authority.count))
    core.write(remote, .apply(waiting.intent), by: World.deadline(of: waiting.content)) { [unowned self] result in
      queued[key]?.isUnderWay = false
      if case .failure(.unknownOutcome) = result { unknown[key, default: []].insert(waiting.content) }
      guard case .success(let outcome) = result else { return }
      if outcome.isDone { mine[key, default: []].insert(waiting.content) }
      guard queued[key]?.content == waiting.content else {
        if outcome.isDone {
          queued[key]?.intent.base = waiting.intent.value == nil ? .absent : .version(waiting.intent.version)
        }
        return
      }
      queued[key] = nil
      core.release(World.bytes(key))
    }
  }
}
