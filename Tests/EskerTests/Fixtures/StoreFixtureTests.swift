import Esker
import EskerTestSupport
import Foundation
import Testing

/// Every store that a version has written opens with all that was written to it: see `Tests/Stores/README.md`.
@Suite struct StoreFixtureTests {
  let temporary: TemporaryDirectory

  init() throws { temporary = try TemporaryDirectory() }

  /// What an opening found, and each file's bytes.
  private func open(_ path: String, _ contents: StoreContents, readOnly: Bool) throws -> LogStore {
    try LogStore(at: path, options: FixtureWriter.fixed(Options(readOnly: readOnly), at: contents.instant))
  }

  /// All files but the lock, which readers use too.
  private func files(_ path: String) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "LOCK" }
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(path)/\($0)"))) }
    )
  }

  /// Each entry has its value and its expiry, and nothing else is there.
  private func expect(_ expected: StoreContents.Keyspace, in space: some ByteStore, of store: LogStore) throws {
    let there = expected.entries.filter { $0.isExpired != true }
    #expect(try space.count() == there.count)
    for entry in expected.entries {
      let key = StoreContents.bytes(entry.key)
      if entry.isDamaged == true {
        #expect("\(entry.key)") { try space.get(key) } throws: { error in
          guard case StoreError.damaged = error else { return false }
          return true
        }
        continue
      }
      let isThere = entry.isExpired != true
      #expect(try space.get(key) == (isThere ? StoreContents.bytes(entry.value) : nil), "\(entry.key)")
      let expiry = entry.expires.map { Expiry.at(WallTime(millisecondsSince1970: $0)) } ?? .never
      #expect(try space.metadata(forKey: key)?.expiry == (isThere ? expiry : nil), "\(entry.key)")
    }
    #expect(try space.get("nobody has put this") == nil)
    guard !there.contains(where: { $0.isDamaged == true }) else { return }
    let keys = there.map { StoreContents.bytes($0.key) }
    let values = there.map { StoreContents.bytes($0.value) }
    #expect(try space.entries(in: .all).map(\.key) == keys)
    #expect(try space.entries(in: .all).map(\.value) == values)
    #expect(try space.entries(in: .all, order: .descending).map(\.key) == keys.reversed())
    if let middle = keys.dropFirst(keys.count / 2).first {
      #expect(try space.keys(in: .from(middle)) == Array(keys[(keys.count / 2)...]))
    }
  }

  private func expectAll(_ contents: StoreContents, in store: LogStore) throws {
    #expect(try Set(store.keyspaceNames).union([""]) == Set(contents.keyspaces.map(\.name)).union([""]))
    for expected in contents.keyspaces {
      let space = expected.name.isEmpty ? store.default : try store.keyspace(expected.name)
      #expect(space.keyForm == expected.keyForm)
      #expect(space.valueForm == expected.valueForm)
      #expect(space.capacity.entries == expected.capacity)
      try expect(expected, in: space, of: store)
    }
    let damage = try store.verify().damage.map { damage in
      StoreContents.Damage(
        file: URL(filePath: damage.location.path).lastPathComponent,
        records: damage.records,
        current: damage.current
      )
    }
    #expect(damage == contents.damage)
  }

  /// A folder that is not found would pass all other tests.
  @Test func fixturesAreFound() throws {
    let names = Set(StoreFixture.all.map { $0.directory.lastPathComponent })
    #expect(
      names.isSuperset(of: [
        "cache", "clean", "copied", "damaged", "expiring", "groups", "history", "killed", "ordered", "packed", "sealed",
        "typed",
      ])
    )
    let entries = try StoreFixture.all.reduce(0) {
      try $0 + $1.contents().keyspaces.reduce(0) { $0 + $1.entries.count }
    }
    #expect(entries >= 250)
  }

  @Test(arguments: StoreFixture.all) func readersFindAllAndChangeNothing(_ fixture: StoreFixture) throws {
    let contents = try fixture.contents()
    let path = temporary.appending("store")
    try fixture.copy(to: path)
    let before = try files(path)
    let store = try open(path, contents, readOnly: true)
    try expectAll(contents, in: store)
    #expect(store.history.openings.count == contents.openings)
    try store.close()
    #expect(try files(path) == before)
  }

  @Test(arguments: StoreFixture.all) func writersFindAllAndGoOn(_ fixture: StoreFixture) throws {
    var contents = try fixture.contents()
    let path = temporary.appending("store")
    try fixture.copy(to: path)
    let store = try open(path, contents, readOnly: false)
    try expectAll(contents, in: store)
    let opening = try #require(store.history.openings.last)
    #expect("\(opening.kind)" == contents.found)
    #expect(opening.cut == nil)
    #expect(store.history.openings.count == contents.openings + 1 && !store.history.isDamaged)
    // From here on it is a store of this version, too.
    let written = StoreContents.Entry(key: "\u{10ffff} written later", value: "later")
    try store.put(written.value, forKey: written.key)
    if let index = contents.keyspaces.firstIndex(where: \.name.isEmpty) {
      contents.keyspaces[index].entries.append(written)
      contents.keyspaces[index].entries.sort {
        StoreContents.bytes($0.key).lexicographicallyPrecedes(StoreContents.bytes($1.key))
      }
    }
    try store.close()
    for isMerged in [false, true] {
      let again = try open(path, contents, readOnly: false)
      if isMerged { try again.merge() }
      try expectAll(contents, in: again)
      try again.close()
    }
    let reader = try open(path, contents, readOnly: true)
    try expectAll(contents, in: reader)
    try reader.close()
  }

  @Test(arguments: StoreFixture.all.filter { $0.directory.lastPathComponent == "typed" })
  func typedValuesAreRead(_ fixture: StoreFixture) throws {
    let path = temporary.appending("store")
    try fixture.copy(to: path)
    let store = try open(path, fixture.contents(), readOnly: false)
    let people = try store.storage("people", key: Int.self, of: FixtureMaking.Person.self)
    #expect(try people.keys(in: .all) == [-7, 300])
    #expect(try people.value(forKey: -7)?.towns == ["Vienna", "Graz"])
    #expect(try people.value(forKey: -7)?.born == 1990)
    #expect(try people.value(forKey: 300)?.name == "Bert")
    #expect(try people.value(forKey: 300)?.born == nil)
    #expect(try store.storage("counts", of: Int.self).value(forKey: "a") == 258)
    try store.close()
  }
}
