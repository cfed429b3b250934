import EskerPlatform
import EskerTestSupport
import EskerTools

@testable import EskerLog

/// What a store holds, as far as the calls of these tests change it.
struct StoreState: Hashable, CustomStringConvertible {
  /// The number in each value, by keyspace and key.
  var entries: [String: Int] = [:]
  var keyspaces: Set<String> = []
  /// Of the keyspace `other`, in seconds.
  var defaultExpiry: Int?

  init(of store: LogStore) throws {
    for entry in try store.snapshot() {
      let value = try entry.value()
      entries["\(entry.keyspace)/\(String(decoding: try entry.key(), as: UTF8.self))"] = StoreCall.number(in: value)
    }
    keyspaces = try Set(store.keyspaceNames)
    if keyspaces.contains("other") {
      defaultExpiry = try store.keyspace("other").defaultExpiry.map { Int($0.components.seconds) }
    }
  }

  var description: String {
    let shown = entries.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return "[\(shown); \(keyspaces.sorted()); \(defaultExpiry.map(String.init) ?? "none")]"
  }
}

/// What an error says of the call that threw it.
enum Promise {
  /// The next opening finds the store as it was before the call.
  case tookNoEffect
  /// It finds that or what the call was to make of it, and nothing in between.
  case mayBeThere
  /// Each write that the call is made of is there or not, in their order.
  case aPrefix

  /// The table of the article on errors.
  init(of error: StoreError, thrownBy call: StoreCall) {
    switch (call, error) {
    case (.importStream, _): self = .aPrefix
    case (_, .outcomeUnknown): self = .mayBeThere
    default: self = .tookNoEffect
    }
  }
}

/// The calls of a store, each with what it does to its state.
enum StoreCall: String, CaseIterable {
  case put, putSynced, remove, removeSynced, batch, batchSynced, removeAll, increment, compareAndSet, touch
  case sync, waitDurable, merge, keyspace, setDefaultExpiry, resetClock, removeExpired
  case backup, restore, salvage, export, importStream, verify

  private static let keys = (0..<4).map { "key \($0)" }

  /// Long enough that some of them fill a segment.
  static func value(_ number: Int) -> [UInt8] {
    Array("\(number) ".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 9_000)
  }

  static func number(in value: [UInt8]) -> Int {
    if value.count == 8 { return value.reversed().reduce(0) { $0 << 8 | Int($1) } }
    let digits = value.prefix { $0 != UInt8(ascii: " ") }
    return Int(String(decoding: digits, as: UTF8.self)) ?? -1
  }

  /// Whether what it did, and all before it, survives a power cut when it has returned.
  var isDurable: Bool {
    switch self {
    case .putSynced, .removeSynced, .batchSynced, .sync, .waitDurable, .importStream: true
    default: false
    }
  }

  /// Whether it is an edit of the manifest, durable by itself, and none of the log.
  var isOfManifest: Bool { self == .keyspace || self == .setDefaultExpiry }

  /// The states that the call leads through, the last one when it has returned.
  func steps(_ number: Int, from state: StoreState) -> [StoreState] {
    var next = state
    let key = "/" + Self.keys[number % 4]
    switch self {
    case .put, .putSynced: next.entries[key] = number
    case .remove, .removeSynced: next.entries[key] = nil
    case .batch, .batchSynced:
      next.entries["/a"] = number
      next.entries["other/a"] = number
      next.entries[key] = nil
    case .removeAll: next.entries = next.entries.filter { !$0.key.hasPrefix("other/") }
    case .increment: next.entries["/counter"] = (next.entries["/counter"] ?? 0) + 1
    case .compareAndSet: next.entries["/a"] = number
    case .touch, .sync, .waitDurable, .merge, .resetClock, .removeExpired, .verify: break
    case .backup, .restore, .salvage, .export: break
    case .keyspace: next.keyspaces.insert("space \(number)")
    case .setDefaultExpiry: next.defaultExpiry = number
    case .importStream:
      return Self.keys.map { key in
        next.entries["/" + key] = number
        return next
      }
    }
    return [next]
  }

  func perform(_ number: Int, on store: LogStore, _ host: StoreHost) throws {
    let key = Self.keys[number % 4]
    let value = Self.value(number)
    switch self {
    case .put: try store.put(value, forKey: key)
    case .putSynced: try store.put(value, forKey: key, durability: .synced)
    case .remove: try store.remove(key)
    case .removeSynced: try store.remove(key, durability: .synced)
    case .batch, .batchSynced:
      let other = try store.keyspace("other")
      try store.write(durability: self == .batch ? .buffered : .synced) { (batch) throws(StoreError) in
        try batch.put(value, forKey: "a")
        try batch.put(value, forKey: "a", in: other)
        try batch.remove(key)
      }
    case .removeAll: try store.keyspace("other").removeAll()
    case .increment: try store.increment("counter")
    case .compareAndSet:
      try store.compareAndSet(value, forKey: "a", ifVersion: store.metadata(forKey: "a")?.version)
    case .touch: try store.touch("a", expiry: .after(.seconds(1_000_000 + number)))
    case .sync: try store.sync()
    case .waitDurable: try store.waitDurable(store.lastSequence)
    case .merge: try store.merge()
    case .keyspace: _ = try store.keyspace("space \(number)")
    case .setDefaultExpiry: try store.keyspace("other").setDefaultExpiry(.seconds(number))
    case .resetClock: try store.resetClock()
    case .removeExpired: try store.removeAllExpired()
    case .backup: try store.backup(to: "/backup \(number)", copying: number % 2 == 0)
    case .restore: try LogStore.restore(from: store.path, to: "/restored \(number)", copying: true, host: host)
    case .salvage:
      // Of another store: this one is being written.
      try LogStore.salvage(from: "/closed", to: "/salvaged \(number)", options: Options(), host: host)
    case .export: try store.exportStream { _ in }
    case .importStream:
      var stream = Self.stream(number)[...]
      try store.importStream { count in
        defer { stream = stream.dropFirst(count) }
        return Array(stream.prefix(count))
      }
    case .verify: _ = try store.verify()
    }
  }

  /// An export of a store that has that number under every key.
  private static func stream(_ number: Int) -> [UInt8] {
    let machine = Machine()
    var bytes: [UInt8] = []
    guard let store = try? machine.open() else { return [] }
    for key in keys { _ = try? store.put(value(number), forKey: key) }
    _ = try? store.exportStream { piece in piece.withUnsafeBytes { bytes += $0 } }
    store.probe.kill()
    return bytes
  }
}
