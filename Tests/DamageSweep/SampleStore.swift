import EskerLog
import EskerPlatform
import EskerTestSupport

/// How a sample was left.
enum Ending: String, CaseIterable, Sendable {
  /// Its writer closed it.
  case clean
  /// Its writer was killed, and for some of them the power was cut.
  case crashed
}

/// A store with a mixed history, and what is known of it.
struct SampleStore {
  typealias Contents = [String: [[UInt8]: [UInt8]]]

  let ending: Ending
  let isPacked: Bool
  let seed: UInt64
  /// The time of the end.
  private(set) var clock = FakeClock()
  /// The files as they were left.
  private(set) var image: FileImage
  /// The files at earlier times.
  private(set) var older: [FileImage] = []
  /// What an opening shows when nothing is damaged.
  private(set) var expected: Contents = [:]
  /// The last write that was on stable storage.
  private(set) var durable: UInt64 = 0
  private(set) var history = WrittenHistory()

  static let spaces = ["", "one", "two"]

  init(seed: UInt64, ending: Ending, isPacked: Bool) throws {
    self.seed = seed
    self.ending = ending
    self.isPacked = isPacked
    var writer = try SampleWriter(seed: seed, isPacked: isPacked)
    image = try FileImage(of: writer.write(ending))
    durable = writer.durable
    older = writer.older
    history = writer.history
    clock = FakeClock(wallMilliseconds: writer.bench.clock.wallMilliseconds())
    let store = try bench(image).open { $0.readOnly = true }
    expected = try Self.contents(of: store)
    let last = store.lastSequence.rawValue
    try store.close()
    guard last >= durable, expected == history.contents(through: last, at: clock.wallMilliseconds()) else {
      throw SampleError(
        reason: "a store that nobody damaged does not show what was written up to #\(last); seed \(seed)"
      )
    }
  }

  /// A bench with some files on its disk, at the sample's time.
  func bench(_ files: FileImage) throws -> Bench {
    Bench(try files.disk(), clock: FakeClock(wallMilliseconds: clock.wallMilliseconds()), seed: seed &+ 99)
  }

  static func contents(of store: LogStore) throws -> Contents {
    var result: Contents = [:]
    let snapshot = try store.snapshot()
    for entry in snapshot { result[entry.keyspace, default: [:]][try entry.key()] = try entry.value() }
    return result
  }
}

struct SampleError: Error, CustomStringConvertible {
  var reason: String
  var description: String { reason }
}

/// Every write of a sample, by its number.
struct WrittenHistory {
  struct Change {
    var sequence: UInt64
    var space: String
    /// nil: the keyspace was emptied.
    var key: [UInt8]?
    /// nil: the key was removed.
    var value: [UInt8]?
    var expiry: Int64 = .max
  }

  private(set) var changes: [Change] = []
  /// Every value that a key ever had, by keyspace.
  private(set) var values: [String: [[UInt8]: Set<[UInt8]>]] = [:]
  /// The keys that were ever written, in that order.
  private(set) var keys: [(space: String, key: [UInt8])] = []

  mutating func note(_ change: Change) {
    changes.append(change)
    if let key = change.key, let value = change.value {
      if values[change.space]?[key] == nil { keys.append((change.space, key)) }
      values[change.space, default: [:]][key, default: []].insert(value)
    }
  }

  /// Whether a key ever had a value.
  func knows(_ value: [UInt8], of key: [UInt8], in space: String) -> Bool {
    values[space]?[key]?.contains(value) ?? false
  }

  /// What all writes up to one amount to.
  func contents(through last: UInt64, at time: Int64) -> SampleStore.Contents {
    var entries: [String: [[UInt8]: Change]] = [:]
    for change in changes where change.sequence <= last {
      guard let key = change.key else {
        entries[change.space] = nil
        continue
      }
      entries[change.space, default: [:]][key] = change.value == nil ? nil : change
    }
    var contents: SampleStore.Contents = [:]
    for (space, keys) in entries {
      for (key, change) in keys where change.expiry > time { contents[space, default: [:]][key] = change.value }
    }
    return contents
  }
}
