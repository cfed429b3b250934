import Esker
import EskerLog
import EskerPlatform
import EskerTestSupport
import Testing

/// Rewriting all values in a new form, as the recipes do it: what is interrupted goes on where it was, and repeats no write.
@Suite struct MigrationTests {
  private struct Old: Codable, Sendable { var name: String }
  private struct User: Codable, Sendable, Equatable { var name: String, age: Int? }

  private static let count = 40
  private static let path = "/store"

  /// Reads both forms.
  private static let both = Transformer<User>.binary.versioned(2) { version, bytes in
    guard version < 2 else { throw TransformerError.unknownVersion(version) }
    return User(name: try Transformer<Old>.binary.decode(bytes).name, age: nil)
  }
  /// Reads only the new one.
  private static let new = Transformer<User>.binary.versioned(2)

  /// Opens the store of a disk in memory, without threads: the same calls always do the same.
  private func open(_ disk: SimulatedDisk) throws -> LogStore {
    let clock = FakeClock()
    var options = Options(durability: .buffered)
    options.clock = Options.Clock(
      now: { WallTime(millisecondsSince1970: clock.wallMilliseconds()) },
      uptimeNanoseconds: { clock.monotonicNanoseconds() }
    )
    let host = StoreHost(platform: disk.platform(clock: clock), background: .inline)
    return try LogStore(at: Self.path, options: options, host: host)
  }

  private static func key(_ number: Int) -> String { "user \(number + 100)" }

  /// A disk with users in the old form, one of which expires.
  private func filled() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let store = try open(disk)
    let users = try store.storage("users", transformer: Transformer<Old>.binary)
    for number in 0..<Self.count {
      let expiry: Expiry = number == 7 ? .at(WallTime(millisecondsSince1970: 1_800_000_000_000)) : .never
      try users.set(Old(name: "name \(number)"), forKey: Self.key(number), expiry: expiry)
    }
    try store.close()
    return disk
  }

  /// What is to be there, whatever form it has.
  private func expectAll(_ users: Storage<String, User>) throws {
    var names: [String: String] = [:]
    try users.forEachEntry { (key: String, entry: Entry<User>) throws(StorageError) in
      names[key] = entry.value.name
      #expect((entry.expiry == .never) == (key != Self.key(7)))
    }
    #expect(names == Dictionary(uniqueKeysWithValues: (0..<Self.count).map { (Self.key($0), "name \($0)") }))
  }

  private func versions(of users: Storage<String, User>) throws -> [String: SequenceNumber?] {
    Dictionary(uniqueKeysWithValues: try users.entries().map { ($0.key, $0.entry.version) })
  }

  private struct Interrupted: Error {}

  /// The disks that a cut after some of the steps of `body` may leave: of the process alone, and of the power.
  private func disks(
    after steps: Int,
    _ name: String,
    _ body: (LogStore, _ step: () throws -> Void) throws -> Void
  ) throws -> [SimulatedDisk] {
    let disk = try filled()
    let store = try open(disk)
    var left = steps
    #expect(throws: Interrupted.self) {
      try body(store) {
        if left == 0 { throw Interrupted() }
        left -= 1
      }
    }
    var generator = SeededGenerator(announcedFor: name)
    return try [try disk.processKilled()] + CrashPolicy.allCases.map { try disk.crashImage($0, using: &generator) }
  }

  // MARK: In place

  private func rewriteInPlace(_ store: LogStore, _ step: () throws -> Void = {}) throws {
    let users = try store.storage("users", transformer: Self.both)
    for key in try users.keys().sorted() {
      try step()
      try users.update(forKey: key) { (_) throws(StorageError) in }
    }
    try step()
  }

  @Test(arguments: [0, 1, 13, 39, 40]) func rewritingInPlaceGoesOn(_ steps: Int) throws {
    for disk in try disks(after: steps, "rewritingInPlaceGoesOn", rewriteInPlace) {
      let store = try open(disk)
      let users = try store.storage("users", transformer: Self.both)
      try expectAll(users)
      let left = try users.transform(to: Self.new).check().undecoded
      #expect(left >= Self.count - steps)
      let before = try versions(of: users)
      try rewriteInPlace(store)
      let written = try versions(of: users).filter { before[$0.key] != $0.value }.count
      #expect(written == left, "only what was left is written")
      #expect(try users.transform(to: Self.new).check().isClean)
      try expectAll(users)
      try store.close()
    }
  }

  // MARK: In pages, with a mark

  private func rewriteInPages(_ store: LogStore, _ step: () throws -> Void = {}) throws {
    let users = try store.storage("users", transformer: Self.both)
    let done = try store.storage("rewritten", of: String.self)
    while true {
      let last = try done.value(forKey: "users to version 2")
      let page = try users.keys(in: last.map { .after($0) } ?? .all, limit: 9)
      guard let end = page.last else { return try step() }
      try step()
      for key in page { try users.update(forKey: key) { (_) throws(StorageError) in } }
      try done.set(end, forKey: "users to version 2")
    }
  }

  /// The mark is behind what it speaks of in the log, so no cut leaves the mark without it.
  @Test(arguments: [0, 1, 3, 5]) func rewritingInPagesGoesOnBehindTheMark(_ steps: Int) throws {
    for disk in try disks(after: steps, "rewritingInPagesGoesOnBehindTheMark", rewriteInPages) {
      let store = try open(disk)
      let users = try store.storage("users", transformer: Self.both)
      try expectAll(users)
      let mark = try store.storage("rewritten", of: String.self).value(forKey: "users to version 2")
      let report = try users.transform(to: Self.new).check(samples: .max)
      let left = report.failures.flatMap(\.samples).compactMap(\.key)
      #expect(left.allSatisfy { $0 > mark ?? "" }, "\(left) are left, and the mark is \(mark ?? "none")")
      let behind = try users.keys(in: mark.map { .after($0) } ?? .all)
      var pages = 0
      try rewriteInPages(store) { pages += 1 }
      #expect(pages == (behind.count + 8) / 9 + 1, "what is before the mark is not read again")
      #expect(try users.transform(to: Self.new).check().isClean)
      try expectAll(users)
      try store.close()
    }
  }

  // MARK: Into another keyspace

  private func copy(_ store: LogStore, _ step: () throws -> Void = {}) throws {
    let old = try store.storage("users", transformer: Self.both)
    let users = try store.storage("users 2", transformer: Transformer<User>.json)
    let copied = try store.storage("copied", of: String.self)
    while true {
      let last = try copied.value(forKey: "users")
      let page = try old.entries(in: last.map { .after($0) } ?? .all, limit: 9)
      guard let end = page.last else { return try step() }
      try step()
      try store.write { batch in
        for (key, entry) in page { try batch.set(entry.value, forKey: key, in: users, expiry: entry.expiry) }
        try batch.set(end.key, forKey: "users", in: copied)
      }
    }
  }

  @Test(arguments: [0, 1, 3, 5]) func copyingToAnotherKeyspaceGoesOnBehindTheMark(_ steps: Int) throws {
    for disk in try disks(after: steps, "copyingToAnotherKeyspaceGoesOnBehindTheMark", { try copy($0, $1) }) {
      let store = try open(disk)
      let users = try store.storage("users 2", transformer: Transformer<User>.json)
      let mark = try store.storage("copied", of: String.self).value(forKey: "users")
      let there = try users.keys().sorted()
      #expect(there.last == mark, "a page is there with its mark, or not at all")
      var pages = 0
      try copy(store) { pages += 1 }
      #expect(pages == (Self.count - there.count + 8) / 9 + 1)
      try expectAll(users)
      #expect(try users.check().isClean)
      try store.close()
    }
  }
}
