import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A random history of one store whose keys and values each have a random mark of their own, and what is found of these in its files.
///
/// Whatever the store still shows is alive; all marks that were ever written and are of nothing alive are to be gone.
struct MarkedHistory {
  var machine = Machine()
  private(set) var store: LogStore
  /// Stores of other processes on the same files, which rest.
  private var others: [LogStore] = []
  private let isInTurn: Bool
  private(set) var generator: SeededGenerator
  /// What was done, for the message of a failure.
  private(set) var log: [String] = []
  /// Every mark that was written.
  private var marks: Set<UInt64> = []
  private var keys: [[UInt8]] = []
  private let change: @Sendable (inout Options) -> Void
  /// The most bytes that the store is given, with a capacity.
  private let capacity: Int?

  struct Found: Error, CustomStringConvertible {
    var description: String
  }

  /// - Parameter isInTurn: Whether several processes write.
  init(seed: UInt64, erasure: Options.Erasure = .whenMerged, isInTurn: Bool = false) throws {
    self.isInTurn = isInTurn
    generator = SeededGenerator(seed: seed)
    machine.leavesCheckpoints = generator.oneIn(2)
    machine.reusesSpace = generator.oneIn(2)
    let isPacked = generator.oneIn(2)
    let capacity = generator.oneIn(4) ? 2 << 20 : nil
    self.capacity = capacity
    change = {
      $0.erasure = erasure
      $0.compression = isPacked ? .lz4 : .off
      $0.capacity = capacity
      $0.merge.isAutomatic = false
      if isInTurn { $0.sharing = .inTurn() }
    }
    store = try machine.open(change)
    keys = [[]]
    keys = (0..<12).map { Array("key \($0 % 3) ".utf8) + mark() }
  }

  /// A new mark, in bytes.
  private mutating func mark() -> [UInt8] {
    let mark = generator.next()
    marks.insert(mark)
    return (0..<8).map { UInt8(truncatingIfNeeded: mark >> (8 * UInt64($0))) }
  }

  // MARK: Steps

  private static let spaces = ["", "one", "two", "ordered"]

  private mutating func space() throws -> Keyspace {
    let name = Self.spaces[Int.random(in: 0..<Self.spaces.count, using: &generator)]
    return try store.keyspace(name)
  }

  mutating func steps(_ count: Int) throws {
    for _ in 0..<count { try step() }
  }

  private mutating func step() throws {
    if isInTurn, generator.oneIn(6) { try handOver() }
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<40: try put()
    case 40..<55:
      let space = try space()
      let key = anyKey()
      note("remove from \(space.name)")
      try space.remove(key)
    case 55..<62:
      note("batch")
      var operations: [(space: Keyspace, key: [UInt8], value: [UInt8]?)] = []
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        operations.append(generator.oneIn(3) ? (try space(), anyKey(), nil) : (try space(), newKey(), value()))
      }
      try store.write { (batch) throws(StoreError) in
        for (space, key, value) in operations {
          if let value { try batch.put(value, forKey: key, in: space) } else { try batch.remove(key, in: space) }
        }
      }
    case 62..<66:
      let space = try space()
      note("empty \(space.name)")
      try space.removeAll()
    case 66..<68:
      let name = String(decoding: Self.hexadecimal(mark()), as: UTF8.self)
      note("a keyspace of its own")
      try store.keyspace(name).put(value(), forKey: newKey())
      try store.removeKeyspace(name)
    case 68..<74:
      note("time passes")
      machine.clock.advance(milliseconds: 400)
    case 74..<78:
      note("sync")
      try store.sync()
    case 78..<82:
      note("end the segment")
      try store.probe.endTail()
    case 82..<86:
      note("merge")
      try store.merge()
    case 86..<90:
      note("ranges")
      _ = try store.keyspace("ordered").entries(in: .all)
      _ = try store.snapshot().contents()
    case 90..<94:
      note("close")
      try store.close()
      store = try machine.open(change)
    case 94..<97:
      if isInTurn, generator.oneIn(2) {
        note("one is killed")
        store.probe.kill()
        return try takeTurn()
      }
      note("kill")
      let change = change
      endOthers()
      store = try machine.reopenAfterKill(change)
    default:
      note("power failure")
      endOthers()
      machine.disk = try machine.disk.crashImage(.tear, using: &generator)
      store = try machine.open(change)
    }
  }

  // MARK: Turns

  /// Another process gets the files, or the same one again.
  mutating func handOver() throws {
    store.probe.handOver()
    others.append(store)
    try takeTurn()
  }

  private mutating func takeTurn() throws {
    if others.isEmpty || others.count < 3 && generator.oneIn(3) {
      note("another process")
      store = try machine.open(change)
    } else {
      let number = Int.random(in: 0..<others.count, using: &generator)
      note("turn \(number)")
      store = others.remove(at: number)
      try store.probe.takeTurn()
    }
  }

  /// With the disk they are on.
  private mutating func endOthers() {
    for other in others { other.probe.kill() }
    others = []
  }

  /// Erases, and has another process get the files amid that, so that it begins anew once they are back.
  ///
  /// - Returns: Whether it was broken off.
  mutating func eraseBesideAHandOver() throws -> Bool {
    // Another one has to be there.
    let eraser = store
    store.probe.handOver()
    let other = try others.popLast() ?? machine.open(change)
    try other.probe.takeTurn()
    other.probe.handOver()
    try eraser.probe.takeTurn()
    note("erase beside a hand-over")
    let isErased = SharedFlag()
    let thread = Guarded<WorkerThread?>(nil)
    let failure = Guarded<(any Error)?>(nil)
    let place = Int.random(in: 0..<5, using: &generator)
    let (key, text) = (anyKey(), value())
    var calls = 0
    var begun = 0
    try eraser.eraseNow { share in
      if share == 0 { begun += 1 }
      defer { calls += 1 }
      guard calls == place else { return true }
      do {
        let started = try WorkerThread(name: "hands over") {
          eraser.probe.handOver()
          do {
            try other.probe.takeTurn()
            // Later, nothing may die.
            if !isErased.isRaised {
              try other.put(text, forKey: key)
              try other.put(text, forKey: key)
            }
          } catch { failure.withLock { $0 = error } }
          other.probe.handOver()
        }
        thread.withLock { $0 = started }
      } catch { failure.withLock { $0 = error } }
      while !eraser.isSuspended, failure.withLock({ $0 == nil }) { Platform.yieldThread() }
      return true
    }
    isErased.raise()
    // It may still wait for its turn.
    if let thread = thread.withLock({ $0.take() }) {
      eraser.probe.handOver()
      thread.join()
      try eraser.probe.takeTurn()
    }
    others.append(other)
    if let error = failure.withLock({ $0 }) { throw error }
    // Where there was nothing left to do, it has not begun anew, and what the other one made dead came later.
    if begun < 2 { try eraser.eraseNow() }
    return begun > 1
  }

  // MARK: Writes

  private mutating func put() throws {
    let space = try space()
    note("put in \(space.name)")
    let expiry: Expiry? =
      generator.oneIn(4) ? .after(.milliseconds(Int64.random(in: 1...1500, using: &generator))) : nil
    try space.put(value(), forKey: newKey(), expiry: expiry)
  }

  private mutating func anyKey() -> [UInt8] { keys[Int.random(in: 0..<keys.count, using: &generator)] }

  /// Sometimes one that was not there.
  private mutating func newKey() -> [UInt8] {
    if generator.oneIn(6) {
      keys[Int.random(in: 0..<keys.count, using: &generator)] = Array("key ".utf8) + mark() + Array(" of many".utf8)
    }
    return anyKey()
  }

  /// One mark alone, among others like those of other values, or in a long value.
  private mutating func value() -> [UInt8] {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: mark()
    case 1: Array("a value with ".utf8) + mark() + Array(" in it".utf8)
    case 2: Array(repeating: 7, count: 16) + mark()
    default:
      Array("many words, ".utf8) + mark() + Array(repeating: 32, count: Int.random(in: 100...20_000, using: &generator))
        + mark()
    }
  }

  private mutating func note(_ step: String) { log.append(step) }

  private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }

  // MARK: What is left

  /// Erases, and returns the disks as a power failure at some of the calls would leave them.
  mutating func eraseWithFailures(_ generator: inout SeededGenerator) throws -> [SimulatedDisk] {
    let plan = FaultPlan()
    try store.close()
    machine.calls = plan
    store = try machine.open(change)
    let images = Guarded<(images: [SimulatedDisk], generator: SeededGenerator)>(([], generator.split()))
    plan.onCall { [disk = machine.disk] _ in
      images.withLock { state in
        let policy: CrashPolicy = state.generator.oneIn(2) ? .tear : .reorder
        if let image = try? disk.crashImage(policy, using: &state.generator) { state.images.append(image) }
      }
    }
    defer { plan.onCall(nil) }
    try erase()
    return images.withLock { $0.images }
  }

  /// Goes on with another disk.
  mutating func `continue`(on disk: SimulatedDisk) throws {
    machine.disk = disk
    machine.calls = nil
    endOthers()
    note("power failure amid the erasure")
    try reopen()
  }

  mutating func erase() throws {
    note("erase")
    try store.eraseNow()
  }

  /// Lets the background do what is due.
  ///
  /// - Parameter isDisturbed: Whether other processes get the files amid that.
  mutating func settle(isDisturbed: Bool = false) throws {
    for _ in 0..<200 where store.probe.mergeStep() {
      if isDisturbed, generator.oneIn(3) { try handOver() }
    }
  }

  mutating func close() throws {
    note("close")
    try store.close()
  }

  mutating func reopen() throws { store = try machine.open(change) }

  /// The marks of everything that the store shows.
  func alive() throws -> Set<UInt64> {
    var alive: Set<UInt64> = []
    let snapshot = try store.snapshot()
    for entry in snapshot {
      alive.formUnion(Self.windows(try entry.key(), among: marks))
      alive.formUnion(Self.windows(try entry.value(), among: marks))
    }
    // One whose removal a power failure has undone is there, and has a name.
    for name in try store.keyspaceNames {
      alive.formUnion(Self.windows(Self.fromHexadecimal(Array(name.utf8)), among: marks))
    }
    return alive
  }

  /// Throws if a mark that is not alive stands in any of the store's files after a power failure at this moment.
  mutating func checkErasedAfterPowerFailure(_ alive: Set<UInt64>) throws {
    var failed = machine
    failed.disk = try machine.disk.crashImage(.drop, using: &generator)
    try checkErased(alive, "after a power failure", on: failed)
  }

  /// Throws if a mark that is not alive stands in any of the store's files.
  func checkErased(_ alive: Set<UInt64>, _ when: String, on machine: Machine? = nil) throws {
    let dead = marks.subtracting(alive)
    let segments = store.statistics.segments.map { "\($0.id): \($0.liveBytes) of \($0.recordBytes)" }
    for (name, bytes) in try DiskImage(of: machine ?? self.machine).files {
      let found = Self.windows(bytes, among: dead).union(Self.windows(Self.fromHexadecimal(bytes), among: dead))
      guard let mark = found.first else { continue }
      let mine = withUnsafeBytes(of: mark.littleEndian) { Array($0) }
      let place = bytes.indices.first { bytes[$0...].starts(with: mine) } ?? 0
      throw Found(
        description: "\(when): \(found.count) dead marks in \(name), as \(mark) at \(place); \(segments)\nhistory:\n  "
          + log.joined(separator: "\n  ")
      )
    }
  }

  /// Which of some marks stand in bytes.
  private static func windows(_ bytes: [UInt8], among marks: Set<UInt64>) -> Set<UInt64> {
    var found: Set<UInt64> = []
    var window: UInt64 = 0
    for (position, byte) in bytes.enumerated() {
      window = window >> 8 | UInt64(byte) << 56
      if position >= 7, marks.contains(window) { found.insert(window) }
    }
    return found
  }

  /// What runs of hexadecimal digits stand for, in the names of keyspaces.
  private static func fromHexadecimal(_ bytes: [UInt8]) -> [UInt8] {
    func digit(_ byte: UInt8) -> UInt8? { Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) } }
    var result: [UInt8] = []
    var high: UInt8?
    for byte in bytes {
      guard let low = digit(byte) else {
        high = nil
        continue
      }
      if let known = high {
        result.append(known << 4 | low)
        high = nil
      } else {
        high = low
      }
    }
    return result
  }
}
