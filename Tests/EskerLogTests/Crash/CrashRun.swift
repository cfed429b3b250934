import EskerPlatform
import EskerTestSupport
import Synchronization

@testable import EskerLog

/// What a crash test found wrong.
struct CrashFailure: Error, CustomStringConvertible {
  var description: String
}

/// A store on a simulated disk, its model, and what happens at each instant at which a crash may fall.
///
/// A crash point is every platform call and every publication of a record. At each that it is asked to look at, a run
/// takes the images that crashes could leave and hands each to a run of its own, which recovers it, compares it with the
/// model, goes on writing, and may crash again. Used by one thread.
final class CrashRun: @unchecked Sendable {
  /// How a run ends.
  enum Crash: CaseIterable {
    case drop, tear, reorder, keep
    /// Only the process ends; what it had not synced can still be lost later.
    case kill

    var policy: CrashPolicy? {
      switch self {
      case .drop: .drop
      case .tear: .tear
      case .reorder: .reorder
      case .keep: .keep
      case .kill: nil
      }
    }

    /// Whether everything whose call returned must be there.
    var keepsAll: Bool { self == .keep || self == .kill }
  }

  /// Figures of a whole sweep.
  final class Tally {
    var points = 0
    var images = 0
    var secondCrashes = 0
    var deepest = 0
    var replaced = 0
    var evicted = 0
  }

  /// Which crash points a run looks at.
  enum Points {
    /// All of them, with every kind of crash.
    case all
    /// Only the one after that many others, with one kind of crash at random.
    case one(after: Int)
  }

  let disk: SimulatedDisk
  let plan = FaultPlan()
  let clock: FakeClock
  let path = "/store"
  var history: CrashHistory
  var generator: SeededGenerator
  let tally: Tally
  var sharing = Options.Sharing.exclusive
  /// With a capacity, any key may be gone; none may have another value than the newest.
  private let capacity: Int?
  private let trail: String
  private let depth: Int
  private var points: Points
  private var isLooking = false
  /// Whether a sync was made since the last point.
  private var hasSynced = true
  /// The first thing found wrong; nothing is looked at any more from then on.
  private(set) var failure: CrashFailure?
  private var events: [StoreEvent] = []

  /// At most that many crashes follow each other.
  static let deepest = 4

  init(
    disk: SimulatedDisk,
    clock: FakeClock,
    history: CrashHistory,
    generator: SeededGenerator,
    points: Points,
    tally: Tally,
    capacity: Int? = nil,
    trail: String,
    depth: Int
  ) {
    self.disk = disk
    self.clock = clock
    self.history = history
    self.generator = generator
    self.points = points
    self.tally = tally
    self.capacity = capacity
    self.trail = trail
    self.depth = depth
  }

  // MARK: The store

  func open(checksPoints: Bool = true, reusesSpace: Bool? = nil) throws -> LogStore {
    if checksPoints { plan.onCall { [unowned self] call in lookBefore(call) } }
    var options = Options()
    options.segmentSize = 64 << 10
    options.compression = generator.oneIn(2) ? .lz4 : .off
    options.capacity = capacity
    options.sharing = sharing
    options.verification = .any(&generator)
    options.clock = .fake(clock)
    options.onEvent = { [unowned self] event in events.append(event) }
    let platform = Platform.simulated(
      fileSystem: FaultyFileSystem(disk, plan: plan),
      clock: clock,
      seed: generator.next()
    )
    var host = StoreHost(platform: platform, background: .inline)
    host.checkpointsSmallStores = generator.oneIn(2)
    host.reusesSpace = reusesSpace ?? generator.oneIn(2)
    if checksPoints { host.onPublish = { [unowned self] in look("publication") } }
    return try LogStore(at: path, options: options, host: host)
  }

  /// Does a step and keeps the model up with it.
  func take(_ step: CrashStep, on store: inout LogStore) throws {
    switch step {
    case .write(let change, let durability):
      let before = begin([change], on: store)
      try store.make(change, durability)
      settle(store, before, durability)
    case .batch(let changes, let durability):
      let before = begin(changes, on: store)
      try store.make(changes, durability)
      settle(store, before, durability)
    case .overwrites(let changes):
      let replaced = store.probe.recordsReplaced
      for change in changes {
        let before = begin([change], on: store)
        try store.make(change, .buffered)
        settle(store, before, .buffered)
      }
      tally.replaced += store.probe.recordsReplaced - replaced
    case .refused(let keyspace):
      let version = SequenceNumber(rawValue: .max >> 8)
      let written = try store.space(keyspace).compareAndSet("", forKey: CrashHistory.keys[0], ifVersion: version)
      guard written == nil else { throw wrong("a write that was refused was written") }
    case .sync:
      try store.sync()
      history.settle(0, isDurable: true)
    case .checkpoint:
      store.probe.writeCheckpoint()
    case .endSegment:
      try store.probe.endTail()
    case .merge(let all):
      try store.merge(segments: all ? nil : store.statistics.segments.map(\.id).filter { $0 % 2 == 0 })
    case .reopen:
      try store.close()
      history.settle(0, isDurable: true)
      store = try open()
      try compare(store, with: history, "after a close")
    case .backup(let number):
      let directory = "/backup \(number)"
      if try disk.status(directory) == nil { try store.backup(to: directory) }
    case .pass(let milliseconds):
      clock.advance(milliseconds: milliseconds)
    }
    if let failure { throw failure }
  }

  private func begin(_ changes: [CrashHistory.Change], on store: LogStore) -> UInt64 {
    let next = store.probe.nextSequence
    history.pending = CrashHistory.Commit(changes: changes, sequence: next + UInt64(changes.count - 1))
    return store.lastSequence.rawValue
  }

  private func settle(_ store: LogStore, _ before: UInt64, _ durability: Durability) {
    let sequence = store.lastSequence.rawValue
    // A removal of an absent key writes nothing, and waits for nothing.
    guard sequence > before else {
      history.pending = nil
      return
    }
    history.settle(sequence, isDurable: durability == .synced)
  }

  // MARK: Crash points

  /// A call that changes nothing finds the disk as the next one that does.
  private func lookBefore(_ call: FaultCall) {
    switch call.operation {
    case .open, .status, .list, .freeSpace, .fileStatus, .read, .map, .mapPrivate, .tryLock, .extend, .populate: break
    case .sync, .syncDirectory:
      look(call.description)
      if !isLooking { hasSynced = true }
    default: look(call.description)
    }
  }

  /// Does something at whose crash points nobody looks.
  func withoutLooking(_ body: () throws -> Void) rethrows {
    isLooking = true
    defer {
      isLooking = false
      hasSynced = true
    }
    try body()
  }

  private func look(_ point: String) {
    guard !isLooking, failure == nil else { return }
    isLooking = true
    defer { isLooking = false }
    do {
      switch points {
      case .all:
        tally.points += 1
        for crash in Crash.allCases {
          // Without a sync in between there is nothing new to be left of what was synced.
          if case .drop = crash, !hasSynced { continue }
          // So that more can be evicted in the same time.
          if capacity != nil, !generator.oneIn(3) { continue }
          try recover(from: crash, at: point)
        }
        hasSynced = false
      case .one(let count) where count > 0:
        points = .one(after: count - 1)
      case .one:
        points = .one(after: .max)
        try recover(from: Crash.allCases[Int.random(in: 0..<5, using: &generator)], at: point)
      }
    } catch {
      failure = error as? CrashFailure ?? CrashFailure(description: "\(trail) \(point): \(error)")
    }
  }

  /// Crashes now, whatever the points.
  func crashNow(_ crash: Crash) throws {
    isLooking = true
    defer { isLooking = false }
    try recover(from: crash, at: "end")
  }

  private func recover(from crash: Crash, at point: String) throws {
    tally.images += 1
    tally.deepest = max(tally.deepest, depth + 1)
    let image: SimulatedDisk
    if let policy = crash.policy {
      image = try disk.crashImage(policy, using: &generator)
    } else {
      image = try disk.processKilled()
    }
    var surviving = history
    // What a power failure took away is not known before the store is open again.
    if !crash.keepsAll { surviving.returned = history.durable }
    let later = CrashRun(
      disk: image,
      clock: FakeClock(wallMilliseconds: clock.wallMilliseconds(), monotonicNanoseconds: clock.monotonicNanoseconds()),
      history: surviving,
      generator: generator.split(),
      points: .one(after: .max),
      tally: tally,
      capacity: capacity,
      trail: "\(trail) > \(crash) at \(point)",
      depth: depth + 1
    )
    try later.recoverAndGoOn()
  }

  /// Recovers, compares, and now and then goes on and crashes again.
  private func recoverAndGoOn() throws {
    do { try recoverThenWrite() } catch { throw wrapped(error) }
  }

  private func recoverThenWrite() throws {
    let copy = try disk.processKilled()
    let goesOn = depth < Self.deepest && generator.oneIn(depth == 1 ? 6 : 2)
    // The next crash falls into the opening, or into what is written then.
    if goesOn { points = .one(after: Int.random(in: 0..<60, using: &generator)) }
    var store = try open()
    let found = store.lastSequence.rawValue
    var expected = history
    expected.truncate(to: found)
    guard history.isWhole(to: found) else {
      throw wrong("history ends at #\(found), amid a batch \(history.commits.map(\.sequence)) \(events)")
    }
    guard found >= history.returned else {
      throw wrong("history ends at #\(found), and #\(history.returned) was acknowledged")
    }
    try compare(store, with: expected, "recovered to #\(found)", verifies: generator.oneIn(4))
    try checkEvents()
    if generator.oneIn(4) { try compareWithRebuild(copy, expected, store) }
    history = expected
    if goesOn {
      tally.secondCrashes += 1
      var workload = CrashWorkload(generator: generator.split(), clock: clock, capacity: capacity)
      for _ in 0..<Int.random(in: 1...12, using: &generator) { try take(workload.next(), on: &store) }
      try compare(store, with: history, "after writing on")
      if generator.oneIn(3) { try crashNow(Crash.allCases[Int.random(in: 0..<5, using: &generator)]) }
      try checkEvents()
    }
    store.probe.kill()
    if let failure { throw failure }
  }

  private func wrapped(_ error: any Error) -> CrashFailure {
    error as? CrashFailure ?? wrong("\(error)")
  }

  // MARK: Comparing

  /// The same image without its checkpoints gives the same store.
  private func compareWithRebuild(_ image: SimulatedDisk, _ expected: CrashHistory, _ store: LogStore) throws {
    guard let names = try? image.list(path), names.contains(where: { FileName.checkpointID($0) != nil }) else { return }
    for name in names where FileName.checkpointID(name) != nil { try image.remove("\(path)/\(name)") }
    let other = CrashRun(
      disk: image,
      clock: clock,
      history: expected,
      generator: generator.split(),
      points: .one(after: .max),
      tally: tally,
      capacity: capacity,
      trail: "\(trail) > without checkpoints",
      depth: Self.deepest
    )
    let rebuilt = try other.open()
    defer { rebuilt.probe.kill() }
    guard rebuilt.lastSequence == store.lastSequence else {
      throw wrong("without its checkpoint the store ends at \(rebuilt.lastSequence), not \(store.lastSequence)")
    }
    try other.compare(rebuilt, with: expected, "rebuilt")
  }

  /// Throws unless the store shows exactly what the model does.
  func compare(_ store: LogStore, with history: CrashHistory, _ moment: String, verifies: Bool = true) throws {
    let now = clock.wallMilliseconds()
    let names = try Set(store.keyspaceNames)
    for name in CrashHistory.keyspaces {
      let entries = history.present[name] ?? [:]
      if !name.isEmpty, !names.contains(name) {
        guard entries.isEmpty else { throw wrong("\(moment): keyspace '\(name)' is missing") }
        continue
      }
      let space = try store.space(name)
      // A store with a capacity may have evicted any.
      let unexpired = entries.values.count { $0.expiry > now }
      let count = try space.count()
      guard (capacity == nil ? unexpired...unexpired : 0...unexpired).contains(count) else {
        throw wrong("\(moment): keyspace '\(name)' counts \(count), not \(unexpired)")
      }
      for key in CrashHistory.keys {
        let value = try space.get(key)
        let expected = entries[key].flatMap { $0.expiry > now ? $0.value : nil }
        guard value == expected || capacity != nil && value == nil else {
          throw wrong(
            "\(moment): '\(name)' \(key) is \(Self.brief(value)), not \(Self.brief(expected)); \(history.writes(to: key, in: name)); \(events)\n"
              + "\(history.commits.map(\.sequence)) durable \(history.durable)\n"
              + store.probe.segments.map(\.description).joined(separator: "\n")
          )
        }
      }
    }
    guard verifies else { return }
    let report = try store.verify()
    // A copy of the manifest may be torn by a crash; the next edit replaces it.
    let damage = report.damage.filter { !$0.location.path.contains("manifest") && !$0.reason.contains("manifest") }
    guard damage.isEmpty else { throw wrong("\(moment): \(damage)") }
  }

  /// A crash is no damage.
  private func checkEvents() throws {
    for event in events {
      switch event {
      case .damaged(let location, let reason) where !location.path.contains("manifest"):
        throw wrong("an intact store reported damage: \(location) \(reason)")
      case .backgroundFailure, .syncFailed:
        throw wrong("\(event)")
      default: break
      }
    }
    events = []
  }

  private static func brief(_ value: [UInt8]?) -> String {
    guard let value else { return "absent" }
    return "\(value.count) bytes '\(String(decoding: value.prefix(16), as: UTF8.self))'"
  }

  private func wrong(_ what: String) -> CrashFailure {
    CrashFailure(description: "\(trail): \(what)")
  }
}
