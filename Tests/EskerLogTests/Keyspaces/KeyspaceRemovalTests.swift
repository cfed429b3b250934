import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// Keyspaces that are removed, and those that are created after them.
@Suite struct KeyspaceRemovalTests {
  var machine = Machine()

  private func fill(_ store: LogStore, _ names: [String], _ count: Int = 100) throws {
    for space in try store.keyspaces(names) {
      for number in 0..<count { try space.put("\(space.name) \(number)", forKey: "key \(number)") }
    }
  }

  private func expectGone(_ store: LogStore, _ moment: String) throws {
    #expect(try store.keyspaceNames == ["kept"], "\(moment)")
    #expect(try store.totalCount() == 100, "\(moment)")
    #expect(try store.keyspace("kept").get("key 7") == bytes("kept 7"), "\(moment)")
    #expect(try store.snapshot().reduce(0) { count, _ in count + 1 } == 100, "\(moment)")
    #expect(try store.verify().isClean, "\(moment)")
    guard !store.engine.env.options.readOnly else { return }
    // What was swept is counted as dead, and nothing is in the index that no keyspace has.
    store.engine.maintainer.purgeEmptiedKeyspaces()
    #expect(store.engine.keydir.count == 100, "\(moment)")
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount, "\(moment)")
  }

  @Test func aKeyspaceIsRemovedWithOneRecordAndStaysSo() throws {
    var machine = machine
    var store = try machine.open()
    try fill(store, ["gone", "kept"])
    let before = store.lastSequence.rawValue
    #expect(try store.removeKeyspace("gone"))
    #expect(store.lastSequence.rawValue == before + 1)
    #expect(try !store.removeKeyspace("gone"))
    #expect(store.lastSequence.rawValue == before + 1)
    try expectGone(store, "at once")
    store = try machine.reopenAfterKill()
    try expectGone(store, "killed")
    // The manifest no longer lists it, and its records are read again.
    try store.sync()
    try store.probe.writeManifest()
    store = try machine.reopenAfterKill()
    try expectGone(store, "killed when the manifest had forgotten it")
    try store.close()
    store = try machine.open()
    try expectGone(store, "closed")
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open()
    try expectGone(store, "rebuilt")
    try store.merge()
    try expectGone(store, "merged")
    try store.close()
    let manifest = try #require(try StoreInspection(at: machine.path, host: machine.host).manifest)
    #expect(manifest.keyspaces.map(\.name) == ["", "kept"])
  }

  @Test func handlesToARemovedKeyspaceThrow() throws {
    let store = try machine.open()
    let space = try store.keyspace("gone")
    try space.put("v", forKey: "k")
    try store.removeKeyspace("gone")
    let again = try store.keyspace("gone")
    try again.put("new", forKey: "k")
    let error = StoreError.keyspaceRemoved("gone")
    #expect(throws: error) { try space.put("v", forKey: "k") }
    #expect(throws: error) { try space.get("k") }
    #expect(throws: error) { try space.get(["k", "l"]) }
    #expect(throws: error) { try space.metadata(forKey: "k") }
    #expect(throws: error) { try space.remove("k") }
    #expect(throws: error) { try space.removeAll() }
    #expect(throws: error) { try space.update(forKey: "k") { _ in .remove } }
    #expect(throws: error) { try space.increment("k", by: 1) }
    #expect(throws: error) { try space.setDefaultExpiry(.seconds(1)) }
    #expect(throws: error) { try space.count() }
    #expect(throws: error) { try space.countExpired() }
    #expect(throws: error) { try space.removeExpired() }
    #expect(throws: error) {
      try store.write { (batch) throws(StoreError) in
        try batch.put("v", forKey: "other")
        try batch.put("v", forKey: "k", in: space)
      }
    }
    #expect(try Array(store.snapshot().entries(in: space)).isEmpty)
    #expect(try store.get("other") == nil)
    // The new one is another.
    #expect(try again.get("k") == bytes("new"))
    #expect(try again.count() == 1)
    #expect(throws: StoreError.invalidKeyspace("")) { try store.removeKeyspace("") }
  }

  /// A read that began before the removal, and looks up its key after the entries were swept.
  @Test func aReadBesideARemovalFindsTheValueOrThrows() throws {
    let store = try machine.open()
    let space = try store.keyspace("gone")
    try space.put("v", forKey: "k")
    let (core, before) = (space.core, space.core.tag)
    try store.removeKeyspace("gone")
    store.engine.maintainer.purgeEmptiedKeyspaces()
    let key = bytes("k")
    let pin = store.engine.keydir.epochs.enter()
    defer { store.engine.keydir.epochs.exit(pin) }
    #expect(throws: StoreError.keyspaceRemoved("gone")) {
      try unsafe key.withUnsafeBytes { key in
        _ = try unsafe core.lookup(core.incarnation.pointee.hash.hash(key), key, before)
      }
    }
  }

  /// What a store had no time to sweep is swept after the next opening, although the manifest has forgotten the keyspace.
  @Test(arguments: ["removed", "emptied"], ["closed", "killed"])
  func whatWasNotSweptIsSweptLater(_ way: String, _ end: String) throws {
    var machine = machine
    var store = try machine.open()
    try fill(store, ["gone", "kept"], 500)
    try store.close()
    store = try machine.open()
    #expect(store.engine.keydir.count == 1_000)
    // The maintainer has no time for it.
    store.probe.stopBackground()
    if way == "removed" { try store.removeKeyspace("gone") } else { try store.keyspace("gone").removeAll() }
    try store.sync()
    try store.probe.writeManifest()
    if end == "killed" {
      store = try machine.reopenAfterKill()
      #expect(store.engine.keydir.loadedCheckpoint != nil)
    } else {
      try store.close()
      store = try machine.open()
    }
    #expect(try store.totalCount() == 500)
    #expect(try store.snapshot().count == 500)
    try store.put("v", forKey: "k")
    #expect(store.engine.keydir.count == 501)
    #expect(!store.engine.keydir.needsPurge)
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
  }

  @Test func aSnapshotKnowsTheDefaultExpiryOfAKeyspaceThatIsGone() throws {
    let store = try machine.open()
    let space = try store.keyspace("gone")
    try space.setDefaultExpiry(.seconds(7))
    try space.put("v", forKey: "k")
    let snapshot = try store.snapshot()
    try space.setDefaultExpiry(.seconds(9))
    try store.removeKeyspace("gone")
    #expect(snapshot.keyspaceRows.first { $0.name == "gone" }?.defaultExpiry == 7_000)
  }

  @Test func aKeyspaceOfTheSameNameIsAnotherOneAfterEveryOpening() throws {
    var machine = machine
    var store = try machine.open()
    for round in 0..<5 {
      let space = try store.keyspace("again")
      #expect(try space.count() == 0)
      #expect(try space.get("k") == nil)
      try space.put("\(round)", forKey: "k", durability: round % 2 == 0 ? .synced : .buffered)
      try store.removeKeyspace("again")
      if round == 2 { store = try machine.reopenAfterKill() }
    }
    try store.keyspace("again").put("last", forKey: "k")
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open()
    #expect(try store.keyspace("again").get("k") == bytes("last"))
    #expect(try store.totalCount() == 1)
    try store.close()
    let rows = try #require(try StoreInspection(at: machine.path, host: machine.host).manifest).keyspaces
    #expect(rows.map(\.id) == [0, 6])
  }

  @Test func aSnapshotKeepsShowingWhatWasThere() throws {
    let store = try machine.open()
    try fill(store, ["gone", "kept"])
    let space = try store.keyspace("gone")
    let snapshot = try store.snapshot()
    try store.removeKeyspace("gone")
    try fill(store, ["gone"], 3)
    try store.merge()
    #expect(try snapshot.contents(of: "gone").count == 100)
    #expect(snapshot.entries(in: space).reduce(0) { count, _ in count + 1 } == 100)
  }

  @Test func mergesReclaimTheSpace() throws {
    let store = try machine.open()
    let text = [UInt8](repeating: 65, count: 1_000)
    let space = try store.keyspace("gone")
    for number in 0..<500 { try space.put(text, forKey: "key \(number)") }
    try store.put("v", forKey: "k")
    try store.removeKeyspace("gone")
    try store.merge()
    #expect(store.statistics.segments.reduce(0) { $0 + $1.recordBytes } < 100_000)
    #expect(try store.get("k") == bytes("v"))
  }

  @Test func aReaderSeesTheRemoval() throws {
    let writer = try machine.open()
    try fill(writer, ["gone", "kept"])
    let reader = try machine.open { $0.readOnly = true }
    let space = try reader.keyspace("gone")
    #expect(try space.count() == 100)
    try writer.removeKeyspace("gone")
    try reader.refresh()
    try expectGone(reader, "refreshed")
    #expect(throws: StoreError.keyspaceRemoved("gone")) { try space.get("key 1") }
    try fill(writer, ["gone"], 3)
    try reader.refresh()
    #expect(try reader.keyspace("gone").get("key 2") == bytes("gone 2"))
    #expect(try reader.keyspace("gone").count() == 3)
    try writer.removeKeyspace("gone", durability: .synced)
    try writer.merge()
    try writer.put("v", forKey: "k")
    try reader.refresh()
    #expect(try reader.keyspaceNames == ["kept"])
    #expect(try reader.get("k") == bytes("v"))
  }

  /// The log that removed the keyspace was merged away before the reader read it.
  @Test func aReaderLearnsOfARemovalFromTheManifest() throws {
    let writer = try machine.open()
    try fill(writer, ["gone", "kept"])
    let reader = try machine.open { $0.readOnly = true }
    #expect(try reader.keyspace("gone").count() == 100)
    try writer.removeKeyspace("gone", durability: .synced)
    for round in 0..<3 {
      for number in 0..<200 { try writer.put([UInt8](repeating: 1, count: 900), forKey: "key \(number)") }
      try writer.sync()
      if round > 0 { try writer.merge() }
    }
    try reader.refresh()
    #expect(try reader.keyspaceNames == ["kept"])
    #expect(try reader.totalCount() == writer.totalCount())
  }

  @Test func aFeedReportsTheRemovalAsEmptying() async throws {
    var machine = machine
    var store = try machine.open()
    try fill(store, ["gone", "kept"], 3)
    try store.write { (batch) throws(StoreError) in
      try batch.put("v", forKey: "first")
      try batch.put("v", forKey: "second", in: store.keyspace("gone"))
    }
    try store.removeKeyspace("gone")
    try store.put("last", forKey: "k")
    for moment in ["at once", "reopened"] {
      var changes = store.changes(since: SequenceNumber(rawValue: 0)).makeAsyncIterator()
      var seen: [LogChange] = []
      while seen.last?.key != bytes("k"), let change = try await changes.next() { seen.append(change) }
      let removal = try #require(seen.first { $0.kind == .removeAll })
      #expect(removal.keyspace == "gone" && removal.key.isEmpty, "\(moment)")
      #expect(removal.sequence.rawValue == 9, "\(moment)")
      #expect(seen.filter { $0.keyspace == "kept" }.count == 3, "\(moment)")
      let first = try #require(seen.first { $0.key == bytes("first") })
      // What remains of the batch after its keyspace is forgotten ends with itself.
      let second = seen.first { $0.key == bytes("second") }
      #expect(first.batchContinues == (second != nil), "\(moment)")
      store.probe.kill()
      store = try machine.reopenAfterKill()
    }
  }

  @Test func aBackupAndASalvageLackIt() throws {
    let store = try machine.open()
    try fill(store, ["gone", "kept"])
    try store.removeKeyspace("gone")
    try store.backup(to: "/backup")
    let copy = try LogStore(at: "/backup", options: machine.options(), host: machine.host)
    try expectGone(copy, "backup")
    #expect(try copy.keyspace("new").count() == 0)
    try store.close()
    for path in ["/store", "/backup"] {
      if path == "/backup" { try copy.close() }
      try LogStore.salvage(
        from: path,
        to: "/saved of \(path.dropFirst())",
        options: machine.options(),
        host: machine.host
      )
      let saved = try LogStore(at: "/saved of \(path.dropFirst())", options: machine.options(), host: machine.host)
      #expect(try saved.totalCount() == 100)
      #expect(try saved.keyspaceNames.contains("kept") && !saved.keyspaceNames.contains { $0.contains("1") })
    }
  }

  @Test func watchersAreToldAsIfItWereEmptied() throws {
    final class Watcher: WriteWatcher {
      let calls = Guarded<[String]>([])
      private func note(_ call: String) { calls.withLock { $0.append(call) } }
      func willWrite(_ key: RawSpan) { note("willWrite") }
      func didWrite(_ key: RawSpan, _ sequence: UInt64?) { note("didWrite") }
      func willEmpty() { note("willEmpty") }
      func didEmpty() { note("didEmpty") }
      func afterEmptying() { note("afterEmptying") }
      func didEnd() { note("didEnd") }
    }
    let store = try machine.open()
    let space = try store.keyspace("gone")
    let watcher = Watcher()
    space.core.keydir.env.workers.runPending()
    space.addWatcher(watcher)
    try store.removeKeyspace("gone")
    let calls = ["willEmpty", "didEmpty", "afterEmptying", "didEnd"]
    #expect(watcher.calls.withLock { $0 } == calls)
    #expect(space.core.watchers.watchers.isEmpty)
    let late = Watcher()
    space.addWatcher(late)
    #expect(late.calls.withLock { $0 } == ["didEnd"])
    try store.close()
    #expect(watcher.calls.withLock { $0 } == calls && late.calls.withLock { $0 } == ["didEnd"])
    #expect(space.core.watchers.watchers.isEmpty)
  }

  /// A writer in another process removes it.
  @Test func watchersOfAReaderAreToldWhenItIsClosed() throws {
    final class Watcher: WriteWatcher {
      let ends = Guarded<Int>(0)
      func willWrite(_ key: RawSpan) {}
      func didWrite(_ key: RawSpan, _ sequence: UInt64?) {}
      func willEmpty() {}
      func didEmpty() {}
      func afterEmptying() {}
      func didEnd() { ends.withLock { $0 += 1 } }
    }
    let writer = try machine.open()
    try writer.keyspace("gone").put("v", forKey: "k")
    let reader = try machine.open { $0.readOnly = true }
    let watchers = [Watcher(), Watcher()]
    try reader.keyspace("gone").addWatcher(watchers[0])
    reader.default.addWatcher(watchers[1])
    try writer.removeKeyspace("gone")
    try reader.refresh()
    #expect(try reader.keyspaceNames.isEmpty)
    try reader.close()
    #expect(watchers.map { $0.ends.withLock { $0 } } == [1, 1])
  }

  /// A crash at each call and each publication around a removal, and the creation of another keyspace of that name, leaves one
  /// state or the next.
  @Test func aCrashLeavesAllOfItOrNothing() throws {
    for crash in [CrashPolicy.drop, .tear, .reorder, .keep] {
      let base = Machine()
      let first = try base.open()
      try fill(first, ["gone", "kept"], 20)
      try first.sync()
      first.probe.kill()
      let disk = try base.disk.processKilled()
      let taken = Guarded<[SimulatedDisk]>([])
      let take: @Sendable () -> Void = {
        taken.withLock { images in
          var generator = SeededGenerator(seed: UInt64(images.count))
          if let image = try? disk.crashImage(crash, using: &generator) { images.append(image) }
        }
      }
      let plan = FaultPlan()
      plan.onCall { _ in take() }
      let platform = Platform.simulated(fileSystem: FaultyFileSystem(disk, plan: plan), clock: base.clock)
      let host = StoreHost(platform: platform, background: .inline, onPublish: take)
      let store = try LogStore(at: base.path, options: base.options(), host: host)
      try store.removeKeyspace("gone")
      try store.put("v", forKey: "between")
      try store.keyspace("gone").put("new", forKey: "key 1")
      try store.removeKeyspace("gone", durability: .synced)
      try store.keyspace("gone").put("newest", forKey: "key 1", durability: .synced)
      store.probe.kill()
      var states: Set<String> = []
      for image in taken.withLock({ $0 }) {
        let machine = Machine(on: image)
        let store = try machine.open()
        let state = try store.keyspaceNames.contains("gone") ? state(of: store.keyspace("gone")) : "none"
        states.insert(state)
        #expect(["all", "none", "empty", "new", "newest"].contains(state), "\(crash)")
        if state == "all" { #expect(try store.get("between") == nil) }
        #expect(try store.keyspace("kept").count() == 20)
        #expect(try store.verify().damage.filter { !$0.location.path.contains("manifest") }.isEmpty)
        store.probe.kill()
      }
      #expect(states.count > 2, "\(crash): \(states)")
    }
  }

  private func state(of space: Keyspace) throws -> String {
    switch try space.count() {
    case 20: return try (0..<20).allSatisfy { try space.get("key \($0)") == bytes("gone \($0)") } ? "all" : "wrong"
    case 0: return "empty"
    case 1: return String(decoding: try space.get("key 1") ?? [], as: UTF8.self)
    case let count: return "\(count)"
    }
  }

  @Test func manyKeyspacesAreCreatedInOneEdit() throws {
    var machine = machine
    let store = try machine.open()
    let names = (0..<500).map { "space \($0)" }
    let before = store.probe.generation
    let spaces = try store.keyspaces(names)
    #expect(store.probe.generation == before + 1)
    #expect(spaces.map(\.name) == names)
    #expect(try store.keyspaces(names.reversed()).map(\.core.id) == spaces.map(\.core.id).reversed())
    #expect(
      try store.keyspaces(["space 3", "", "space 3", "one more"]).map(\.name) == ["space 3", "", "space 3", "one more"]
    )
    let tooLong = String(repeating: "n", count: 256)
    #expect(throws: StoreError.invalidKeyspace(tooLong)) { try store.keyspaces(["not", tooLong]) }
    let again = try machine.reopenAfterKill()
    #expect(try Set(again.keyspaceNames) == Set(names + ["one more"]))
    withExtendedLifetime(store) {}
  }
}

extension Machine {
  /// A machine with a disk of another.
  init(on disk: SimulatedDisk) {
    self.init()
    self.disk = disk
  }
}
