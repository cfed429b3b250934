@testable import EskerLog

/// What a store should hold: the reference that random histories are checked against.
struct StoreModel {
  struct Value: Equatable {
    var bytes: [UInt8]
    /// `Int64.max` for never.
    var expiry: Int64
    var version: UInt64
  }

  typealias Key = [UInt8]

  /// Entries of each keyspace, expired ones included until they are purged.
  var spaces: [String: [Key: Value]] = ["": [:]]
  /// Entries that expired and were taken out of the index.
  ///
  /// Their records are in the log until they are superseded, so a
  /// replay finds them again: expired still, unless the clock was reset meanwhile.
  var purged: [String: [Key: Value]] = [:]
  var wasClockReset = false
  var defaultExpiries: [String: Int64] = [:]
  var lastSequence: UInt64 = 0
  /// Store time in milliseconds.
  var time: Int64

  init(time: Int64) {
    self.time = time
  }

  func visible(_ key: Key, in space: String) -> Value? {
    guard let value = spaces[space]?[key], value.expiry == .max || value.expiry > time else { return nil }
    return value
  }

  /// Whether a replay may find this entry.
  func mayHold(_ value: Value, _ key: Key, in space: String) -> Bool {
    if let known = spaces[space]?[key] { return known == value }
    return purged[space]?[key] == value && (wasClockReset || value.expiry <= time)
  }

  /// What a snapshot shows.
  func contents(of space: String) -> [Key: [UInt8]] {
    (spaces[space] ?? [:]).compactMapValues { $0.expiry == .max || $0.expiry > time ? $0.bytes : nil }
  }

  var contents: [String: [Key: [UInt8]]] {
    Dictionary(uniqueKeysWithValues: spaces.keys.map { ($0, contents(of: $0)) })
  }

  mutating func put(_ bytes: [UInt8], _ key: Key, in space: String, expiry: Int64) {
    lastSequence += 1
    purged[space]?[key] = nil
    spaces[space, default: [:]][key] = Value(bytes: bytes, expiry: expiry, version: lastSequence)
  }

  /// A write that depends on what was seen, and is none if it changes nothing; returns the key's version.
  @discardableResult
  mutating func replace(_ seen: Value?, with bytes: [UInt8], _ key: Key, in space: String, expiry: Int64) -> UInt64 {
    if let seen, seen.bytes == bytes, seen.expiry == expiry { return seen.version }
    put(bytes, key, in: space, expiry: expiry)
    return lastSequence
  }

  /// True when the key was visible.
  mutating func remove(_ key: Key, in space: String) -> Bool {
    guard spaces[space]?[key] != nil else { return false }
    let wasVisible = visible(key, in: space) != nil
    lastSequence += 1
    spaces[space]?[key] = nil
    return wasVisible
  }

  /// Logs a removal, as a batch does whether or not the key is there.
  mutating func removeInBatch(_ key: Key, in space: String) {
    lastSequence += 1
    purged[space]?[key] = nil
    spaces[space]?[key] = nil
  }

  mutating func removeAll(in space: String) {
    purged[space] = [:]
    lastSequence += 1
    spaces[space] = [:]
  }

  /// How many entries went.
  mutating func removeExpired(in space: String) -> Int {
    let expired = (spaces[space] ?? [:]).filter { $0.value.expiry <= time }
    for key in expired.keys { spaces[space]?[key] = nil }
    purged[space, default: [:]].merge(expired) { $1 }
    return expired.count
  }

  /// The instant that an expiry means now.
  func resolve(_ expiry: Expiry?, in space: String) -> Int64 {
    switch expiry {
    case .never: .max
    case .at(let instant): instant.millisecondsSince1970
    case .after(let duration): time.addingClamped(duration.wholeMilliseconds)
    case nil: defaultExpiries[space].map { time.addingClamped($0) } ?? .max
    }
  }
}
