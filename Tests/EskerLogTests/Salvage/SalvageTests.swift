import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

@Suite struct SalvageTests {
  typealias Contents = [String: [[UInt8]: [UInt8]]]

  private func salvage(_ machine: Machine) throws -> (SalvageReport, Contents) {
    let report = try LogStore.salvage(
      from: machine.path,
      to: "/new",
      options: machine.options(),
      host: machine.host
    )
    let store = try LogStore(at: "/new", options: machine.options(), host: machine.host)
    #expect(try store.verify().isClean)
    let contents = try contents(of: store)
    try store.close()
    return (report, contents)
  }

  private func contents(of store: LogStore) throws -> Contents {
    var result: Contents = [:]
    for entry in try store.snapshot() { result[entry.keyspace, default: [:]][try entry.key()] = try entry.value() }
    return result
  }

  /// A closed store of several segments with overwrites, removals, a batch, an emptied keyspace and expiry.
  private func large() throws -> (DiskImage, Contents) {
    let machine = Machine()
    let store = try machine.open()
    let other = try store.keyspace("other")
    let emptied = try store.keyspace("emptied")
    for number in 0..<500 {
      try store.put([UInt8](repeating: UInt8(number & 255), count: 600), forKey: "key \(number % 350)")
      if number % 5 == 0 { try other.put("other \(number)", forKey: "key \(number)", expiry: .after(.seconds(9))) }
      if number % 7 == 0 { try store.remove("key \(number / 2)") }
      if number < 100 { try emptied.put("old", forKey: "key \(number)") }
      if number == 100 { try emptied.removeAll() }
    }
    try emptied.put("new", forKey: "new")
    try store.write { (batch) throws(StoreError) in
      try batch.put("a", forKey: "batch a")
      try batch.put("b", forKey: "batch b", in: other)
    }
    let expected = try contents(of: store)
    try store.close()
    return (try DiskImage(of: machine), expected)
  }

  /// A closed store of one small segment.
  private func small() throws -> (DiskImage, Contents) {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<8 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.remove("key 3")
    try store.put("newer", forKey: "key 5")
    let expected = try contents(of: store)
    try store.close()
    return (try DiskImage(of: machine), expected)
  }

  @Test func anIntactStoreComesOutWhole() throws {
    let (image, expected) = try large()
    let (report, found) = try salvage(image.machine())
    #expect(report.isComplete)
    #expect(found == expected)
    #expect(report.entries == expected.values.reduce(0) { $0 + $1.count })
  }

  /// All of its segments are what merges wrote, packed or not.
  @Test(arguments: [true, false], [true, false])
  func whatMergesWroteComesOutWhole(isPacked: Bool, hasManifest: Bool) throws {
    var machine = try large().0.machine()
    let store = try machine.open { $0.compression = isPacked ? .lz4 : .off }
    let expected = try contents(of: store)
    try store.probe.endTail()
    try store.sync()
    try store.merge(segments: store.statistics.segments.map(\.id))
    #expect(store.statistics.segments.allSatisfy { $0.recordBytes == 0 || $0.isMerged && $0.isPacked == isPacked })
    try store.close()
    var image = try DiskImage(of: machine)
    if !hasManifest { for name in FileName.manifests { image.files[name] = nil } }
    machine = try image.machine()
    let (report, found) = try salvage(machine)
    #expect(report.losses.isEmpty, "\(report.losses)")
    #expect(report.entries == expected.values.reduce(0) { $0 + $1.count })
    #expect(found[""] == expected[""])
  }

  @Test func aDamagedByteOfAPackedSegmentIsSaid() throws {
    let packed = try PackedStore(60)
    try packed.store.close()
    let original = try DiskImage(of: packed.machine)
    let name = try #require(original.names.first { $0.hasSuffix(".segment") })
    let length = try #require(original.files[name]?.count)
    for offset in stride(from: 0, to: length, by: 23) {
      let (report, found) = try salvage(original.flipping(name, offset, bit: offset % 8).machine())
      var isAnyMissing = false
      for space in PackedStore.spaces {
        for (key, value) in packed.expected[space] ?? [:] where found[space]?[key] != value {
          isAnyMissing = true
          #expect(found[space]?[key] == nil, "offset \(offset)")
        }
        #expect((found[space] ?? [:]).keys.allSatisfy { packed.expected[space]?[$0] != nil }, "offset \(offset)")
      }
      if isAnyMissing { #expect(!report.losses.isEmpty, "offset \(offset)") }
    }
  }

  @Test func nothingOfTheSourceIsTouched() throws {
    let machine = try large().0.machine()
    let before = try DiskImage(of: machine).files
    _ = try salvage(machine)
    #expect(try DiskImage(of: machine).files == before)
  }

  @Test func withoutItsManifestsTheStoreComesOutWithoutNames() throws {
    var (image, expected) = try large()
    for name in FileName.manifests { image.files[name] = nil }
    for name in image.names where name.hasSuffix(".checkpoint") { image.files[name] = [1, 2, 3] }
    let (report, found) = try salvage(image.machine())
    #expect(!report.foundManifest && report.losses.isEmpty)
    // Identifiers are given out in order.
    expected["keyspace 1"] = expected.removeValue(forKey: "other")
    expected["keyspace 2"] = expected.removeValue(forKey: "emptied")
    #expect(found == expected)
  }

  @Test func withoutManifestsAndHeadersTheSaltIsFoundAgain() throws {
    var (image, expected) = try large()
    for name in FileName.manifests { image.files[name] = [UInt8](repeating: 0xff, count: 500) }
    for name in image.names where name.hasSuffix(".segment") {
      for offset in 0..<SegmentHeader.length { image.files[name]?[offset] = 0xaa }
    }
    let (report, found) = try salvage(image.machine())
    #expect(!report.foundManifest)
    #expect(report.losses.count == report.segments)
    expected["keyspace 1"] = expected.removeValue(forKey: "other")
    expected["keyspace 2"] = expected.removeValue(forKey: "emptied")
    #expect(found == expected)
  }

  @Test func theSequenceDecidesAndNotTheNameOfTheFile() throws {
    var (image, expected) = try large()
    for name in FileName.manifests { image.files[name] = nil }
    let names = image.names.filter { $0.hasSuffix(".segment") }
    let contents = names.map { image.files[$0] }
    for (name, bytes) in zip(names, contents.reversed()) { image.files[name] = bytes }
    let (_, found) = try salvage(image.machine())
    expected["keyspace 1"] = expected.removeValue(forKey: "other")
    expected["keyspace 2"] = expected.removeValue(forKey: "emptied")
    #expect(found == expected)
  }

  @Test func aSegmentThatIsGoneIsNamedAndAllOthersAreKept() throws {
    var (image, expected) = try large()
    let lost = try #require(image.names.filter { $0.hasSuffix(".segment") }.dropFirst().first)
    image.files[lost] = nil
    let (report, found) = try salvage(image.machine())
    #expect(report.losses.map(\.location.path) == ["/store/\(lost)"])
    #expect(report.losses.first?.reason.contains("records #") == true)
    for (keyspace, entries) in found {
      for (key, value) in entries where value != expected[keyspace]?[key] {
        // An older value, or one whose removal is lost.
        #expect(keyspace.isEmpty)
      }
    }
    #expect(report.entries > 200)
  }

  /// Every byte of a small store, one at a time, with and without its manifest.
  @Test(arguments: [true, false])
  func aDamagedByteCostsAtMostItsRecord(hasManifest: Bool) throws {
    let (original, expected) = try small()
    var image = original
    if !hasManifest { for name in FileName.manifests { image.files[name] = nil } }
    let old: [[UInt8]: [UInt8]] = [bytes("key 3"): bytes("value 3"), bytes("key 5"): bytes("value 5")]
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    var lossless = 0
    for offset in 0..<min(800, image.files[name]?.count ?? 0) {
      let (report, found) = try salvage(image.flipping(name, offset, bit: offset % 8).machine())
      var missing = 0
      for (key, value) in expected[""] ?? [:] where found[""]?[key] != value {
        missing += 1
        #expect(found[""]?[key] == nil || found[""]?[key] == old[key], "offset \(offset)")
      }
      let back = (found[""] ?? [:]).filter { expected[""]?[$0.key] == nil }
      #expect(back.allSatisfy { old[$0.key] == $0.value }, "offset \(offset)")
      #expect(missing + back.count <= 1, "offset \(offset)")
      // What is missing is said.
      if missing + back.count > 0 { #expect(!report.losses.isEmpty, "offset \(offset)") }
      if report.losses.isEmpty { lossless += 1 }
    }
    print("Salvage: \(lossless) flips cost nothing")
    #expect(lossless > 0)
  }

  @Test func aFileCutAnywhereKeepsWhatIsBeforeTheCut() throws {
    let (image, expected) = try small()
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    var best = 0
    for length in stride(from: 0, through: 700, by: 8) {
      let (report, found) = try salvage(image.truncating(name, to: length).machine())
      let count = found[""]?.count ?? 0
      // Older values come to light where newer ones are cut off, and nothing else.
      #expect(count >= best - 1, "length \(length)")
      best = max(best, count)
      if found != expected { #expect(!report.isComplete, "length \(length)") }
    }
    #expect(best >= 7)
  }

  @Test func anOlderValueThatIsKeptIsNamed() throws {
    let (image, _) = try small()
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let place = try #require(image.files[name].map { Self.find("newer", in: $0) } ?? nil)
    let (report, found) = try salvage(image.flipping(name, place, bit: 2).machine())
    #expect(found[""]?[bytes("key 5")] == bytes("value 5"))
    let loss = try #require(report.losses.first)
    #expect(report.losses.count == 1)
    #expect(loss.keptOlderValue)
    #expect(loss.location.key == bytes("key 5"))
    #expect(loss.location.segment == 1)
  }

  @Test func aDamagedRecordThatWasSupersededIsNoLoss() throws {
    let (image, expected) = try small()
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let place = try #require(image.files[name].map { Self.find("value 5", in: $0) } ?? nil)
    let (report, found) = try salvage(image.flipping(name, place, bit: 2).machine())
    #expect(report.isComplete)
    #expect(found == expected)
  }

  // MARK: Gaps between segments

  /// Numbers of records that can be read of a segment.
  private func numbers(of name: String, in image: DiskImage) throws -> [UInt64] {
    let machine = try image.machine()
    let inspection = try StoreInspection(at: machine.path, host: machine.host)
    let id = try #require(FileName.segmentID(name))
    return try inspection.records(of: id).compactMap { element in
      guard case .record(let record) = element, record.kind == .put else { return nil }
      return record.sequence.rawValue
    }
  }

  @Test func aKilledStoreComesOutWhole() throws {
    let store = try KilledStore()
    let (report, found) = try salvage(store.image.machine())
    #expect(report.isComplete, "\(report.losses)")
    #expect(found[""]?.count == store.keys)
  }

  /// Full segments are not sealed yet, so that only what comes behind tells what they had.
  @Test func numbersThatAreMissingBetweenTwoSegmentsAreNamed() throws {
    let store = try KilledStore()
    let row = try #require(store.full.first)
    let name = FileName.segment(row.id)
    let all = try numbers(of: name, in: store.image)
    for length in [128, 10_000, 26_612, 40_000] {
      let image = store.image.truncating(name, to: length)
      let left = try numbers(of: name, in: image)
      let (report, found) = try salvage(image.machine())
      #expect((found[""]?.count ?? 0) < store.keys)
      #expect(!report.isComplete)
      let first = (left.last ?? (all[0] - 1)) + 1
      let losses = report.losses.filter { $0.location.segment == row.id }
      #expect(
        losses.contains { $0.reason.hasSuffix("records #\(first) to #\(all[all.count - 1])") },
        "\(length): \(report.losses)"
      )
      #expect(report.losses.count == losses.count, "\(report.losses)")
      #expect(Set(losses.map(\.location.offset)).count == losses.count, "\(losses)")
    }
  }

  /// The file of the last segment is as long as it should be, and its records are gone: a durable number tells.
  @Test func numbersThatAreMissingAtTheEndAreNamedAsFarAsTheyWereDurable() throws {
    var machine = Machine()
    let store = try machine.open()
    for number in 0..<20 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.sync()
    // An edit of the manifest keeps the durable number.
    _ = try store.keyspace("other")
    store.probe.kill()
    machine.disk = try machine.disk.processKilled()
    var image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let places = try StoreInspection(at: machine.path, host: machine.host).records(of: 1).compactMap { element in
      if case .record(let record) = element { record.offset } else { nil }
    }
    for offset in places[12]..<(image.files[name]?.count ?? 0) { image.files[name]?[offset] = 0 }
    let (report, found) = try salvage(image.machine())
    #expect(found[""]?.count == 12)
    #expect(report.losses.map(\.reason) == ["missing after the part of the log that is present: records #13 to #20"])
    #expect(report.losses.map(\.location.offset) == [places[12]])
  }

  /// Where recovery has cut, and where merges took segments away, numbers are missing that nobody misses.
  @Test func recordedCutsAndMergesAreNoGaps() throws {
    var machine = Machine()
    var store = try machine.open { $0.merge.isAutomatic = false }
    func put(_ range: Range<Int>) throws {
      for number in range { try store.put([UInt8](repeating: 1, count: 700), forKey: "key \(number)") }
    }
    try put(0..<300)
    store.probe.kill()
    machine.disk = try machine.disk.processKilled()
    // A page of the last segment that was never written.
    var image = try DiskImage(of: machine)
    let last = try #require(image.names.last { $0.hasSuffix(".segment") && (image.files[$0] ?? []).contains(1) })
    for offset in 8192..<12288 { image.files[last]?[offset] = 0 }
    machine = try image.machine()
    let log = EventLog()
    store = try machine.open {
      $0.merge.isAutomatic = false
      $0.onEvent = { log.record($0) }
    }
    #expect(log.events.contains { if case .cut = $0 { true } else { false } })
    try put(0..<250)
    try store.sync()
    let ids = store.statistics.segments.filter { $0.isSealed && !$0.isMerged }.map(\.id)
    try store.merge(segments: [ids[1], ids[3]])
    let expected = try contents(of: store)
    try store.close()
    let (report, found) = try salvage(machine)
    #expect(report.isComplete, "\(report.losses)")
    #expect(found == expected)
  }

  private static func find(_ text: String, in bytes: [UInt8]) -> Int? {
    let wanted = Array(text.utf8)
    return bytes.indices.first { bytes[$0...].starts(with: wanted) }
  }

  @Test func expiryIsKeptAndWhatHasExpiredStaysBehind() throws {
    let machine = Machine()
    let store = try machine.open()
    let end = WallTime(millisecondsSince1970: machine.clock.wallMilliseconds() + 60_000)
    try store.put("v", forKey: "long", expiry: .at(end))
    try store.put("old", forKey: "short")
    try store.put("v", forKey: "short", expiry: .after(.seconds(1)))
    try store.close()
    machine.clock.advance(milliseconds: 5000)
    let (report, found) = try salvage(machine)
    #expect(found == ["": [bytes("long"): bytes("v")]])
    #expect(report.expired == 1)
    let new = try LogStore(at: "/new", options: machine.options(), host: machine.host)
    #expect(try new.metadata(forKey: "long")?.expiry == .at(end))
  }

  @Test func aBatchThatACrashCutOffStaysAway() throws {
    var machine = Machine()
    let store = try machine.open()
    try store.put("v", forKey: "k")
    try store.write { (batch) throws(StoreError) in
      for number in 0..<3 { try batch.put("batch", forKey: "batch \(number)") }
    }
    store.probe.kill()
    machine.disk = try machine.disk.processKilled()
    var image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let last = try #require(image.files[name].map { Self.find("batch 2", in: $0) } ?? nil)
    // The record was never written.
    for offset in (last - 32)..<(last + 16) { image.files[name]?[offset] = 0 }
    let (report, found) = try salvage(image.machine())
    #expect(found == ["": [bytes("k"): bytes("v")]])
    #expect(report.losses.count == 1)
  }

  @Test func aStoreThatIsBeingWrittenIsRefused() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put("v", forKey: "k")
    #expect(throws: StoreError.locked(path: "/store", holder: 4711)) { try salvage(machine) }
    try store.close()
    #expect(throws: Never.self) { try salvage(machine) }
    #expect(throws: StoreError.directoryNotEmpty(path: "/new")) { try salvage(machine) }
    #expect(throws: StoreError.notAStore(path: "/nothing")) {
      try LogStore.salvage(from: "/nothing", to: "/newer", options: machine.options(), host: machine.host)
    }
  }

  @Test func anotherStoresSegmentIsLeftOut() throws {
    var (image, expected) = try large()
    let other = Machine()
    let platform = other.disk.platform(clock: other.clock, seed: 2)
    let host = StoreHost(platform: platform, background: .inline)
    let store = try LogStore(at: other.path, options: other.options(), host: host)
    try store.put("foreign", forKey: "foreign")
    try store.close()
    let name = try #require(try DiskImage(of: other).names.first { $0.hasSuffix(".segment") })
    image.files["00000000000000ff.segment"] = try DiskImage(of: other).files[name]
    for name in FileName.manifests { image.files[name] = nil }
    let (report, found) = try salvage(image.machine())
    #expect(report.losses.map(\.reason) == ["the file is a segment of another store"])
    expected["keyspace 1"] = expected.removeValue(forKey: "other")
    expected["keyspace 2"] = expected.removeValue(forKey: "emptied")
    #expect(found == expected)
  }

  /// A removal whose key is damaged removes by the hash in its header, also what is read after it.
  @Test func aRemovalWithADamagedKeyRemoves() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    for number in 0..<20 { try store.put("value \(number)", forKey: "key \(number % 15)") }
    try store.probe.endTail()
    // What the removal is to hide comes to lie in a segment that was created after the removal's.
    try store.merge(segments: [1])
    try store.remove("key 7")
    let contents = try store.contents()
    try store.close()
    let inspection = try StoreInspection(at: machine.path, host: machine.host)
    var places: [Int] = []
    for case .record(let record) in try inspection.records(of: 2) where record.kind == .tombstone {
      places.append(record.offset)
    }
    var image = try DiskImage(of: machine)
    let name = FileName.segment(2)
    image.files[name]?[try #require(places.first) + 34] ^= 1
    let damaged = try image.machine()
    _ = try LogStore.salvage(from: damaged.path, to: "/new", options: damaged.options(), host: damaged.host)
    let salvaged = try LogStore(at: "/new", options: damaged.options(), host: damaged.host)
    #expect(try salvaged.contents() == contents)
    try salvaged.close()
  }
}
