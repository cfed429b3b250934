import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What is dead is gone from the files: on demand, and after the promised time.
@Suite struct ErasureTests {
  private func histories(_ count: Int, _ test: String, _ run: (UInt64) throws -> Void) {
    var seeds = SeededGenerator(announcedFor: test)
    var seed = seeds.seed
    for number in 0..<count {
      do { try run(seed) } catch {
        Issue.record("history \(number), replay with ESKER_SEED=\(seed): \(error)")
        return
      }
      seed = seeds.next() >> 32
    }
  }

  @Test(.timeLimit(.minutes(60))) func nothingDeadIsLeftAfterErasing() {
    histories(Rounds.count(25, thorough: 3_000), "nothingDeadIsLeftAfterErasing", checkErasing)
  }

  /// Few histories have a cut whose rest is overwritten with zeros that are not durable yet: this one has.
  @Test func zerosOverWhatACutLeftAreDurable() throws {
    try checkErasing(1_936_370_249)
  }

  private func checkErasing(_ seed: UInt64) throws {
    var history = try MarkedHistory(seed: seed)
    for _ in 0..<3 {
      try history.steps(40)
      try history.erase()
      let alive = try history.alive()
      try history.checkErased(alive, "after erasing")
      try history.checkErasedAfterPowerFailure(alive)
      // What is alive is: the search finds what is there.
      if !alive.isEmpty { #expect(throws: MarkedHistory.Found.self) { try history.checkErased([], "search") } }
      if history.generator.seed & 1 == 0 {
        try history.close()
        try history.checkErased(alive, "after closing")
        try history.reopen()
        let now = try history.alive()
        #expect(now.isSubset(of: alive))
        // What has expired since is alive no more, and not erased yet.
        try history.checkErased(alive, "after opening again")
      }
    }
  }

  @Test(.timeLimit(.minutes(60))) func whatWasDeadIsGoneWithinThePromisedTime() {
    histories(Rounds.count(20, thorough: 1_000), "whatWasDeadIsGoneWithinThePromisedTime") { seed in
      var history = try MarkedHistory(seed: seed, erasure: .within(.seconds(2)))
      for _ in 0..<4 {
        try history.steps(25)
        let alive = try history.alive()
        for _ in 0..<2 {
          history.machine.clock.advance(milliseconds: 1000)
          try history.settle()
        }
        try history.checkErased(alive, "after the promised time")
      }
    }
  }

  /// Nothing that is alive is lost, and what is dead is gone after the next erasure, wherever a power failure ended the first.
  @Test(.timeLimit(.minutes(60))) func anErasureMayEndAtAnyCall() {
    histories(Rounds.count(2, thorough: 100), "anErasureMayEndAtAnyCall") { seed in
      var history = try MarkedHistory(seed: seed)
      try history.steps(60)
      try history.store.sync()
      let alive = try history.alive()
      var generator = SeededGenerator(seed: seed)
      for image in try history.eraseWithFailures(&generator) {
        var other = history
        try other.continue(on: image)
        #expect(try other.alive() == alive)
        try other.erase()
        try other.checkErased(alive, "after a power failure amid the erasure")
      }
    }
  }

  // MARK: Several processes

  /// An erasure that a hand-over breaks off begins anew when the files are back, and has then erased what the others have made dead, too.
  @Test(.timeLimit(.minutes(60))) func anErasureThatIsBrokenOffBeginsAnew() {
    var broken = 0
    histories(Rounds.count(25, thorough: 2_000), "anErasureThatIsBrokenOffBeginsAnew") { seed in
      var history = try MarkedHistory(seed: seed, isInTurn: true)
      for _ in 0..<3 {
        try history.steps(30)
        if try history.eraseBesideAHandOver() { broken += 1 }
        let alive = try history.alive()
        try history.checkErased(alive, "after an erasure beside a hand-over")
        try history.checkErasedAfterPowerFailure(alive)
      }
    }
    #expect(broken > 0)
  }

  /// One in the background, between two steps of which others write, and erase as well.
  @Test(.timeLimit(.minutes(60))) func whatWasDeadIsGoneInTimeThoughOthersWrite() {
    histories(Rounds.count(20, thorough: 1_000), "whatWasDeadIsGoneInTimeThoughOthersWrite") { seed in
      var history = try MarkedHistory(seed: seed, erasure: .within(.seconds(2)), isInTurn: true)
      for _ in 0..<4 {
        try history.steps(25)
        history.machine.clock.advance(milliseconds: 1000)
        try history.settle(isDisturbed: true)
        let alive = try history.alive()
        for _ in 0..<2 {
          history.machine.clock.advance(milliseconds: 1000)
          try history.settle()
        }
        try history.checkErased(alive, "after the promised time")
      }
    }
  }

  // MARK: One at a time

  private func contains(_ text: String, _ machine: Machine) throws -> [String] {
    let wanted = Array(text.utf8)
    return try DiskImage(of: machine).files.compactMap { name, bytes in
      bytes.indices.contains { bytes[$0...].starts(with: wanted) } ? name : nil
    }
  }

  @Test func aSegmentThatIsFullOfLifeIsLeftAlone() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    for number in 0..<100 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.probe.endTail()
    try store.put("secret", forKey: "one")
    try store.put("other", forKey: "one")
    let kept = try #require(store.statistics.segments.first?.id)
    let report = try store.eraseNow()
    #expect(report.merged.segmentsRemoved == 1)
    #expect(store.statistics.segments.contains { $0.id == kept })
    #expect(try contains("secret", machine) == [])
    // Nothing is left to do.
    #expect(try store.eraseNow().merged.segmentsRemoved == 0)
  }

  /// A tombstone that the first round meets before the older value that it hides is dropped by the second.
  @Test func noTombstoneIsLeftWhoseOlderValueCameLater() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    // More segments than are merged at once, each with something dead.
    for number in 0..<20 {
      try store.put("value", forKey: "key \(number)")
      try store.put("other", forKey: "key \(number)")
      if number == 19 { try store.put("value", forKey: "secret key") }
      try store.probe.endTail()
    }
    try store.remove("secret key")
    try store.put("value", forKey: "last key")
    let last = try #require(store.probe.tailID)
    try store.probe.endTail()
    // What merges have written is merged first.
    try store.merge(segments: [last])
    try #require(contains("secret key", machine).count == 2)
    try store.eraseNow()
    #expect(try contains("secret key", machine) == [])
    #expect(try store.count() == 21)
  }

  @Test func theDictionaryHasNothingOfWhatIsErased() throws {
    let machine = Machine()
    let store = try machine.open {
      $0.merge.isAutomatic = false
      $0.compression = .lz4
    }
    // So that a dictionary has it.
    let part = "a secret that is in many values, and stands there as it is, however long it may be: "
    for number in 0..<200 { try store.put(String(repeating: part, count: 4) + "\(number)", forKey: "key \(number)") }
    for number in 0..<200 {
      try store.put(String(repeating: "nothing that matters ", count: 10), forKey: "other \(number)")
    }
    try store.merge()
    for number in 0..<200 { try store.remove("key \(number)") }
    try #require(contains("a secret that is in many values", machine) != [])
    try store.eraseNow()
    #expect(try contains("secret that is in", machine) == [])
    #expect(try store.count() == 200 && store.verify().isClean)
  }

  @Test func anOpenSnapshotKeepsItsFilesAndIsCounted() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    try store.put("secret", forKey: "one")
    try store.probe.endTail()
    let snapshot = try store.snapshot()
    try store.remove("one")
    let report = try store.eraseNow()
    #expect(report.pinnedBytes > 0)
    #expect(try snapshot.contents() == [bytes("one"): bytes("secret")])
    #expect(try contains("secret", machine) == [])
  }

  @Test func whatCannotBeErasedIsNamedAndAllElseIsErased() throws {
    var machine = Machine()
    var store = try machine.open { $0.merge.isAutomatic = false }
    try store.put("first secret", forKey: "one")
    try store.put("precious", forKey: "two")
    try store.probe.endTail()
    let damaged = try #require(store.statistics.segments.first).id
    try store.put("other secret", forKey: "three")
    try store.remove("three")
    try store.remove("one")
    try store.close()
    var image = try DiskImage(of: machine)
    let name = "\(FileName.segment(damaged))"
    let place = try #require(
      image.files[name].flatMap { bytes in bytes.indices.first { bytes[$0...].starts(with: Array("precious".utf8)) } }
    )
    image = image.flipping(name, place, bit: 0)
    machine = try image.machine()
    store = try machine.open { $0.merge.isAutomatic = false }
    let error = #expect(throws: StoreError.self) { try store.eraseNow() }
    guard case .damaged(let location, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(location.segment == damaged)
    #expect(try contains("other secret", machine) == [])
    #expect(try contains("first secret", machine) == [name])
  }

  @Test func namesOfRemovedKeyspacesAreGone() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    for number in 0..<50 { try store.keyspace("secret number \(number)").put("value", forKey: "key") }
    for number in 0..<50 { try store.removeKeyspace("secret number \(number)") }
    try #require(contains("secret number", machine) != [])
    try store.eraseNow()
    #expect(try contains("secret number", machine) == [])
  }

  @Test func anErasureWithoutTimeIsRefused() {
    #expect(throws: StoreError.self) { try Machine().open { $0.erasure = .within(.milliseconds(999)) } }
    #expect(throws: StoreError.readOnly) {
      let machine = Machine()
      try machine.open().close()
      try machine.open { $0.readOnly = true }.eraseNow()
    }
  }

  @Test func theBackgroundTellsWhatItErased() throws {
    let log = EventLog()
    let machine = Machine()
    let store = try machine.open {
      $0.erasure = .within(.seconds(10))
      $0.onEvent = { log.record($0) }
    }
    try store.put("secret", forKey: "one")
    try store.put("other", forKey: "one")
    let through = store.lastSequence
    machine.clock.advance(milliseconds: 4_999)
    while store.probe.mergeStep() {}
    #expect(try contains("secret", machine) != [])
    machine.clock.advance(milliseconds: 1)
    while store.probe.mergeStep() {}
    #expect(try contains("secret", machine) == [])
    let told = log.events.compactMap { if case .erased(let report, _) = $0 { report } else { nil } }
    #expect(told.map(\.through) == [through] && told.first?.merged.segmentsRemoved == 1)
  }

  @Test func aCacheStaysWithinItsCapacityMeanwhile() throws {
    let plan = FaultPlan()
    var machine = Machine()
    machine.calls = plan
    let store = try machine.open { $0.capacity = 1 << 20 }
    func value(_ number: Int) -> [UInt8] { Array("secret \(number) ".utf8) + [UInt8](repeating: 1, count: 900) }
    for number in 0..<3_000 {
      try store.put(value(number), forKey: "key \(number)", expiry: number % 3 == 0 ? .after(.seconds(number)) : nil)
    }
    let most = Guarded(0)
    plan.onCall { [disk = machine.disk, path = machine.path] _ in
      let names = (try? disk.list(path)) ?? []
      let bytes = names.reduce(0) { $0 + ((try? disk.status("\(path)/\($1)"))?.size ?? 0) }
      most.withLock { $0 = max($0, bytes) }
    }
    let before = try store.count()
    for number in stride(from: 0, to: 3_000, by: 7) { try store.remove("key \(number)") }
    machine.clock.advance(milliseconds: 1_500_000)
    try store.eraseNow()
    plan.onCall(nil)
    #expect(most.withLock { $0 } <= 1 << 20)
    let left = try store.snapshot().map { try $0.value() }
    #expect(left.count > before / 3)
    // The number stands in a value that is left, or nowhere.
    let alive = Set(left.map { String(decoding: $0.prefix { $0 != 1 }, as: UTF8.self) })
    for (name, bytes) in try DiskImage(of: machine).files {
      for start in bytes.indices where bytes[start...].starts(with: Array("secret ".utf8)) {
        let text = String(decoding: bytes[start...].prefix { $0 != 1 }, as: UTF8.self)
        #expect(alive.contains(text), "\(name)")
      }
    }
  }

  @Test func anErasureThatCannotBeginIsTriedAgainAfterASecond() throws {
    let plan = FaultPlan()
    var machine = Machine()
    machine.calls = plan
    let store = try machine.open {
      $0.erasure = .within(.seconds(10))
      $0.merge.isAutomatic = false
    }
    try store.put("secret", forKey: "one")
    try store.put("other", forKey: "one")
    // The segment that is written to cannot end: there is no other.
    plan.fail(.create, sticky: true, .error(PlatformError.noSpace))
    machine.clock.advance(milliseconds: 5_000)
    #expect(store.probe.delayAfterMergeStep() == 1_000_000_000)
    plan.heal()
    #expect(!store.probe.mergeStep())
    machine.clock.advance(milliseconds: 1_000)
    while store.probe.mergeStep() {}
    #expect(try contains("secret", machine) == [])
  }

  @Test func aReaderInAnotherProcessGoesOn() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    try store.put("secret", forKey: "one")
    try store.put("kept", forKey: "two")
    try store.probe.endTail()
    let reader = try machine.open { $0.readOnly = true }
    let snapshot = try reader.snapshot()
    try store.remove("one")
    try store.eraseNow()
    #expect(try contains("secret", machine) == [])
    #expect(try snapshot.contents() == [bytes("one"): bytes("secret"), bytes("two"): bytes("kept")])
    try reader.refresh()
    #expect(try reader.get("one") == nil && reader.get("two") == bytes("kept"))
  }
}
