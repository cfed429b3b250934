import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Crashes of a store that has its keys in order from a checkpoint: before, while and after a merge gives that checkpoint up.
@Suite struct StoredOrderCrashTests {
  @Test func everyCrashAroundAMergeLeavesTheKeysInOrder() throws {
    var sweep = Sweep(announcedFor: "StoredOrderCrashTests")
    for _ in 0..<Rounds.count(2, thorough: 10) {
      let run = try OrderCrashRun(preparedBy: sweep.split())
      // Once to see how many points there are.
      let count = try run.copy(points: []).runAll()
      let points = sweep.points(of: count, atMost: 50)
      let looking = try run.copy(points: Set(points))
      #expect(try looking.runAll() == count)
      let tally = looking.tally
      print("StoredOrderCrashTests: \(points.count) of \(count) points, \(tally)")
      #expect(tally.adopted > 10 && tally.gathered > 10 && tally.again > 10)
    }
  }
}

/// A store with keys in order, its model, and what is checked of the disks that crashes would leave.
///
/// A crash point is a call that changes something on the disk, or a publication. Used by one thread.
private final class OrderCrashRun: @unchecked Sendable {
  /// How many stores were opened after a crash.
  struct Tally: CustomStringConvertible {
    /// Those that had the order of a checkpoint, and those that had to gather the keys.
    var adopted = 0, gathered = 0
    /// Those that were opened after another crash in between.
    var again = 0

    var description: String { "\(adopted) adopted, \(gathered) gathered, \(again) after two crashes" }
  }

  private static let keyCount = 900
  private static func key(_ number: Int) -> String { "posts/\(10_000 + number)/\(String(repeating: "k", count: 16))" }

  private var machine: Machine
  private var history: CrashHistory
  private var generator: SeededGenerator
  /// Chooses crashes, so that it does not depend on these what is done.
  private var crashes: SeededGenerator
  /// Where a crash is tried, in the order of points; nil where all have been tried.
  private let points: Set<Int>
  private let depth: Int
  private let trail: String
  private var passed = 0
  private var isLooking = false
  /// Loses a few keys when the next checkpoint is written.
  private var removesBeside: LogStore?
  private var failure: CrashFailure?
  private(set) var tally = Tally()

  private init(
    _ disk: SimulatedDisk,
    _ history: CrashHistory,
    _ generator: SeededGenerator,
    points: Set<Int>,
    depth: Int,
    trail: String
  ) {
    machine = Machine()
    machine.disk = disk
    self.history = history
    self.generator = generator
    self.points = points
    self.depth = depth
    self.trail = trail
    crashes = self.generator.split()
    machine.reusesSpace = self.generator.oneIn(2)
  }

  /// A closed store, whose checkpoint has the keys of two keyspaces in order.
  convenience init(preparedBy generator: SeededGenerator) throws {
    self.init(SimulatedDisk(), CrashHistory(), generator, points: [], depth: 0, trail: "seed \(generator.seed)")
    let store = try open()
    for _ in 0..<10 { try write(store, (0..<70).map { _ in put() }, .buffered) }
    try write(store, [.put(keyspace: "one", key: Self.key(0), value: bytes("first"), expiry: .max)], .buffered)
    try compare(store, "before the close")
    try store.close()
    history.settle(0, isDurable: true)
  }

  /// The same, with crashes at some points.
  func copy(points: Set<Int>) throws -> OrderCrashRun {
    OrderCrashRun(
      try machine.disk.processKilled(),
      history,
      SeededGenerator(seed: generator.seed &+ 1),
      points: points,
      depth: depth,
      trail: trail
    )
  }

  private func open() throws -> LogStore {
    let plan = FaultPlan()
    plan.onCall { [unowned self] call in lookBefore(call) }
    machine.calls = plan
    var host = machine.host
    host.onPublish = { [unowned self] in look("publication") }
    let options = machine.options {
      $0.onEvent = log.record
      $0.merge.isAutomatic = false
    }
    return try LogStore(at: machine.path, options: options, host: host)
  }

  private let log = EventLog()

  // MARK: What is done

  /// Opens the store, writes, merges and goes on; how many points there were.
  func runAll() throws -> Int {
    var store = try open()
    #expect(store.default.core.order?.isComplete == true)
    for isLast in [false, true] {
      try writeSome(store, 12)
      try removeStretch(store)
      try compare(store, "before a merge")
      let order = store.default.core.order
      try store.probe.endTail()
      try writeSome(store, 2)
      #expect(store.probe.checkpointID != 0)
      try store.merge()
      #expect(store.probe.checkpointID == 0)
      #expect(store.default.core.order === order)
      try writeSome(store, 12)
      try compare(store, "after a merge")
      if isLast { break }
      // The next one has what came to the pages of the first, but for what goes while it is written. A sync that it had to wait for would
      // make that durable, too.
      try store.sync()
      history.settle(0, isDurable: true)
      removesBeside = store
      store.probe.writeCheckpoint()
      look("checkpoint", isSure: true)
      try writeSome(store, 6)
      try store.close()
      history.settle(0, isDurable: true)
      store = try open()
    }
    try store.close()
    try checkEvents()
    if let failure { throw failure }
    return passed
  }

  private func writeSome(_ store: LogStore, _ count: Int) throws {
    for _ in 0..<count {
      let isBatch = generator.oneIn(4)
      let changes = (0..<(isBatch ? Int.random(in: 2..<6, using: &generator) : 1)).map { _ in change() }
      try write(store, changes, generator.oneIn(5) ? .synced : .buffered)
    }
  }

  /// Removes so many keys beside each other that pages become empty.
  private func removeStretch(_ store: LogStore) throws {
    let start = Int.random(in: 0..<Self.keyCount - 300, using: &generator)
    let present = (start..<start + 300).map(Self.key).filter { history.present[""]?[$0] != nil }
    try write(store, present.map { .remove(keyspace: "", key: $0) }, .buffered)
  }

  private func removeOne(_ store: LogStore) throws {
    let present = (0..<Self.keyCount).map(Self.key).filter { history.present[""]?[$0] != nil }
    guard let key = present.randomElement(using: &generator) else { return }
    try write(store, [.remove(keyspace: "", key: key)], .buffered)
  }

  private func change() -> CrashHistory.Change {
    let put = put()
    guard case .put(let keyspace, let key, _, _) = put, generator.oneIn(3) else { return put }
    // Removing what is not there would write nothing.
    return history.present[keyspace]?[key] == nil ? put : .remove(keyspace: keyspace, key: key)
  }

  private func put() -> CrashHistory.Change {
    let keyspace = generator.oneIn(5) ? "one" : ""
    let key = Self.key(Int.random(in: 0..<Self.keyCount, using: &generator))
    let value = generator.bytes(Int.random(in: 4..<60, using: &generator))
    return .put(keyspace: keyspace, key: key, value: value, expiry: .max)
  }

  private func write(_ store: LogStore, _ changes: [CrashHistory.Change], _ durability: Durability) throws {
    let next = store.probe.nextSequence
    history.pending = CrashHistory.Commit(changes: changes, sequence: next + UInt64(changes.count - 1))
    if changes.count == 1 { try store.make(changes[0], durability) } else { try store.make(changes, durability) }
    history.settle(store.lastSequence.rawValue, isDurable: durability == .synced)
    if let failure { throw failure }
  }

  // MARK: Crashes

  /// A call that changes nothing finds the disk as the next one that does.
  private func lookBefore(_ call: FaultCall) {
    if call.operation == .write, call.path.hasSuffix("checkpoint.tmp"), let store = removesBeside.take() {
      do { for _ in 0..<3 { try removeOne(store) } } catch { failure = failure ?? wrong("a removal: \(error)") }
    }
    switch call.operation {
    case .open, .status, .list, .freeSpace, .fileStatus, .read, .map, .mapPrivate, .tryLock, .extend, .populate: break
    default: look(call.description)
    }
  }

  private func look(_ point: String, isSure: Bool = false) {
    guard !isLooking, failure == nil else { return }
    passed += 1
    guard points.contains(passed) || isSure && !points.isEmpty else { return }
    isLooking = true
    defer { isLooking = false }
    do { try crash(at: point) } catch {
      failure = error as? CrashFailure ?? CrashFailure(description: "\(trail) \(point): \(error)")
    }
  }

  private func crash(at point: String) throws {
    var kinds = CrashRun.Crash.allCases
    if depth > 0 || !Rounds.areThorough {
      let any = kinds.randomElement(using: &crashes) ?? .keep
      kinds = depth > 0 ? [any] : [.kill, .drop, any]
    }
    for kind in kinds {
      let cut = try kind.policy.map { try machine.disk.crashImage($0, using: &crashes) }
      let disk = try cut ?? machine.disk.processKilled()
      var surviving = history
      if !kind.keepsAll { surviving.returned = history.durable }
      let later = OrderCrashRun(
        disk,
        surviving,
        crashes.split(),
        // The next crash falls into the opening, or into what is done then.
        points: depth == 0 ? [Int.random(in: 1..<40, using: &crashes)] : [],
        depth: depth + 1,
        trail: "\(trail) > \(kind) at \(point)"
      )
      try later.recoverAndGoOn()
      tally.adopted += later.tally.adopted
      tally.gathered += later.tally.gathered
      tally.again += later.tally.again
    }
  }

  private func recoverAndGoOn() throws {
    let store = try open()
    let found = store.lastSequence.rawValue
    guard history.isWhole(to: found) else { throw wrong("history ends at #\(found), amid a batch") }
    guard found >= history.returned else { throw wrong("history ends at #\(found), not #\(history.returned)") }
    history.truncate(to: found)
    if store.default.core.order == nil { tally.gathered += 1 } else { tally.adopted += 1 }
    if depth > 1 { tally.again += 1 }
    try compare(store, "recovered to #\(found)")
    try checkEvents()
    if depth == 1 {
      try writeSome(store, 5)
      if generator.oneIn(2) { store.probe.writeCheckpoint() } else { try store.merge() }
      try writeSome(store, 5)
      try compare(store, "after writing on")
      try checkEvents()
    }
    store.probe.kill()
    if let failure { throw failure }
  }

  // MARK: Comparing

  private func compare(_ store: LogStore, _ moment: String) throws {
    for name in ["", "one"] {
      guard try name.isEmpty || store.keyspaceNames.contains(name) else { continue }
      let space = try store.space(name)
      let sorted = (history.present[name] ?? [:]).map { (key: bytes($0.key), value: $0.value.value) }
        .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      let found = try space.entries()
      guard found.map(\.key) == sorted.map(\.key) else {
        throw wrong("\(moment): '\(name)' has \(found.count) keys in order, not \(sorted.count), or others")
      }
      guard found.map(\.value) == sorted.map(\.value) else { throw wrong("\(moment): '\(name)' has other values") }
      guard try space.keys(order: .descending) == sorted.map(\.key).reversed() else {
        throw wrong("\(moment): '\(name)' has other keys downwards")
      }
      let key = bytes(Self.key(Int.random(in: 0..<Self.keyCount, using: &generator)))
      let range = generator.oneIn(2) ? KeyRange.after(key) : KeyRange.upTo(key)
      guard try space.keys(in: range) == sorted.map(\.key).filter({ range.contains($0) }) else {
        throw wrong("\(moment): '\(name)' has other keys in \(range)")
      }
    }
  }

  /// A crash is no damage.
  private func checkEvents() throws {
    for event in log.events {
      switch event {
      case .damaged(let location, let reason) where !location.path.contains("manifest"):
        throw wrong("an intact store reported damage: \(location) \(reason)")
      case .backgroundFailure, .syncFailed: throw wrong("\(event)")
      default: break
      }
    }
  }

  private func wrong(_ what: String) -> CrashFailure { CrashFailure(description: "\(trail): \(what)") }
}
