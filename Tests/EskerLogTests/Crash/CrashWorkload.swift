import EskerPlatform
import EskerTestSupport

@testable import EskerLog

/// One thing the workload does to a store.
enum CrashStep {
  case write(CrashHistory.Change, Durability)
  case batch([CrashHistory.Change], Durability)
  /// Writes of a few keys that are not synced, most of one size: records that take the room of others.
  case overwrites([CrashHistory.Change])
  /// A write whose condition does not hold. It may have made room that a later one finds too small.
  case refused(keyspace: String)
  case sync
  case checkpoint
  /// Ends the last segment, or merges all segments, or those of even numbers.
  case endSegment
  case merge(all: Bool)
  case reopen
  /// Makes a backup, which shares files with the store; not more than one of each number.
  case backup(Int)
  case pass(milliseconds: Int64)
}

/// Chooses steps from a seed.
struct CrashWorkload {
  private var generator: SeededGenerator
  private var number = 0
  let clock: FakeClock
  /// The capacity of the store, for a workload whose live values do not fit in it.
  private let capacity: Int?

  init(generator: SeededGenerator, clock: FakeClock, capacity: Int?) {
    self.generator = generator
    self.clock = clock
    self.capacity = capacity
  }

  mutating func next() -> CrashStep {
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<48: .write(change(isAlone: true), durability())
    case 48..<60: .overwrites(overwrites())
    case 60..<64: .endSegment
    case 64..<69: .merge(all: generator.oneIn(2))
    case 69..<80: .batch(batch(), durability())
    case 80..<83: .write(.reset(keyspace: keyspace()), durability())
    case 83..<89: .sync
    case 89..<93: .checkpoint
    case 93..<96: .reopen
    case 96..<98: .backup(Int.random(in: 0..<3, using: &generator))
    case 98: .refused(keyspace: keyspace())
    default: .pass(milliseconds: Int64.random(in: 1...2_000, using: &generator))
    }
  }

  private mutating func keyspace() -> String {
    CrashHistory.keyspaces[Int.random(in: 0..<CrashHistory.keyspaces.count, using: &generator)]
  }

  private mutating func durability() -> Durability {
    generator.oneIn(6) ? .synced : .buffered
  }

  private mutating func overwrites() -> [CrashHistory.Change] {
    let keyspace = keyspace()
    let size = Int.random(in: 0...600, using: &generator)
    return (0..<Int.random(in: 4...16, using: &generator)).map { _ in
      let key = CrashHistory.keys[Int.random(in: 0..<3, using: &generator)]
      if generator.oneIn(8) { return .remove(keyspace: keyspace, key: key) }
      number += 1
      var value = Array("\(generator.seed) \(number) ".utf8)
      value += [UInt8](repeating: UInt8(truncatingIfNeeded: number | 1), count: max(0, 40 + size - value.count))
      return .put(keyspace: keyspace, key: key, value: value, expiry: .max)
    }
  }

  private mutating func batch() -> [CrashHistory.Change] {
    (0..<Int.random(in: 1...Self.mostChanges, using: &generator)).map { _ in change(isAlone: false) }
  }

  private mutating func change(isAlone: Bool) -> CrashHistory.Change {
    let keyspace = keyspace()
    let key = CrashHistory.keys[Int.random(in: 0..<CrashHistory.keys.count, using: &generator)]
    if generator.oneIn(5) { return .remove(keyspace: keyspace, key: key) }
    let length = length(isAlone: isAlone)
    number += 1
    // Every value is unlike any other, so that a state tells which writes made it.
    var value = Array("\(generator.seed) \(number) ".utf8)
    value += [UInt8](repeating: UInt8(truncatingIfNeeded: number | 1), count: length)
    var expiry = Int64.max
    if generator.oneIn(6) { expiry = clock.wallMilliseconds() + Int64.random(in: -1_000...5_000, using: &generator) }
    return .put(keyspace: keyspace, key: key, value: value, expiry: expiry)
  }
}

extension CrashWorkload {
  /// The number of changes in the largest batch.
  static let mostChanges = 6

  /// The length of a value: now and then it exceeds a segment.
  ///
  /// In a store with a capacity, the keys' values take more than fits, and a batch takes less than half, or else it is refused.
  private mutating func length(isAlone: Bool) -> Int {
    let part = Int.random(in: 0..<100, using: &generator)
    if let capacity {
      let most = capacity / (isAlone ? 8 : 2 * Self.mostChanges + 1)
      return Int.random(in: part < 30 ? 0...200 : 1_000...most, using: &generator)
    }
    return switch part {
    case 0..<70: Int.random(in: 0...200, using: &generator)
    case 70..<97: Int.random(in: 1_000...12_000, using: &generator)
    default: Int.random(in: 60_000...90_000, using: &generator)
    }
  }
}

extension LogStore {
  /// Does to the store what the model does to its state.
  func make(_ change: CrashHistory.Change, _ durability: Durability) throws(StoreError) {
    switch change {
    case .put(let name, let key, let value, let expiry):
      try space(name).put(value, forKey: key, expiry: Self.expiry(expiry), durability: durability)
    case .remove(let name, let key):
      try space(name).remove(key, durability: durability)
    case .reset(let name):
      try space(name).removeAll(durability: durability)
    }
  }

  func make(_ changes: [CrashHistory.Change], _ durability: Durability) throws(StoreError) {
    var spaces: [String: Keyspace] = [:]
    for name in CrashHistory.keyspaces { spaces[name] = try space(name) }
    try write(durability: durability) { (batch) throws(StoreError) in
      for change in changes {
        switch change {
        case .put(let name, let key, let value, let expiry):
          try batch.put(value, forKey: key, in: spaces[name], expiry: Self.expiry(expiry))
        case .remove(let name, let key):
          try batch.remove(key, in: spaces[name])
        case .reset:
          break
        }
      }
    }
  }

  func space(_ name: String) throws(StoreError) -> Keyspace {
    name.isEmpty ? `default` : try keyspace(name)
  }

  private static func expiry(_ milliseconds: Int64) -> Expiry {
    milliseconds == .max ? .never : .at(WallTime(millisecondsSince1970: milliseconds))
  }
}

extension Options.Clock {
  /// The clock of a simulated platform.
  static func fake(_ clock: FakeClock) -> Options.Clock {
    Options.Clock(
      now: { WallTime(millisecondsSince1970: clock.wallMilliseconds()) },
      uptimeNanoseconds: { clock.monotonicNanoseconds() }
    )
  }
}
