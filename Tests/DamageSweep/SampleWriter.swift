import EskerLog
import EskerPlatform
import EskerTestSupport

/// Writes a mixed history: puts, batches, removals, expiry, emptied keyspaces, merges, openings with a checkpoint, and
/// full segments that are not sealed yet.
struct SampleWriter {
  let bench: Bench
  private(set) var history = WrittenHistory()
  private(set) var older: [FileImage] = []
  private(set) var durable: UInt64 = 0
  private var store: LogStore
  private var generator: SeededGenerator
  private let isPacked: Bool

  init(seed: UInt64, isPacked: Bool) throws {
    generator = SeededGenerator(seed: seed)
    self.isPacked = isPacked
    bench = Bench(seed: seed)
    store = try bench.open { $0.compression = isPacked ? .lz4 : .off }
  }

  /// Writes, and returns the disk as it was left: with the store closed, or with its process dead.
  mutating func write(_ ending: Ending) throws -> SimulatedDisk {
    let steps = Int.random(in: 60...220, using: &generator)
    for step in 0..<steps {
      if step % 40 == 39 { older.append(try FileImage(of: bench.disk)) }
      try self.step()
      durable = max(durable, store.durableSequence.rawValue)
    }
    durable = max(durable, store.durableSequence.rawValue)
    guard ending == .clean else {
      let disk = bench.disk
      let left = try generator.oneIn(3) ? disk.crashImage(.tear, using: &generator) : disk.processKilled()
      bench.isFooterless.lower()
      try store.close()
      return left
    }
    bench.isFooterless.lower()
    durable = store.lastSequence.rawValue
    try store.close()
    return bench.disk
  }

  private mutating func step() throws {
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<58: try put()
    case 58..<68: try remove()
    case 68..<82: try batch()
    case 82..<84: try empty()
    case 84..<88: try store.sync()
    case 88..<91: bench.clock.advance(milliseconds: Int64.random(in: 1...4_000, using: &generator))
    case 91..<94: try merge()
    case 94..<97: bench.isFooterless.toggle()
    default: try reopen()
    }
  }

  private mutating func anyKey() -> (space: String, key: [UInt8]) {
    let space = SampleStore.spaces[Int.random(in: 0..<SampleStore.spaces.count, using: &generator)]
    return (space, Array("key \(Int.random(in: 0..<40, using: &generator))".utf8))
  }

  private mutating func anyValue() -> [UInt8] {
    let text = Array("value \(history.changes.count) ".utf8)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: return text + generator.bytes(Int.random(in: 2_000...20_000, using: &generator))
    case 1..<4: return text
    default:
      let count = Int.random(in: 100...1_500, using: &generator)
      return text + (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 % 61) }
    }
  }

  private mutating func anyExpiry() -> Int64 {
    generator.oneIn(6) ? bench.clock.wallMilliseconds() + Int64.random(in: 500...100_000, using: &generator) : .max
  }

  private func expiry(_ instant: Int64) -> Expiry {
    instant == .max ? .never : .at(WallTime(millisecondsSince1970: instant))
  }

  private mutating func put() throws {
    let ((space, key), value, instant) = (anyKey(), anyValue(), anyExpiry())
    let isSynced = generator.oneIn(8) && !bench.isFooterless.isRaised
    let sequence = try store.keyspace(space).put(
      value,
      forKey: key,
      expiry: expiry(instant),
      durability: isSynced ? .synced : .buffered
    )
    history.note(.init(sequence: sequence.rawValue, space: space, key: key, value: value, expiry: instant))
  }

  private mutating func remove() throws {
    let (space, key) = anyKey()
    let before = store.lastSequence.rawValue
    try store.keyspace(space).remove(key)
    let after = store.lastSequence.rawValue
    if after > before { history.note(.init(sequence: after, space: space, key: key, value: nil)) }
  }

  private mutating func batch() throws {
    var changes: [WrittenHistory.Change] = []
    for _ in 0..<Int.random(in: 2...8, using: &generator) {
      let ((space, key), value, instant) = (anyKey(), anyValue(), anyExpiry())
      changes.append(.init(sequence: 0, space: space, key: key, value: value, expiry: instant))
    }
    let spaces = try Dictionary(uniqueKeysWithValues: SampleStore.spaces.map { ($0, try store.keyspace($0)) })
    let first = store.lastSequence.rawValue + 1
    let (list, expiries) = (changes, changes.map { expiry($0.expiry) })
    try store.write { (batch) throws(StoreError) in
      for (change, expiry) in zip(list, expiries) {
        try batch.put(change.value ?? [], forKey: change.key ?? [], in: spaces[change.space], expiry: expiry)
      }
    }
    for index in changes.indices {
      changes[index].sequence = first + UInt64(index)
      history.note(changes[index])
    }
  }

  private mutating func empty() throws {
    let space = SampleStore.spaces[Int.random(in: 1..<SampleStore.spaces.count, using: &generator)]
    try store.keyspace(space).removeAll()
    history.note(.init(sequence: store.lastSequence.rawValue, space: space, key: nil, value: nil))
  }

  private mutating func merge() throws {
    // What a merge writes has footers.
    bench.isFooterless.lower()
    let ids = store.statistics.segments.map(\.id)
    let chosen = generator.oneIn(2) ? nil : ids.filter { _ in generator.oneIn(2) }
    try store.merge(segments: chosen)
  }

  /// A close writes a checkpoint.
  private mutating func reopen() throws {
    bench.isFooterless.lower()
    try store.close()
    if generator.oneIn(3) {
      for name in try bench.disk.list(FileImage.directory) where name.hasSuffix(".checkpoint") {
        try bench.disk.remove("\(FileImage.directory)/\(name)")
      }
    }
    let isPacked = isPacked
    store = try bench.open { $0.compression = isPacked ? .lz4 : .off }
  }
}
