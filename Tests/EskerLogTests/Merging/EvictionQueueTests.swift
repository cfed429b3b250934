import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Segments that make room without an edit: listed ahead, and removed when their room is needed.
@Suite struct EvictionQueueTests {
  private static let capacity = 4 << 20

  private static func open(
    _ machine: Machine,
    plan: FaultPlan? = nil,
    _ change: (inout Options) -> Void = { _ in }
  ) throws -> LogStore {
    var host = machine.host
    if let plan { host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan) }
    let options = machine.options { options in
      options.capacity = Self.capacity
      change(&options)
    }
    return try LogStore(at: machine.path, options: options, host: host)
  }

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 10_000)
  }

  /// Writes keys until so many segments have made room, from that number on; returns the next number.
  @discardableResult
  private static func write(_ store: LogStore, from start: Int, untilRemoved removed: Int) throws -> Int {
    var number = start
    while store.probe.segmentsRemoved < removed {
      try store.put(value(number), forKey: "key \(number)")
      number += 1
      try #require(number < start + 100_000)
    }
    return number
  }

  @Test func roomIsMadeWithoutListingsAndWithFewSyncs() throws {
    let machine = Machine()
    let plan = FaultPlan()
    let store = try Self.open(machine, plan: plan)
    store.probe.stopBackground()
    let number = try Self.write(store, from: 0, untilRemoved: 20)
    let (lists, syncs) = (plan.callCount(of: .list), plan.callCount(of: .sync) + plan.callCount(of: .syncDirectory))
    let removed = store.probe.segmentsRemoved
    try Self.write(store, from: number, untilRemoved: removed + 64)
    #expect(plan.callCount(of: .list) == lists)
    // A segment was created for each, which takes 4 with its edit, and an edit for each eight of those that made room.
    #expect(plan.callCount(of: .sync) + plan.callCount(of: .syncDirectory) - syncs <= 64 * 4 + 64 / 8 * 2 + 8)
    #expect(store.statistics.merges == 0, "nothing was read, so nothing is copied")
    try store.close()
  }

  /// What waits to make room may be all that is left of the log, and is not sealed in the manifest. Then records are merged away that a
  /// reader has not read: none of them was in there.
  @Test func aReaderMissesNothingInWhatWaitsToMakeRoom() throws {
    let waiting = try Self.mergeUnread(openingReaderAt: nil)
    // The reader opens when that is the log, or has met the last of it when it still took records.
    for number in [waiting.upperBound, waiting.upperBound - 2, waiting.lowerBound - 2] {
      #expect(try Self.mergeUnread(openingReaderAt: number) == waiting)
    }
  }

  /// - Parameter number: How many writes the reader sees before all that does not wait is merged away; nil to open it after that.
  /// - Returns: The numbers of the last segment that waits.
  private static func mergeUnread(openingReaderAt number: UInt64?) throws -> ClosedRange<UInt64> {
    let machine = Machine()
    let store = try Self.open(machine) { $0.merge.isAutomatic = false }
    store.probe.stopBackground()
    func mergeAllButWaiting() throws {
      try store.probe.endTail()
      store.probe.sealFinished()
      try store.sync()
      let waiting = Set(store.probe.listed.filter { $0.evictionPlace > 0 || $0.firstSequence == 0 }.map(\.id))
      // What waits for older ones takes another turn.
      for _ in 0..<5 {
        try store.probe.merge(
          store.probe.listed.map(\.id).filter { !waiting.contains($0) }.compactMap(store.probe.hold)
        )
      }
    }
    let events = EventLog()
    func openReader() throws -> LogStore {
      try Self.open(machine) {
        $0.readOnly = true
        $0.onEvent = { events.record($0) }
      }
    }
    var reader: LogStore?
    var written = 0
    while store.probe.segmentsRemoved < 10 {
      try store.put(Self.value(written), forKey: "key \(written)")
      written += 1
      if store.lastSequence.rawValue == number { reader = try openReader() }
      try #require(written < 100_000)
    }
    try store.removeAll()
    try store.probe.endTail()
    try store.put("v", forKey: "kept")
    try mergeAllButWaiting()
    let log = store.probe.listed.filter { $0.kind == .log && $0.firstSequence != 0 }
    try #require(log.allSatisfy { $0.evictionPlace > 0 } && log.contains { $0.state == .active })
    let reading = try reader ?? openReader()
    for place in 0..<40 { try store.put(Self.value(place), forKey: "kept") }
    try mergeAllButWaiting()
    try store.put("v", forKey: "last")
    try reading.refresh()
    #expect(try reading.contents() == store.contents())
    #expect(events.damage.isEmpty, "\(events.events)")
    try reading.close()
    try store.close()
    let last = try #require(log.max { $0.firstSequence < $1.firstSequence })
    return last.firstSequence...last.lastSequence
  }

  /// Between the removal of a file and that of its segment from what is to be synced.
  @Test func aSyncAmidAnEvictionDoesNotFail() throws {
    let machine = Machine()
    let plan = FaultPlan()
    let store = try Self.open(machine, plan: plan)
    store.probe.stopBackground()
    try Self.write(store, from: 0, untilRemoved: 3)
    let synced = SharedCounter()
    plan.onCall { call in
      guard call.operation == .remove, call.path.hasSuffix(".segment") else { return }
      try? machine.disk.remove(call.path)
      machine.clock.advance(milliseconds: 100)
      do { try store.sync() } catch { return }
      synced.add(1)
    }
    try Self.write(store, from: 1_000, untilRemoved: 6)
    plan.onCall(nil)
    #expect(synced.value >= 3)
    try store.sync()
    try store.close()
  }

  /// Who finds a file missing that is listed without a place among those that make room calls the whole store damaged.
  @Test func noEditListsAFileThatIsGoneAsOneThatStays() throws {
    let machine = Machine()
    let store = try Self.open(machine)
    let isDone = SharedFlag()
    let gone = Guarded<[UInt64]>([])
    let errors = try onThreads(3) { thread in
      if thread == 0 {
        defer { isDone.raise() }
        try Self.write(store, from: 0, untilRemoved: 300)
      }
      while !isDone.isRaised {
        try store.default.setDefaultExpiry(.seconds(1_000_000 + thread))
        let generation = store.probe.generation
        let rows = store.probe.listed.filter { $0.evictionPlace == 0 }
        let missing = try rows.filter { try machine.disk.status("\(machine.path)/\(FileName.segment($0.id))") == nil }
        // Unless a newer edit has given it a place.
        if store.probe.generation == generation { gone.withLock { $0 += missing.map(\.id) } }
      }
    }
    #expect(errors.isEmpty && gone.withLock { $0 }.isEmpty, "\(errors) \(gone.withLock { $0 })")
    try store.close()
  }

  @Test func whatIsListedIsReadUntilItsRoomIsNeeded() throws {
    var machine = Machine()
    let store = try Self.open(machine)
    try Self.write(store, from: 0, untilRemoved: 10)
    let listed = store.probe.listed.filter { $0.evictionPlace > 0 }
    try #require(!listed.isEmpty)
    #expect(listed.map(\.evictionPlace).sorted() == Array(1...listed.count))
    let expected = try store.contents()
    #expect(try expected.count == store.count())
    // A crash changes nothing.
    machine.disk = try machine.disk.processKilled()
    let again = try Self.open(machine)
    #expect(try again.contents() == expected)
    #expect(try again.verify().isClean)
    withExtendedLifetime(store) {}
  }

  @Test func aCloseForgetsWhatWasListed() throws {
    let machine = Machine()
    let store = try Self.open(machine)
    try Self.write(store, from: 0, untilRemoved: 10)
    try #require(store.probe.listed.contains { $0.evictionPlace > 0 })
    let expected = try store.contents()
    try store.close()
    // Even a reader sees the manifest that the close has left.
    for readOnly in [true, false] {
      let again = try Self.open(machine) { $0.readOnly = readOnly }
      #expect(again.probe.listed.allSatisfy { $0.evictionPlace == 0 })
      #expect(try again.contents() == expected)
      try again.close()
    }
  }

  /// What emptied or removed them is gone, and was never synced.
  @Test func keyspacesStayEmptyOrRemovedAfterAKill() throws {
    var machine = Machine()
    let store = try Self.open(machine)
    store.probe.stopBackground()
    for name in ["emptied", "removed"] { try store.keyspace(name).put("value", forKey: "key") }
    try store.sync()
    try store.keyspace("emptied").removeAll()
    #expect(try store.removeKeyspace("removed"))
    try Self.write(store, from: 0, untilRemoved: 4)
    machine.disk = try machine.disk.processKilled()
    let again = try Self.open(machine)
    #expect(try again.keyspaceNames == ["emptied"])
    #expect(try again.keyspace("emptied").count() == 0)
    withExtendedLifetime(store) {}
  }

  /// An older value was in a segment that a power failure has brought back, the newer one in a segment that is gone.
  @Test func whatAPowerFailureBringsBackTooEarlyIsDropped() throws {
    var machine = Machine()
    let plan = FaultPlan()
    // With spares, of which several are filled without an edit.
    let store = try Self.open(machine, plan: plan)
    let removed = Guarded<[String: [UInt8]]>([:])
    plan.onCall { [disk = machine.disk] call in
      guard call.operation == .remove, call.path.hasSuffix(".segment") else { return }
      let bytes = try? disk.open(call.path, .read).allBytes()
      removed.withLock { $0[call.path] = bytes }
    }
    // Until the manifest lists two that are gone: the next edit takes them off.
    var gone: [String] = []
    var number = 0
    while gone.count < 2 {
      try #require(number < 100_000)
      try store.put(Self.value(number), forKey: "key \(number)")
      number += 1
      gone = try store.probe.listed.filter { $0.evictionPlace > 0 }.sorted { $0.evictionPlace < $1.evictionPlace }
        .map { "\(machine.path)/\(FileName.segment($0.id))" }.filter { try machine.disk.status($0) == nil }
    }
    let expected = try store.contents()
    machine.disk = try machine.disk.processKilled()
    // The first of them is back.
    let bytes = try #require(removed.withLock { $0[gone[0]] })
    try machine.disk.open(gone[0], .create).writeAll(bytes, at: 0)
    let again = try Self.open(machine)
    #expect(try again.contents() == expected)
    #expect(try again.verify().isClean)
    try again.put("v", forKey: "k")
    try again.probe.writeManifest()
    #expect(try machine.disk.status(gone[0]) == nil, "nothing lists it any more")
    withExtendedLifetime(store) {}
  }

  /// Its file may be back, but not what was removed since.
  @Test(arguments: ReaderStateTests.VainRemoval.allCases)
  func whatWasRemovedAfterItsEvictionStaysRemoved(_ removal: ReaderStateTests.VainRemoval) throws {
    var machine = Machine()
    let store = try Self.open(machine)
    store.probe.stopBackground()
    try Self.write(store, from: 0, untilRemoved: 1)
    // What is read is spared: so no look at the key.
    let before = try store.contents()
    let number = try #require((0..<10_000).first { before[bytes("key \($0)")] != nil })
    try store.sync()
    let segments = store.statistics.segments.map(\.id)
    try store.probe.makeRoom(for: 0, isVolumeFull: true, orThrow: .closed)
    try #require(try store.get("key \(number)") == nil)
    try #require(
      store.statistics.segments.allSatisfy { segments.contains($0.id) },
      "a new file would make the removal durable"
    )
    try removal.remove("key \(number)", from: store, .synced)
    var generator = SeededGenerator(seed: 1)
    machine.disk = try machine.disk.crashImage(.drop, using: &generator)
    // With more room, or it would be evicted again at once.
    let again = try Self.open(machine) { $0.capacity = 2 * Self.capacity }
    #expect(try again.get("key \(number)") == nil)
    withExtendedLifetime(store) {}
  }

  /// Or else what is written then would pass for gone.
  @Test func afterAPowerFailureNumbersGoOnBehindWhatMadeRoom() throws {
    var machine = Machine()
    let store = try Self.open(machine)
    store.probe.stopBackground()
    try Self.write(store, from: 0, untilRemoved: 4)
    var generator = SeededGenerator(seed: 1)
    machine.disk = try machine.disk.crashImage(.drop, using: &generator)
    let again = try Self.open(machine)
    try #require(again.probe.mergedThrough > again.lastSequence.rawValue)
    #expect(try again.put("v", forKey: "k").rawValue > again.probe.mergedThrough)
    try again.close()
    withExtendedLifetime(store) {}
  }

  @Test func aFileThatCannotBeRemovedLeavesItsEntries() throws {
    let machine = Machine()
    let plan = FaultPlan()
    let store = try Self.open(machine, plan: plan)
    store.probe.stopBackground()
    let number = try Self.write(store, from: 0, untilRemoved: 3)
    let before = try store.contents()
    plan.fail(.remove, on: .suffix(".segment"), sticky: true, .error(PlatformError.inputOutput))
    var written = number
    #expect(throws: StoreError.self) {
      while true {
        try store.put(Self.value(written), forKey: "key \(written)")
        written += 1
      }
    }
    var expected = before
    for number in number..<written { expected[bytes("key \(number)")] = Self.value(number) }
    #expect(try store.contents() == expected)
    // Nor may a sync pass over what has stayed.
    try store.sync()
    var after = machine
    var generator = SeededGenerator(seed: 1)
    after.disk = try machine.disk.crashImage(.drop, using: &generator)
    let copy = try Self.open(after)
    #expect(try copy.contents() == expected)
    try copy.close()
    plan.heal()
    try Self.write(store, from: written, untilRemoved: 6)
    #expect(try store.verify().isClean)
  }

  /// A reader opens at each call that the writer makes while it goes on.
  @Test func aReaderSeesTheNewestOrNothing() throws {
    let machine = Machine()
    let plan = FaultPlan()
    let store = try Self.open(machine, plan: plan)
    store.probe.stopBackground()
    var number = try Self.write(store, from: 0, untilRemoved: 5)
    let readers = Readers(machine, Self.capacity)
    plan.onCall { call in if call.operation == .remove || call.operation == .write { readers.openAndCompare() } }
    number = try Self.write(store, from: number, untilRemoved: 9)
    plan.onCall(nil)
    #expect(readers.opened > 10)
    #expect(readers.wrong.isEmpty, "\(readers.wrong)")
  }

  /// What makes room need not be synced. The log may go on behind it in a segment of which the manifest says nothing yet.
  @Test(arguments: [false, true]) func whatIsGoneIsNotMissedThoughSomeOfItWasSynced(readOnly: Bool) throws {
    let machine = Machine()
    let store = try Self.open(machine)
    store.probe.stopBackground()
    let number = try Self.write(store, from: 0, untilRemoved: 3)
    // It was a spare when the manifest was made.
    let first = try #require(
      store.probe.segments.first { segment in
        segment.firstSequence != 0 && store.probe.listed.contains { $0.id == segment.id && $0.firstSequence == 0 }
      }
    )
    var killed = machine
    killed.disk = try machine.disk.processKilled()
    var image = try DiskImage(of: killed)
    // As if only one of the old ones were not among those that make room next, and what was synced ended amid those.
    for name in FileName.manifests {
      let bytes = try #require(image.files[name])
      var manifest = try Manifest(decoding: ContiguousArray(bytes).span.bytes)
      let log = manifest.segments.indices.filter { manifest.segments[$0].lastSequence != 0 }
        .sorted { manifest.segments[$0].firstSequence < manifest.segments[$1].firstSequence }
      let kept = try #require(log.first { image.files[FileName.segment(manifest.segments[$0].id)] != nil })
      let gone = log.filter { $0 != kept }
      try #require(gone.count > 8)
      for (place, position) in gone.enumerated() { manifest.segments[position].evictionPlace = place + 1 }
      manifest.segments[kept].evictionPlace = 0
      let middle = manifest.segments[gone[8]]
      manifest.durableSequence = middle.firstSequence
      manifest.mergedThrough = first.firstSequence - 1
      for position in gone { image.files[FileName.segment(manifest.segments[position].id)] = nil }
      image.files[name] = manifest.encoded()
    }
    let log = EventLog()
    let opened = try image.machine().open {
      $0.readOnly = readOnly
      $0.onEvent = { log.record($0) }
    }
    #expect(opened.lastSequence == store.lastSequence)
    #expect(log.damage.isEmpty, "\(log.events)")
    #expect(!log.events.contains { if case .cut = $0 { true } else { false } })
    #expect(try opened.get("key \(number - 1)") == Self.value(number - 1))
    withExtendedLifetime(store) {}
  }

  /// When the manifest was made, nothing had been written there.
  @Test func aReaderKnowsWhereASpareBegins() throws {
    let machine = Machine()
    let store = try Self.open(machine)
    store.probe.stopBackground()
    let reader = try machine.open { $0.readOnly = true }
    var begun: [SegmentFigures] = []
    var number = 0
    while begun.isEmpty {
      try #require(number < 100_000)
      try store.put(Self.value(number), forKey: "key \(number)")
      try reader.refresh()
      number += 1
      let empty = Set(store.probe.listed.filter { $0.firstSequence == 0 }.map(\.id))
      begun = store.probe.segments.filter { $0.firstSequence != 0 && empty.contains($0.id) }
    }
    for segment in begun {
      #expect(reader.probe.segments.first { $0.id == segment.id }?.firstSequence == segment.firstSequence)
    }
    try reader.close()
    try store.close()
  }

  /// A reader that lags behind by more than the whole cache.
  @Test func aReaderCatchesUpOverWhatIsGone() throws {
    let machine = Machine()
    let store = try Self.open(machine)
    store.probe.stopBackground()
    var number = try Self.write(store, from: 0, untilRemoved: 2)
    let log = EventLog()
    let reader = try machine.open {
      $0.readOnly = true
      $0.onEvent = { log.record($0) }
    }
    for removed in [3, 4, 5, 20, 90, 91, 200, 330] {
      number = try Self.write(store, from: number, untilRemoved: removed)
      try reader.refresh()
      let (shown, there) = (try reader.contents(), try store.contents())
      for (key, value) in there { #expect(shown[key] == value, "\(removed)") }
      #expect(reader.lastSequence == store.lastSequence)
    }
    #expect(log.damage.isEmpty, "\(log.events)")
    try reader.close()
    try store.close()
  }

  /// What was written, read, removed and merged in any order: a key has its newest value or none, however the store is opened.
  @Test(arguments: 0..<4) func noOlderValueComesBack(_ round: Int) throws {
    var generator = SeededGenerator(announcedFor: "noOlderValueComesBack \(round)")
    var machine = Machine()
    machine.reusesSpace = generator.oneIn(2)
    machine.leavesCheckpoints = generator.oneIn(2)
    let capacity = [256 << 10, 1 << 20, 2 << 20][Int.random(in: 0..<3, using: &generator)]
    func change(_ options: inout Options) { options.capacity = capacity }
    var store = try machine.open(change)
    var newest: [String: [UInt8]] = [:]
    var version = 0
    var evicted = 0
    let most = capacity / 64
    for step in 0..<4_000 {
      let key = "key \(Int.random(in: 0..<(capacity / 4_000), using: &generator))"
      switch Int.random(in: 0..<1_000, using: &generator) {
      case 0..<550:
        version += 1
        let value = bytes("\(version)") + [UInt8](repeating: 7, count: Int.random(in: 100..<most, using: &generator))
        try store.put(value, forKey: key)
        newest[key] = value
      case 550..<900:
        let found = try store.get(key)
        #expect(found == nil || found == newest[key], "step \(step), \(key)")
      case 900..<970:
        try store.remove(key)
        newest[key] = nil
      case 970..<976: try store.merge()
      case 976..<984: try store.sync()
      case 984..<992:
        let before = try store.contents()
        evicted += store.statistics.merged.recordsEvicted
        machine.disk = try machine.disk.processKilled()
        store = try machine.open(change)
        #expect(try store.contents() == before, "step \(step), killed")
      default:
        let before = try store.contents()
        evicted += store.statistics.merged.recordsEvicted
        try store.close()
        store = try machine.open(change)
        #expect(try store.contents() == before, "step \(step), closed")
      }
    }
    for (key, value) in try store.contents() { #expect(newest[String(decoding: key, as: UTF8.self)] == value) }
    #expect(evicted + store.statistics.merged.recordsEvicted > 0)
    #expect(try store.verify().isClean)
  }

  /// The same where a power failure may leave any mixture of what was not synced, and the store goes on from there.
  @Test(arguments: 0..<4) func noValueFromBeforeTheLastSyncComesBack(_ round: Int) throws {
    var generator = SeededGenerator(announcedFor: "noValueFromBeforeTheLastSyncComesBack \(round)")
    var machine = Machine()
    machine.reusesSpace = generator.oneIn(2)
    let capacity = [256 << 10, 1 << 20][round % 2]
    func change(_ options: inout Options) { options.capacity = capacity }
    var store = try machine.open(change)
    // What each key may have, oldest first; nil stands for none.
    var possible: [String: [[UInt8]?]] = [:]
    var version = 0
    for step in 0..<3_000 {
      let key = "key \(Int.random(in: 0..<(capacity / 4_000), using: &generator))"
      switch Int.random(in: 0..<1_000, using: &generator) {
      case 0..<600:
        version += 1
        let length = Int.random(in: 100..<capacity / 64, using: &generator)
        let value = bytes("\(version)") + [UInt8](repeating: 7, count: length)
        try store.put(value, forKey: key)
        possible[key, default: [nil]].append(value)
      case 600..<900:
        let found = try store.get(key)
        #expect(found == nil || found == possible[key]?.last, "step \(step), \(key)")
      case 900..<970:
        try store.remove(key)
        possible[key, default: [nil]].append(nil)
      case 970..<990:
        try store.sync()
        for (key, values) in possible { possible[key] = Array(values.suffix(1)) }
      default:
        machine.disk = try machine.disk.crashImage(
          [.drop, .tear, .reorder, .keep].randomElement(using: &generator)!,
          using: &generator
        )
        // First a reader, which changes nothing.
        let log = EventLog()
        let reader = try machine.open {
          $0.readOnly = true
          $0.onEvent = { log.record($0) }
        }
        let shown = try reader.contents()
        #expect(log.damage.isEmpty, "step \(step): \(log.events)")
        try reader.close()
        store = try machine.open {
          change(&$0)
          $0.onEvent = { log.record($0) }
        }
        #expect(log.damage.isEmpty, "step \(step): \(log.events)")
        #expect(try store.contents() == shown, "step \(step)")
        for (key, values) in possible {
          let found = shown[bytes(key)]
          #expect(found == nil || values.contains(found), "step \(step), \(key)")
          possible[key] = [found]
        }
        for key in shown.keys { #expect(possible[String(decoding: key, as: UTF8.self)] != nil) }
      }
    }
    let report = try store.verify()
    #expect(report.isClean, "\(report)")
  }

  /// Opens readers beside a writer, and compares what they show with what it wrote.
  private final class Readers: @unchecked Sendable {
    private let machine: Machine
    private let capacity: Int
    private(set) var opened = 0
    private(set) var wrong: [String] = []
    private var isBusy = false

    init(_ machine: Machine, _ capacity: Int) {
      self.machine = machine
      self.capacity = capacity
    }

    func openAndCompare() {
      guard !isBusy, wrong.isEmpty else { return }
      isBusy = true
      defer { isBusy = false }
      let log = EventLog()
      do {
        let reader = try machine.open {
          $0.readOnly = true
          $0.onEvent = { log.record($0) }
        }
        opened += 1
        for (key, value) in try reader.contents() {
          let number = Int(String(decoding: key.dropFirst(4), as: UTF8.self)) ?? -1
          if value != EvictionQueueTests.value(number) { wrong.append("\(number)") }
        }
        if !log.damage.isEmpty { wrong.append("\(log.events)") }
        if try !reader.verify().damage.isEmpty { wrong.append("verify") }
        try reader.close()
      } catch { wrong.append("\(error)") }
    }
  }
}
