import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// The forms of keys and values that a store records of its keyspaces.
@Suite struct KeyspaceFormTests {
  private static let numbers = KeyspaceForms(keys: "int64", values: "cbor")
  private static let texts = KeyspaceForms(keys: "utf8", values: "json")

  private func forms(_ store: LogStore, _ name: String) -> KeyspaceForms? { store.engine.keydir.keyspaces[name]?.forms }

  // MARK: Recording

  @Test func formsAreRecordedInTheEditThatCreatesTheKeyspace() throws {
    let store = try Machine().open()
    let before = store.engine.catalog.manifest.generation
    let space = try store.keyspace("scores", recording: Self.numbers)
    #expect(store.engine.catalog.manifest.generation == before + 1)
    #expect(space.keyForm == "int64" && space.valueForm == "cbor")
    _ = try store.keyspace("scores", recording: Self.numbers)
    _ = try store.keyspace("scores")
    #expect(store.engine.catalog.manifest.generation == before + 1)
  }

  @Test func formsAreRecordedOfAKeyspaceThatHasNone() throws {
    let store = try Machine().open()
    let space = try store.keyspace("scores")
    #expect(space.keyForm == nil && space.valueForm == nil)
    try space.record(Self.numbers)
    #expect(space.forms == Self.numbers)
    #expect(try store.keyspace("", recording: Self.texts).forms == Self.texts)
    #expect(store.default.forms == Self.texts)
  }

  @Test func whatIsRecordedStaysAndNothingElseIsRecordedWithIt() throws {
    let store = try Machine().open()
    let space = try store.keyspace("scores", recording: KeyspaceForms(keys: "int64"))
    let before = store.engine.catalog.manifest.generation
    #expect(try store.keyspace("scores", recording: Self.texts).forms == KeyspaceForms(keys: "int64"))
    #expect(store.engine.catalog.manifest.generation == before)
    try space.record(Self.numbers)
    #expect(space.forms == Self.numbers)
  }

  @Test func ofTwoThatRecordAtOnceOneWins() throws {
    for _ in 0..<20 {
      let store = try Machine().open()
      let found = Guarded<[KeyspaceForms]>([])
      try onThreads(4) { number in
        let forms = number % 2 == 0 ? Self.numbers : Self.texts
        let space = try store.keyspace("new", recording: forms)
        found.withLock { $0.append(space.forms) }
      }
      let all = found.withLock { $0 }
      #expect(all.count == 4 && Set(all).count == 1)
      #expect(store.engine.catalog.manifest.keyspaces.first { $0.name == "new" }?.forms == all.first)
      try store.close()
    }
  }

  @Test func removalForgetsFormsAndEmptyingDoesNot() throws {
    var machine = Machine()
    var store = try machine.open()
    let space = try store.keyspace("scores", recording: Self.numbers)
    try space.put("v", forKey: "k")
    try space.removeAll()
    #expect(space.forms == Self.numbers)
    try store.removeKeyspace("scores")
    #expect(throws: StoreError.keyspaceRemoved("scores")) { try space.record(Self.numbers) }
    #expect(try store.keyspace("scores", recording: Self.texts).forms == Self.texts)
    store = try machine.reopenAfterKill()
    #expect(forms(store, "scores") == Self.texts)
  }

  // MARK: Survival

  @Test func formsSurviveEverythingThatKeepsTheKeyspace() throws {
    var machine = Machine()
    var store = try machine.open()
    try store.keyspace("", recording: Self.texts).put("v", forKey: "k")
    try store.keyspace("plain").put("v", forKey: "k")
    let scores = try store.keyspace("scores", recording: Self.numbers)
    for number in 0..<400 { try scores.put([UInt8](repeating: 1, count: 900), forKey: "key \(number % 40)") }
    func check(_ moment: Comment) throws {
      #expect(forms(store, "scores") == Self.numbers && forms(store, "") == Self.texts, moment)
      #expect(forms(store, "plain") == KeyspaceForms(), moment)
      let manifest = try #require(try StoreInspection(at: machine.path, host: machine.host).manifest, moment)
      #expect(manifest.keyspaces.map(\.keyForm) == ["utf8", nil, "int64"], moment)
      #expect(manifest.keyspaces.map(\.valueForm) == ["json", nil, "cbor"], moment)
    }
    store = try machine.reopenAfterKill()
    try check("killed")
    try store.merge()
    store.probe.writeCheckpoint()
    try store.keyspace("scores").setDefaultExpiry(.seconds(60))
    try check("merged, with a checkpoint, and edited")
    try store.close()
    store = try machine.open()
    try check("closed")
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open()
    try check("rebuilt")
  }

  @Test func formsAreInABackupARestorationAndASalvage() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.keyspace("scores", recording: Self.numbers).put("v", forKey: "k")
    try store.keyspace("gone", recording: Self.texts).put("v", forKey: "k")
    try store.keyspace("late").put("v", forKey: "k")
    try store.keyspace("late").record(Self.texts)
    let snapshot = try store.snapshot()
    try store.removeKeyspace("gone")
    #expect(snapshot.keyspaceRows.first { $0.name == "gone" }?.forms == Self.texts)
    try store.backup(to: "/backup")
    try LogStore.restore(from: "/backup", to: "/restored", copying: true, host: machine.host)
    try store.close()
    _ = try LogStore.salvage(from: machine.path, to: "/salvaged", options: machine.options(), host: machine.host)
    for path in ["/backup", "/restored", "/salvaged"] {
      let copy = try LogStore(at: path, options: machine.options { $0.readOnly = true }, host: machine.host)
      #expect(try copy.keyspace("scores").forms == Self.numbers, "\(path)")
      #expect(try copy.keyspace("late").forms == Self.texts, "\(path)")
      #expect(try copy.keyspaceNames.sorted() == ["late", "scores"], "\(path)")
    }
  }

  // MARK: Crashes

  /// Power fails, or the process is killed, before each call that changes the disk: the edit is there as a whole or not at all.
  @Test(arguments: [true, false]) func formsAreThereWithTheKeyspaceOrNotAtAll(isNew: Bool) throws {
    let policies: [CrashPolicy?] = [nil, .drop, .keep] + (0..<3).flatMap { _ in [.tear, .reorder] }
    var (points, without, with) = (0, 0, 0)
    let bench = FaultBench()
    let store = try bench.open()
    if !isNew { try store.keyspace("scores").put("v", forKey: "k", durability: .synced) }
    var images: [SimulatedDisk] = []
    func look() {
      var generator = SeededGenerator(seed: UInt64(images.count))
      for policy in policies {
        guard let policy else {
          if let image = try? bench.disk.processKilled() { images.append(image) }
          continue
        }
        if let image = try? bench.disk.crashImage(policy, using: &generator) { images.append(image) }
      }
      points += 1
    }
    let isLooking = Guarded(true)
    let hook = UncheckedHook(look)
    bench.plan.onCall { _ in if isLooking.withLock({ $0 }) { hook.body() } }
    let space = try store.keyspace("scores", recording: Self.numbers)
    look()
    try space.put("w", forKey: "l", durability: .synced)
    look()
    isLooking.withLock { $0 = false }
    let last = images.suffix(policies.count * 2)
    store.probe.kill()
    for (number, image) in images.enumerated() {
      bench.disk = image
      let reopened = try bench.open(seed: UInt64(number) + 2)
      switch forms(reopened, "scores") {
      case Self.numbers: with += 1
      case nil where isNew, KeyspaceForms() where !isNew: without += 1
      case let found: Issue.record("image \(number): \(String(describing: found))")
      }
      #expect(number < images.count - last.count || forms(reopened, "scores") == Self.numbers, "image \(number)")
      reopened.probe.kill()
    }
    print("KeyspaceForm: \(points) points, \(images.count) images: \(with) with forms, \(without) without")
    #expect(with > 0 && without > 0)
  }

  // MARK: Other processes

  @Test func readersSeeFormsAndRecordNone() throws {
    let bench = ReaderBench()
    let writer = try bench.openWriter()
    let space = try writer.keyspace("scores")
    let reader = try bench.openReader()
    let seen = try reader.keyspace("scores", recording: Self.texts)
    #expect(seen.forms == KeyspaceForms())
    #expect(space.forms == KeyspaceForms())
    try space.record(Self.numbers)
    // A view that asks for forms looks whether the writer has recorded some.
    #expect(try reader.keyspace("scores", recording: Self.texts).forms == Self.numbers)
    #expect(seen.forms == Self.numbers)
    _ = try writer.keyspace("more", recording: Self.texts)
    #expect(try reader.keyspace("more", recording: Self.numbers).forms == Self.texts)
    #expect(throws: StoreError.noSuchKeyspace("none")) { try reader.keyspace("none", recording: Self.numbers) }
  }
}

/// Lends a closure of one thread to a hook that any thread may call.
private final class UncheckedHook: @unchecked Sendable {
  let body: () -> Void

  init(_ body: @escaping () -> Void) {
    self.body = body
  }
}
