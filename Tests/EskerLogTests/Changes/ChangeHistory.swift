import EskerPlatform
import EskerTestSupport

@testable import EskerLog

/// One random history, followed by readers of its changes that start anywhere, fall behind, and outlive merges and
/// reopenings.
struct ChangeHistory {
  private var machine = Machine()
  private var store: LogStore
  private var generator: SeededGenerator
  private var readers: [Reader] = []
  /// Every write there was.
  private var writes: [UInt64: LogChange] = [:]
  private let spaces = ["", "one"]
  private var log: [String] = []
  /// How often a reader was told that its position is gone.
  private(set) var losses = 0

  private struct Reader {
    var feed: LogStore.Changes
    var replica: Replica
    /// What it may keep; nil for all.
    var keeping: Int?
    /// Its copy has to be made anew.
    var isLost = false
  }

  struct Disagreement: Error, CustomStringConvertible {
    var description: String
  }

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    store = try machine.open(Self.configure)
    for space in spaces { _ = try store.keyspace(space) }
    try addReader()
  }

  private static func configure(_ options: inout Options) {
    options.merge.isAutomatic = false
  }

  mutating func run() async throws {
    for _ in 0..<Int.random(in: 10...60, using: &generator) { try await step() }
    for position in readers.indices { try await read(position, all: true) }
  }

  private func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    guard !condition else { return }
    throw Disagreement(description: "\(what())\nhistory:\n  " + log.joined(separator: "\n  "))
  }

  private mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

  private mutating func step() async throws {
    switch number(below: 100) {
    case 0..<40: try put()
    case 40..<48: try remove()
    case 48..<58: try batch()
    case 58..<61: try removeAll()
    case 61..<64:
      log.append("expire")
      machine.clock.advance(milliseconds: Int64(number(below: 2000)))
      _ = try store.removeAllExpired()
    case 64..<76: try merge()
    case 76..<80: try addReader()
    case 80..<94: try await read(number(below: readers.count), all: generator.oneIn(2))
    case 94..<97: try await reopen(isKilled: false)
    default: try await reopen(isKilled: true)
    }
  }

  // MARK: Writes

  private mutating func anyKey() -> [UInt8] { [UInt8](repeating: UInt8(number(below: 6)), count: number(below: 3)) }

  private mutating func anyWrite() -> (space: String, key: [UInt8], kind: LogChange.Kind) {
    let (space, key) = (spaces[number(below: spaces.count)], anyKey())
    if generator.oneIn(4) { return (space, key, .remove) }
    let length = generator.oneIn(3) ? number(below: 20_000) : number(below: 40)
    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: generator.next()), count: length)
    guard generator.oneIn(4) else { return (space, key, .put(value: value, expiry: .never)) }
    let instant = machine.clock.wallMilliseconds() + Int64(number(below: 4000))
    return (space, key, .put(value: value, expiry: .at(WallTime(millisecondsSince1970: instant))))
  }

  private mutating func note(
    _ write: (space: String, key: [UInt8], kind: LogChange.Kind),
    _ number: UInt64,
    _ more: Bool
  ) {
    log.append("#\(number) \(write.space) \(write.key) \(more)")
    writes[number] = LogChange(
      sequence: SequenceNumber(rawValue: number),
      keyspace: write.space,
      key: write.key,
      kind: write.kind,
      batchContinues: more
    )
  }

  private mutating func put() throws {
    var write = anyWrite()
    guard case .put(let value, let expiry) = write.kind else { return }
    let sequence = try store.keyspace(write.space).put(value, forKey: write.key, expiry: expiry)
    write.kind = .put(value: value, expiry: expiry)
    note(write, sequence.rawValue, false)
  }

  private mutating func remove() throws {
    let (space, key) = (spaces[number(below: spaces.count)], anyKey())
    let before = store.lastSequence
    _ = try store.keyspace(space).remove(key)
    if store.lastSequence != before { note((space, key, .remove), store.lastSequence.rawValue, false) }
  }

  private mutating func batch() throws {
    let list = (0..<number(below: 6)).map { _ in anyWrite() }
    let handles = try Dictionary(uniqueKeysWithValues: spaces.map { ($0, try store.keyspace($0)) })
    try store.write { (batch) throws(StoreError) in
      for write in list {
        if case .put(let value, let expiry) = write.kind {
          try batch.put(value, forKey: write.key, in: handles[write.space], expiry: expiry)
        } else {
          try batch.remove(write.key, in: handles[write.space])
        }
      }
    }
    let last = store.lastSequence.rawValue
    for (position, write) in list.enumerated() {
      note(write, last - UInt64(list.count - 1 - position), position < list.count - 1)
    }
  }

  private mutating func removeAll() throws {
    let space = spaces[number(below: spaces.count)]
    try store.keyspace(space).removeAll()
    note((space, [], .removeAll), store.lastSequence.rawValue, false)
  }

  private mutating func merge() throws {
    if generator.oneIn(2) { try store.probe.endTail() }
    let ids = store.statistics.segments.map(\.id).filter { _ in generator.next() & 1 == 0 }
    log.append("merge \(ids)")
    if generator.oneIn(3) { try store.merge() } else { try store.merge(segments: ids) }
  }

  private mutating func reopen(isKilled: Bool) async throws {
    let before = store
    if isKilled {
      // Sometimes amid a batch, whose numbers are then skipped.
      let isWritten = store.probe.isReadyToAppend
      let isUnfinished = generator.oneIn(2) && isWritten
      if isUnfinished { store.probe.appendUnfinishedBatch(key: [1], value: [2]) }
      log.append("kill, unfinished \(isUnfinished)")
      store = try machine.reopenAfterKill(Self.configure)
      _ = before
    } else {
      log.append("close")
      try store.close()
      // What was written before is shown, and then the feed ends.
      for position in readers.indices where generator.oneIn(2) { try await readToEnd(position) }
      store = try machine.open(Self.configure)
    }
    for position in readers.indices { try resume(position) }
  }

  // MARK: Readers

  private mutating func addReader() throws {
    let snapshot = try store.snapshot()
    let keeping = generator.oneIn(3) ? number(below: 60_000) : nil
    log.append("reader \(readers.count) from \(snapshot.sequence) keeping \(keeping ?? -1)")
    let feed = store.changes(since: snapshot.sequence, keeping: keeping ?? .max)
    readers.append(Reader(feed: feed, replica: try Replica(of: snapshot), keeping: keeping))
  }

  private mutating func resume(_ position: Int) throws {
    if readers[position].isLost {
      readers[position].replica = try Replica(of: store.snapshot())
      readers[position].isLost = false
    }
    let since = readers[position].replica.position
    readers[position].feed = store.changes(since: since, keeping: readers[position].keeping ?? .max)
  }

  /// Lets a reader show what there is, or a part.
  private mutating func read(_ position: Int, all: Bool) async throws {
    let limit = all ? Int.max : number(below: 8)
    log.append("read \(position) up to \(limit)")
    var taken = 0
    while taken < limit, readers[position].replica.position < last {
      guard try await readOne(position) else { return }
      taken += 1
    }
    if readers[position].replica.position >= last { try compare(position) }
  }

  private mutating func readToEnd(_ position: Int) async throws {
    while readers[position].replica.position < last {
      guard try await readOne(position, isOpen: false) else { return }
    }
    var iterator = readers[position].feed.makeAsyncIterator()
    try require(try await iterator.next() == nil, "a feed of a closed store went on")
  }

  /// The last write; after a crash the last number may be higher.
  private var last: SequenceNumber { SequenceNumber(rawValue: writes.keys.max() ?? 0) }

  /// False when the reader had to start anew.
  private mutating func readOne(_ position: Int, isOpen: Bool = true) async throws -> Bool {
    let before = readers[position].replica.position.rawValue
    var iterator = readers[position].feed.makeAsyncIterator()
    var batches = readers[position].feed.batches.makeAsyncIterator()
    let takesBatch = generator.oneIn(3)
    let changes: [LogChange]
    do throws(StoreError) {
      if takesBatch {
        changes = try await batches.next()?.changes ?? []
      } else {
        changes = try await iterator.next().map { [$0] } ?? []
      }
    } catch {
      guard case .historyGone(let since, let oldest) = error else { throw error }
      try require(since.rawValue == before && oldest > since, "\(error) at #\(before)")
      let floor = store.probe.mergedThrough
      let isExpected = readers[position].keeping != nil || before < floor
      try require(isExpected, "#\(before) is gone, and nothing above #\(floor) was merged away")
      losses += 1
      log.append("lost")
      readers[position].isLost = true
      if isOpen { try resume(position) }
      return false
    }
    try require(!changes.isEmpty, "the feed ended at #\(before)")
    if takesBatch {
      let isWhole = changes.dropLast().allSatisfy(\.batchContinues) && changes.last?.batchContinues == false
      try require(isWhole, "behind #\(before), \(changes.map(\.sequence)) come as a batch")
    }
    for change in changes {
      let before = readers[position].replica.position.rawValue
      let number = change.sequence.rawValue
      try require(writes[number] == change, "#\(number) is shown as \(change.keyspace) \(change.key)")
      let skipped = writes.keys.filter { $0 > before && $0 < number }
      try require(skipped.isEmpty && number > before, "#\(number) after #\(before), without \(skipped.sorted())")
      readers[position].replica.apply(change)
    }
    return true
  }

  private func compare(_ position: Int) throws {
    let snapshot = try store.snapshot()
    for space in spaces {
      let shown = try snapshot.contents(of: space)
      let replica = readers[position].replica.contents(of: space, at: snapshot.time)
      try require(
        shown == replica,
        "the copy differs in '\(space)': \(replica.mapValues(\.count)), not \(shown.mapValues(\.count))"
      )
    }
  }
}
