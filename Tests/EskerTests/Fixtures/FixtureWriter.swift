import Esker
import Foundation

/// Writes to a store, and notes what must be in it. What is noted follows from the calls alone, and never from what the store says.
final class FixtureWriter {
  /// The first of January 2026. An hour later is the instant at which fixtures are opened.
  static let written: Int64 = 1_767_225_600_000
  static let opened: Int64 = written + 3_600_000

  let path: String
  private(set) var store: LogStore
  private var keyspaces: [String: [[UInt8]: StoreContents.Entry]] = ["": [:]]
  private var forms: [String: (keys: String, values: String)] = [:]
  private var capacities: [String: Int] = [:]
  private(set) var openings = 1

  init(at path: String, options: Options = Options()) throws {
    self.path = path
    store = try LogStore(at: path, options: Self.fixed(options, at: Self.written))
  }

  /// The options with a clock that stands still.
  static func fixed(_ options: Options, at instant: Int64) -> Options {
    var options = options
    options.clock = Options.Clock {
      WallTime(millisecondsSince1970: instant)
    } uptimeNanoseconds: {
      1_000_000_000
    }
    return options
  }

  /// Closes the store and opens it again.
  func reopen() throws {
    try store.close()
    store = try LogStore(at: path, options: Self.fixed(Options(), at: Self.written))
    openings += 1
  }

  func countCopy() { openings += 1 }

  func keyspace(_ name: String) throws -> Keyspace {
    if keyspaces[name] == nil { keyspaces[name] = [:] }
    return name.isEmpty ? store.default : try store.keyspace(name)
  }

  /// `expires` is a number of milliseconds after `written`.
  func put(_ value: [UInt8], _ key: [UInt8], in name: String = "", expires: Int64? = nil) throws {
    let instant = expires.map { $0 + Self.written }
    let expiry = instant.map { Expiry.at(WallTime(millisecondsSince1970: $0)) } ?? .never
    try keyspace(name).put(value, forKey: key, expiry: expiry)
    note(value, key, in: name, expires: instant)
  }

  func put(_ value: String, _ key: String, in name: String = "", expires: Int64? = nil) throws {
    try put(Array(value.utf8), Array(key.utf8), in: name, expires: expires)
  }

  func remove(_ key: String, in name: String = "") throws {
    try keyspace(name).remove(key)
    keyspaces[name]?[Array(key.utf8)] = nil
  }

  func removeAll(in name: String) throws {
    try keyspace(name).removeAll()
    keyspaces[name] = [:]
  }

  func removeKeyspace(_ name: String) throws {
    try store.removeKeyspace(name)
    keyspaces[name] = nil
  }

  /// Notes what was written in another way.
  func note(_ value: [UInt8], _ key: [UInt8], in name: String, expires: Int64? = nil, isDamaged: Bool? = nil) {
    keyspaces[name, default: [:]][key] = StoreContents.Entry(
      key: StoreContents.text(key),
      value: StoreContents.text(value),
      expires: expires,
      isExpired: expires.map { $0 <= Self.opened },
      isDamaged: isDamaged
    )
  }

  func forget(_ key: String, in name: String) { keyspaces[name]?[Array(key.utf8)] = nil }

  func note(keys: String, values: String, of name: String) { forms[name] = (keys, values) }

  func note(capacity: Int, of name: String) { capacities[name] = capacity }

  func contents(_ about: String, found: String = "clean", damage: [StoreContents.Damage] = []) -> StoreContents {
    let sorted = keyspaces.sorted { $0.key < $1.key }.map { name, entries in
      StoreContents.Keyspace(
        name: name,
        keyForm: forms[name]?.keys,
        valueForm: forms[name]?.values,
        capacity: capacities[name],
        entries: entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
      )
    }
    return StoreContents(
      about: about,
      instant: Self.opened,
      lengths: [:],
      found: found,
      openings: openings,
      keyspaces: sorted,
      damage: damage
    )
  }
}
