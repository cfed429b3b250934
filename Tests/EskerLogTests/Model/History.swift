import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// One random history: a store and its model do the same things and must agree after each.
struct History {
  var machine = Machine()
  var store: LogStore
  var model: StoreModel
  var generator: SeededGenerator
  var snapshots: [(snapshot: Snapshot, contents: [String: [[UInt8]: [UInt8]]])] = []
  /// What was done, for the message of a failure.
  var log: [String] = []
  let keys: [[UInt8]]
  var compression: Options.Compression
  let verification: Options.Verification
  let spaces: [String]
  /// After each step in how many the keys are asked for in order: from the first on, now and then, never.
  private let ordersEvery: Int?

  struct Disagreement: Error, CustomStringConvertible {
    var description: String
  }

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    let keyCount = Int.random(in: 1...8, using: &generator)
    keys = (0..<keyCount).map { [UInt8](repeating: UInt8($0), count: $0 * 3) }
    spaces = generator.oneIn(2) ? [""] : ["", "one", "two"]
    let compression = generator.oneIn(2) ? Options.Compression.lz4 : .off
    self.compression = compression
    machine.pageCacheRoom = generator.oneIn(2) ? 0 : nil
    machine.leavesCheckpoints = generator.oneIn(2)
    machine.reusesSpace = generator.oneIn(2)
    let verification = Options.Verification.any(&generator)
    self.verification = verification
    ordersEvery = [1, 8, nil].randomElement(using: &generator) ?? nil
    store = try machine.open {
      $0.compression = compression
      $0.verification = verification
    }
    model = StoreModel(time: machine.clock.wallMilliseconds())
  }

  mutating func run() throws {
    for _ in 0..<Int.random(in: 5...40, using: &generator) {
      let (before, merges) = (store.probe, store.statistics.merges)
      try step()
      if !before.isProbe(of: store) || merges != store.statistics.merges { try adoptPurged() }
      try checkStep()
    }
    // Dear: some histories stand for all.
    if generator.oneIn(3) { try checkWays() }
  }

  private func open(_ machine: Machine, _ onEvent: (@Sendable (StoreEvent) -> Void)? = nil) throws -> LogStore {
    try machine.open {
      $0.compression = compression
      $0.verification = verification
      $0.onEvent = onEvent
    }
  }

  func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    guard !condition else { return }
    throw Disagreement(description: "\(what())\nhistory:\n  " + log.joined(separator: "\n  "))
  }

  mutating func anyKey() -> [UInt8] { keys[Int.random(in: 0..<keys.count, using: &generator)] }
  mutating func anySpace() -> String { spaces[Int.random(in: 0..<spaces.count, using: &generator)] }

  private mutating func anyValue() -> [UInt8] {
    // Many of one size, which take each other's room.
    if generator.oneIn(2) { return [UInt8](repeating: UInt8(truncatingIfNeeded: generator.next()), count: 24) }
    let length = generator.oneIn(10) ? Int.random(in: 0...30_000, using: &generator) : Int(generator.next() % 40)
    return [UInt8](repeating: UInt8(truncatingIfNeeded: generator.next()), count: length)
  }

  private mutating func anyExpiry() -> Expiry? {
    switch Int(generator.next() % 10) {
    case 0...4: return nil
    case 5: return .never
    case 6: return .after(.milliseconds(Int64.random(in: -10...50, using: &generator)))
    case 7: return .after(.milliseconds(Int64.random(in: 1...5_000, using: &generator)))
    case 8:
      let instant = model.time.addingClamped(Int64.random(in: -1000...1000, using: &generator))
      return .at(WallTime(millisecondsSince1970: instant))
    default:
      return [.at(WallTime(millisecondsSince1970: .min)), .at(WallTime(millisecondsSince1970: .max))].randomElement(
        using: &generator
      )
    }
  }

  func keyspace(_ name: String) throws -> Keyspace { try store.keyspace(name) }

  // MARK: Steps

  private mutating func step() throws {
    switch Int(generator.next() % 100) {
    case 0..<26: try put()
    case 26..<36: try remove()
    case 36..<44: try batch()
    case 44..<48: try compareAndSet()
    case 48..<52: try update()
    case 52..<55: try increment()
    case 55..<58: try append()
    case 58..<60: try touch()
    case 60..<62: try ordersEvery == nil ? touch() : removeRange()
    case 62..<65: try removeAll()
    case 65..<68: try removeExpired()
    case 68..<80: try moveClock()
    case 80..<84: try takeOrDropSnapshot()
    case 84..<86: try setDefaultExpiry()
    case 86..<88: try sync()
    case 88..<94: try merge()
    case 94..<96: try reopenClean(deletingCheckpoint: false)
    case 96..<98: try reopenClean(deletingCheckpoint: true)
    default: try reopenKilled()
    }
  }

  private mutating func put() throws {
    let (key, space) = (anyKey(), anySpace())
    for _ in 0..<(generator.oneIn(4) ? 8 : 1) { try put(key, in: space) }
  }

  private mutating func put(_ key: [UInt8], in space: String) throws {
    let (value, expiry) = (anyValue(), anyExpiry())
    log.append("put \(value.count) under \(key.count) in '\(space)' expiry \(String(describing: expiry))")
    model.put(value, key, in: space, expiry: model.resolve(expiry, in: space))
    let sequence = try keyspace(space).put(value, forKey: key, expiry: expiry)
    try require(sequence.rawValue == model.lastSequence, "the sequence is \(sequence), not \(model.lastSequence)")
  }

  private mutating func remove() throws {
    let (key, space) = (anyKey(), anySpace())
    log.append("remove \(key.count) in '\(space)'")
    let expected = model.remove(key, in: space)
    try require(try keyspace(space).remove(key) == expected, "remove did not answer \(expected)")
  }

  private mutating func batch() throws {
    var operations: [(space: String, key: [UInt8], value: [UInt8]?, expiry: Expiry?)] = []
    for _ in 0..<Int.random(in: 0...6, using: &generator) {
      operations.append((anySpace(), anyKey(), generator.oneIn(3) ? nil : anyValue(), anyExpiry()))
    }
    let isDiscarded = generator.oneIn(5)
    log.append("batch of \(operations.map { "\($0.value?.count ?? -1) under \($0.key.count) in '\($0.space)'" })")
    if isDiscarded { log[log.count - 1] += ", discarded" }
    let handles = try Dictionary(uniqueKeysWithValues: spaces.map { ($0, try keyspace($0)) })
    do throws(StoreError) {
      try store.write { (batch) throws(StoreError) in
        for operation in operations {
          if let value = operation.value {
            try batch.put(value, forKey: operation.key, in: handles[operation.space], expiry: operation.expiry)
          } else {
            try batch.remove(operation.key, in: handles[operation.space])
          }
        }
        if isDiscarded { throw .cancelled }
      }
    } catch {
      try require(isDiscarded && error == .cancelled, "the batch threw \(error)")
      return
    }
    for operation in operations {
      if let value = operation.value {
        let expiry = model.resolve(operation.expiry, in: operation.space)
        model.put(value, operation.key, in: operation.space, expiry: expiry)
      } else {
        model.removeInBatch(operation.key, in: operation.space)
      }
    }
  }

  private mutating func compareAndSet() throws {
    let (key, space) = (anyKey(), anySpace())
    let current = model.visible(key, in: space)
    let (value, expiry) = anyReplacement(of: current)
    log.append("compareAndSet \(value.count) under \(key.count) in '\(space)' expiry \(String(describing: expiry))")
    let matches = Bool.random(using: &generator)
    let result: SequenceNumber?
    if Bool.random(using: &generator) {
      let version = matches ? current?.version : (current?.version ?? 0) + 1
      result = try keyspace(space).compareAndSet(
        value,
        forKey: key,
        ifVersion: version.map { SequenceNumber(rawValue: $0) },
        expiry: expiry
      )
      if matches { model.put(value, key, in: space, expiry: model.resolve(expiry, in: space)) }
    } else {
      let expected = matches ? current?.bytes : (current?.bytes ?? []) + [1]
      result = try keyspace(space).compareAndSet(value, forKey: key, ifValue: expected, expiry: expiry)
      if matches {
        let version = model.replace(current, with: value, key, in: space, expiry: model.resolve(expiry, in: space))
        try require(result?.rawValue == version, "compareAndSet answered \(String(describing: result)), not \(version)")
      }
    }
    try require((result != nil) == matches, "compareAndSet answered \(String(describing: result))")
  }

  /// A value and an expiry, now and then those that are there already.
  private mutating func anyReplacement(of current: StoreModel.Value?) -> (value: [UInt8], expiry: Expiry?) {
    let (value, expiry) = (anyValue(), anyExpiry())
    guard let current, generator.oneIn(3) else { return (value, expiry) }
    return (current.bytes, generator.oneIn(3) ? expiry : Expiry(stored: current.expiry))
  }

  private mutating func update() throws {
    let (key, space) = (anyKey(), anySpace())
    let choice = Int(generator.next() % 3)
    let current = model.visible(key, in: space)
    let (value, expiry) = anyReplacement(of: current)
    log.append("update \(choice) \(value.count) under \(key.count) in '\(space)' \(String(describing: expiry))")
    let sequence = try keyspace(space).update(forKey: key) { (span) throws(StoreError) in
      let seen = span?.withUnsafeBytes { [UInt8]($0) }
      if seen != current?.bytes { throw .cancelled }
      return choice == 0 ? .keep : choice == 1 ? .remove : .put(value, expiry: expiry)
    }
    switch choice {
    case 0: try require(sequence == nil, "keep wrote")
    case 1:
      if current != nil { _ = model.remove(key, in: space) }
      try require((sequence != nil) == (current != nil), "remove answered \(String(describing: sequence))")
    default:
      let version = model.replace(current, with: value, key, in: space, expiry: model.resolve(expiry, in: space))
      try require(sequence?.rawValue == version, "put answered \(String(describing: sequence)), not \(version)")
    }
  }

  private mutating func increment() throws {
    let (key, space) = (anyKey(), anySpace())
    let amount = generator.oneIn(4) ? 0 : Int64(truncatingIfNeeded: generator.next())
    log.append("increment \(key.count) in '\(space)'")
    let current = model.visible(key, in: space)
    guard (current?.bytes.count ?? 8) == 8 else {
      let sum = try? keyspace(space).increment(key, by: amount)
      return try require(sum == nil, "increment of something else answered")
    }
    let before = current.map { $0.bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } } ?? 0
    let sum = Int64(bitPattern: before) &+ amount
    let bytes = withUnsafeBytes(of: sum.littleEndian) { [UInt8]($0) }
    model.replace(current, with: bytes, key, in: space, expiry: current?.expiry ?? model.resolve(nil, in: space))
    try require(try keyspace(space).increment(key, by: amount) == sum, "the sum is not \(sum)")
  }

  private mutating func append() throws {
    let (key, space, value) = (anyKey(), anySpace(), generator.oneIn(4) ? [] : anyValue())
    let current = model.visible(key, in: space)
    guard (current?.bytes.count ?? 0) < 50_000 else { return }
    log.append("append \(value.count) to \(key.count) in '\(space)'")
    let expiry = current?.expiry ?? model.resolve(nil, in: space)
    let version = model.replace(current, with: (current?.bytes ?? []) + value, key, in: space, expiry: expiry)
    let answer = try keyspace(space).append(value, toKey: key)
    try require(answer.rawValue == version, "append answered \(answer), not \(version)")
  }

  private mutating func touch() throws {
    let (key, space) = (anyKey(), anySpace())
    let current = model.visible(key, in: space)
    let expiry = anyReplacement(of: current).expiry ?? .never
    log.append("touch \(key.count) in '\(space)' \(expiry)")
    let instant = model.resolve(expiry, in: space)
    let version = current.map { model.replace($0, with: $0.bytes, key, in: space, expiry: instant) }
    let answer = try keyspace(space).touch(key, expiry: expiry)
    try require(answer?.rawValue == version, "touch answered \(String(describing: answer))")
  }

  private mutating func removeAll() throws {
    let space = anySpace()
    log.append("removeAll in '\(space)'")
    model.removeAll(in: space)
    try keyspace(space).removeAll()
  }

  private mutating func removeExpired() throws {
    let space = anySpace()
    log.append("removeExpired in '\(space)'")
    let expected = model.removeExpired(in: space)
    let count = try keyspace(space).removeExpired()
    try require(count == expected, "removeExpired took \(count), not \(expected)")
  }

  private mutating func setDefaultExpiry() throws {
    let space = anySpace()
    let milliseconds = generator.oneIn(2) ? nil : Int64.random(in: 0...500, using: &generator)
    log.append("default expiry of '\(space)' \(milliseconds ?? -1)")
    model.defaultExpiries[space] = milliseconds
    try keyspace(space).setDefaultExpiry(milliseconds.map { .milliseconds($0) })
  }

  private mutating func sync() throws {
    log.append("sync")
    try store.sync()
    try require(store.durableSequence == store.lastSequence, "not all is durable after a sync")
  }

  /// Merges any of the segments, or ends one so that there are more of them.
  private mutating func merge() throws {
    if generator.oneIn(3) {
      log.append("end the last segment")
      return try store.probe.endTail()
    }
    if generator.oneIn(8) {
      log.append("erase")
      try store.eraseNow()
      return
    }
    if generator.oneIn(2) { try store.probe.endTail() }
    let ids = store.statistics.segments.map(\.id)
    let chosen = generator.oneIn(4) ? nil : ids.filter { _ in generator.oneIn(2) }
    log.append("merge \(chosen.map { "\($0)" } ?? "all") of \(ids)")
    try store.merge(segments: chosen)
  }

  private mutating func moveClock() throws {
    switch Int(generator.next() % 8) {
    case 0:
      let wall = machine.clock.wallMilliseconds() - Int64.random(in: 1...100_000, using: &generator)
      log.append("wall clock back to \(wall)")
      machine.clock.setWall(milliseconds: wall)
    case 1:
      let wall = machine.clock.wallMilliseconds() + Int64.random(in: 1...3_000, using: &generator)
      log.append("wall clock forth to \(wall)")
      machine.clock.setWall(milliseconds: wall)
      model.time = max(model.time, wall)
    case 2:
      log.append("reset clock")
      try store.resetClock()
      model.time = machine.clock.wallMilliseconds()
      model.wasClockReset = true
    default:
      let passed = Int64.random(in: 0...200, using: &generator)
      log.append("\(passed) ms pass")
      machine.clock.advance(milliseconds: passed)
      model.time = max(model.time + passed, machine.clock.wallMilliseconds())
    }
    // The store notices a jump when it looks; a jump forth and back between two looks never was.
    let time = store.time.millisecondsSince1970
    try require(time == model.time, "store time is \(time), not \(model.time)")
  }

  private mutating func takeOrDropSnapshot() throws {
    if snapshots.count < 3, generator.oneIn(2) {
      log.append("snapshot")
      snapshots.append((try store.snapshot(), model.contents))
    } else if !snapshots.isEmpty {
      let index = Int.random(in: 0..<snapshots.count, using: &generator)
      log.append("drop snapshot \(index)")
      snapshots.remove(at: index)
    }
  }

  // MARK: Reopening

  private mutating func reopenClean(deletingCheckpoint: Bool) throws {
    compression = generator.oneIn(2) ? .lz4 : .off
    log.append("close and open" + (deletingCheckpoint ? " without the checkpoint" : ""))
    try store.close()
    if deletingCheckpoint { try machine.deleteCheckpoint() }
    store = try open(machine)
    try adoptTime(atLeast: model.time)
    if deletingCheckpoint { try adoptUnpurged() }
  }

  private mutating func reopenKilled() throws {
    log.append("kill and open")
    let deletes = generator.oneIn(3)
    machine.disk = try machine.disk.processKilled()
    if deletes {
      log.append("  without the checkpoint")
      try machine.deleteCheckpoint()
    }
    store = try open(machine)
    // Store time after a kill is the last one that was kept, or the wall clock's.
    try adoptTime(atLeast: machine.clock.wallMilliseconds())
    try adoptUnpurged()
  }

  private mutating func adoptTime(atLeast least: Int64) throws {
    let time = store.time.millisecondsSince1970
    try require(time >= least && time <= max(model.time, least), "store time is \(time) after opening")
    model.time = time
  }

  /// A merge takes what has expired out of the index.
  private mutating func adoptPurged() throws {
    for space in spaces {
      let keyspace = try keyspace(space)
      for (key, value) in model.spaces[space] ?? [:] where value.expiry <= model.time {
        guard try store.probe.indexed(key, in: keyspace) == nil else { continue }
        model.spaces[space]?[key] = nil
        model.purged[space, default: [:]][key] = value
      }
    }
  }

  /// What was purged and expired is found again by a replay, still expired; it may be counted again and never shows.
  private mutating func adoptUnpurged() throws {
    for space in spaces {
      let keyspace = try keyspace(space)
      var index: [[UInt8]: StoreModel.Value] = [:]
      for key in keys {
        guard let entry = try store.probe.indexed(key, in: keyspace) else { continue }
        index[key] = entry
        try require(
          model.mayHold(entry, key, in: space),
          "key \(key.count) in '\(space)' came back as \(entry.bytes.count) bytes, expiry \(entry.expiry)"
        )
      }
      for (key, _) in model.spaces[space] ?? [:] {
        try require(index[key] != nil, "key \(key.count) in '\(space)' was lost")
      }
      model.spaces[space] = index
    }
  }

  // MARK: Checks

  private var asksForOrder: Bool { ordersEvery.map { log.count % $0 == 0 } ?? false }

  private func checkStep() throws {
    try require(
      store.lastSequence.rawValue == model.lastSequence,
      "the last sequence is \(store.lastSequence), not \(model.lastSequence)"
    )
    for space in spaces {
      let keyspace = try keyspace(space)
      for key in keys {
        let expected = model.visible(key, in: space)
        let value = try keyspace.get(key)
        try require(
          value == expected?.bytes,
          "key \(key.count) in '\(space)' has \(String(describing: value?.count)) bytes"
        )
        let metadata = try keyspace.metadata(forKey: key)
        try require(
          metadata?.version.rawValue == expected?.version,
          "key \(key.count) in '\(space)': \(metadata as Any)"
        )
      }
      let indexed = store.statistics.keyspaces[space]?.keys ?? 0
      try require(
        indexed == model.spaces[space]?.count ?? 0,
        "the index has \(indexed) of '\(space)', not \(model.spaces[space]?.count ?? 0)"
      )
      let taken = store.statistics.keyspaces[space]?.liveBytes ?? 0
      let expected = (model.spaces[space] ?? [:]).reduce(0) { $0 + keyspace.recordSize($1.key, $1.value) }
      try require(taken == expected, "'\(space)' takes \(taken) bytes, not \(expected)")
      let (count, live) = (try keyspace.count(), model.contents(of: space).count)
      try require(count == live, "'\(space)' counts \(count), not \(live)")
      if asksForOrder { try checkOrder(of: space) }
    }
    for (snapshot, contents) in snapshots {
      for space in spaces {
        try require(try snapshot.contents(of: space) == contents[space] ?? [:], "a snapshot of '\(space)' has changed")
        if asksForOrder { try checkOrder(of: snapshot, in: space, contents[space] ?? [:]) }
      }
    }
  }

  /// Checkpoint, checkpoint and replay, and full rebuild must give the same state.
  private mutating func checkWays() throws {
    let live = store.statistics.liveBytes
    let killed = Machine.twin(of: machine, disk: try machine.disk.processKilled())
    let rebuilt = Machine.twin(of: machine, disk: try machine.disk.processKilled())
    try rebuilt.deleteCheckpoint()
    snapshots = []
    try store.close()
    let ways = [("checkpoint", machine), ("checkpoint and replay", killed), ("rebuild", rebuilt)]
    for (name, machine) in ways {
      log.append("way: \(name)")
      let log = EventLog()
      store = try open(machine) { log.record($0) }
      try require(log.damage.isEmpty, "\(name): damage \(log.damageReasons)")
      let before = model
      if name == "checkpoint" {
        try adoptTime(atLeast: model.time)
        // An older checkpoint still has what was purged since of an emptied keyspace.
        if log.opening?.indexSource == .checkpointAndReplay { store.probe.sweep() }
        let now = store.statistics.liveBytes
        // Without a checkpoint, what was not purged of an emptied keyspace is not read again.
        let isImage = log.opening?.indexSource == .checkpoint
        try require(isImage ? now == live : now <= live, "\(name): \(now) live bytes, not \(live)")
      } else {
        try adoptTime(atLeast: machine.clock.wallMilliseconds())
        try adoptUnpurged()
      }
      try checkStep()
      try checkFigures(name)
      let report = try store.verify()
      try require(report.isClean, "\(name): \(report.damage)")
      model = before
    }
  }

  private func checkFigures(_ name: String) throws {
    let figures = store.statistics
    var live = 0
    for space in spaces {
      for (key, value) in model.spaces[space] ?? [:] {
        let extensions = (value.expiry == .max ? 0 : 8) + (space.isEmpty ? 0 : 8)
        live += (32 + extensions + key.count + value.bytes.count + 7) & ~7
      }
    }
    // Entries of an emptied keyspace leave the index in the background.
    store.probe.sweep()
    let counted = store.statistics.liveBytes
    // Once emptied, a keyspace's own tag takes a word in each record, so lengths differ by up to 8 bytes an entry.
    let slack = 8 * model.spaces.values.reduce(0) { $0 + $1.count }
    // In packed segments records take what they are compressed to.
    if !figures.segments.contains(where: \.isPacked) {
      try require((live...live + slack).contains(counted), "\(name): \(counted) live bytes, not \(live)")
    }
    let logged = figures.segments.reduce(0) { $0 + $1.recordBytes }
    try require(figures.liveBytes + figures.deadBytes == logged, "\(name): live and dead bytes do not add up")
  }
}

extension Machine {
  static func twin(of machine: Machine, disk: SimulatedDisk) -> Machine {
    var twin = machine
    twin.disk = disk
    return twin
  }
}

extension Keyspace {
  /// Bytes of a record of this keyspace as long as it is not packed.
  func recordSize(_ key: [UInt8], _ value: StoreModel.Value) -> Int {
    RecordLayout.size(keyLength: key.count, valueLength: value.bytes.count, expiry: value.expiry, keyspace: core.tag)
  }
}
