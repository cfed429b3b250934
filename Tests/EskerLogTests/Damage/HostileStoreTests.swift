import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// Stores that somebody made up, with every checksum right.
@Suite struct HostileStoreTests {
  /// A store of some segments, keyspaces and a checkpoint, closed or not.
  private func image(isClean: Bool) throws -> DiskImage {
    var machine = Machine()
    var store = try machine.open()
    for number in 0..<300 { try store.put([UInt8](repeating: 1, count: 500), forKey: "key \(number % 150)") }
    try store.keyspace("one").put("v", forKey: "k")
    try store.merge()
    try store.close()
    store = try machine.open()
    try store.put("v", forKey: "k")
    if isClean {
      try store.close()
    } else {
      machine.disk = try machine.disk.processKilled()
    }
    return try DiskImage(of: machine)
  }

  private func manifest(_ image: DiskImage) throws -> Manifest {
    let bytes = try #require(image.files["manifest.a"])
    return try Manifest(decoding: ContiguousArray(bytes).span.bytes)
  }

  private func with(_ manifest: Manifest, _ image: DiskImage) -> DiskImage {
    var image = image
    for name in FileName.manifests { image.files[name] = manifest.encoded() }
    return image
  }

  /// Does what may need a new number of any sort. Errors are typed; nothing else happens.
  private func use(_ image: DiskImage) throws {
    // A reader asks often for a manifest that cannot be read: somebody may be writing it.
    let isReadable = (try? manifest(image)) != nil
    for readOnly in isReadable ? [true, false] : [false] {
      let machine = try image.machine()
      do throws(StoreError) {
        let store = try machine.open { $0.readOnly = readOnly }
        _ = store.statistics
        _ = try? store.verify()
        _ = try? store.usage()
        _ = try? store.snapshot().reduce(0) { sum, entry in sum + entry.valueLength }
        _ = try? store.backup(to: "/backup")
        for _ in 0..<3 {
          _ = try? store.put([UInt8](repeating: 2, count: 40_000), forKey: "large")
          _ = try? store.keyspace("one").removeAll()
          _ = try? store.keyspace("two").put("v", forKey: "k")
          _ = try? store.merge()
          _ = try? store.sync()
        }
        try? store.close()
      } catch {
        guard case .damaged = error else { throw error }
      }
    }
    guard isReadable else { return }
    let machine = try image.machine()
    _ = try? StoreInspection(at: machine.path, host: machine.host).segments.map(\.freeBytes)
    _ = try? LogStore.salvage(from: machine.path, to: "/new", options: machine.options(), host: machine.host)
  }

  private static let extremes: [UInt64] = [
    0, 1, 7, 8, 1 << 31, 1 << 32 - 1, 1 << 43, 1 << 55, 1 << 55 + 1, 1 << 56 - 1, 1 << 56, 1 << 56 + 1, 1 << 62,
    .max - 1, .max,
  ]

  @Test(arguments: [true, false]) func noNumberInAManifestIsATrap(isClean: Bool) throws {
    let image = try image(isClean: isClean)
    let good = try manifest(image)
    let fields: [WritableKeyPath<Manifest, UInt64>] = [
      \.generation, \.durableSequence, \.nextSequence, \.nextSegmentID, \.nextCheckpointID, \.checkpointID,
      \.mergedThrough,
    ]
    for field in fields {
      for value in Self.extremes {
        var manifest = good
        manifest[keyPath: field] = value
        try use(with(manifest, image))
      }
    }
    for time in [Int64.min, -1, 0, .max] {
      var manifest = good
      manifest.storeTime = time
      try use(with(manifest, image))
    }
  }

  @Test(arguments: [true, false]) func noNumberInARowIsATrap(isClean: Bool) throws {
    let image = try image(isClean: isClean)
    let good = try manifest(image)
    let fields: [WritableKeyPath<SegmentRow, UInt64>] = [
      \.id, \.firstSequence, \.lastSequence, \.recordsEnd, \.footerOffset, \.footerLength, \.neverExpiring,
      \.fileLength,
    ]
    // The first was written by a merge, the last is the log's.
    for position in [good.segments.startIndex, good.segments.endIndex - 1] {
      for field in fields {
        for value in Self.extremes {
          var manifest = good
          manifest.segments[position][keyPath: field] = value
          try use(with(manifest, image))
        }
      }
      for (granule, granules) in [(0, 0), (0, 1 << 19), (1 << 19 - 1, 1), (.max, .max)] as [(UInt32, UInt32)] {
        var manifest = good
        manifest.segments[position].granule = granule
        manifest.segments[position].granules = granules
        try use(with(manifest, image))
      }
      for time in [Int64.min, .max] {
        var manifest = good
        manifest.segments[position].minExpiry = time
        manifest.segments[position].maxExpiry = time
        try use(with(manifest, image))
      }
    }
    for position in good.keyspaces.indices {
      for value in [0, 1, 1 << 31, .max - 1, .max] as [UInt32] {
        var manifest = good
        manifest.keyspaces[position].id = value
        try use(with(manifest, image))
        manifest = good
        manifest.keyspaces[position].incarnation = value
        try use(with(manifest, image))
      }
      var manifest = good
      manifest.keyspaces[position].defaultExpiry = .max
      try use(with(manifest, image))
    }
  }

  /// A checkpoint of an image, and the same image with another one, whose checksums are right.
  private struct ForgedCheckpoint {
    let image: DiskImage
    let header: CheckpointHeader
    let meta: CheckpointMeta
    private let name: String
    private let metaRange: Range<Int>

    init(of image: DiskImage) throws {
      self.image = image
      name = try #require(image.names.first { $0.hasSuffix(".checkpoint") })
      let bytes = ContiguousArray(try #require(image.files[name]))
      header = try CheckpointHeader(decoding: bytes.span.bytes, fileLength: UInt64(bytes.count))
      metaRange = Int(header.layout.metaOffset)..<Int(header.layout.metaOffset + header.metaLength)
      let metaBytes = ContiguousArray(bytes[metaRange])
      meta = try CheckpointMeta(decoding: metaBytes.span.bytes, checksum: header.metaChecksum)
    }

    func with(_ header: CheckpointHeader, _ meta: CheckpointMeta) -> DiskImage {
      var (header, image) = (header, image)
      let metaBytes = ContiguousArray(meta.encoded())
      header.metaChecksum = CRC32C.checksum(of: metaBytes.span.bytes)
      image.files[name]?.replaceSubrange(metaRange, with: metaBytes)
      image.files[name]?.replaceSubrange(0..<CheckpointHeader.pageSize, with: header.encoded())
      return image
    }
  }

  @Test func noNumberInACheckpointIsATrap() throws {
    let forged = try ForgedCheckpoint(of: image(isClean: false))
    let (good, goodMeta) = (forged.header, forged.meta)
    func use(_ header: CheckpointHeader, _ meta: CheckpointMeta) throws { try self.use(forged.with(header, meta)) }
    let fields: [WritableKeyPath<CheckpointHeader, UInt64>] = [
      \.sequence, \.replaySegmentID, \.replayOffset, \.bucketCount, \.overflowCount, \.entryCount, \.splitPointer,
      \.metaLength,
    ]
    for field in fields {
      for value in Self.extremes {
        var header = good
        header[keyPath: field] = value
        try use(header, goodMeta)
      }
    }
    for value in Self.extremes {
      var meta = goodMeta
      for position in meta.segments.indices { meta.segments[position].liveBytes = value }
      try use(good, meta)
      meta = goodMeta
      for position in meta.segments.indices { meta.segments[position].liveRecords = value }
      try use(good, meta)
      meta = goodMeta
      for position in meta.keyspaces.indices { meta.keyspaces[position].count = value }
      try use(good, meta)
    }
  }

  /// If all bytes of a segment are live, a snapshot does not ask for each record whether it is. Nothing shows that the figures are wrong.
  @Test func figuresThatCallDeadRecordsLiveAreNoTrap() throws {
    let machine = Machine()
    var store = try machine.open()
    for number in 0..<10 { try store.put("v", forKey: "key \(number)") }
    try store.merge()
    try store.remove("key 3")
    let whole = store.statistics.segments.map { ($0.id, UInt64($0.recordBytes)) }
    try store.close()
    let forged = try ForgedCheckpoint(of: DiskImage(of: machine))
    var meta = forged.meta
    for position in meta.segments.indices {
      let bytes = try #require(whole.first { $0.0 == meta.segments[position].id }).1
      meta.segments[position].liveBytes = bytes
    }
    let image = forged.with(forged.header, meta)
    try use(image)
    store = try image.machine().open()
    #expect(try store.get("key 3") == nil)
    #expect(try store.get("key 4") == bytes("v"))
    // What was removed, too.
    #expect(try Set(store.snapshot().map { try $0.key() }) == Set((0..<10).map { bytes("key \($0)") }))
  }

  /// Its addresses would lead into whatever is there now.
  @Test(arguments: [true, false]) func aCheckpointOfAnotherSegmentIsLeftOut(isSaltWrong: Bool) throws {
    let machine = Machine()
    var store = try machine.open()
    for number in 0..<10 { try store.put("v", forKey: "key \(number)") }
    try store.close()
    let forged = try ForgedCheckpoint(of: DiskImage(of: machine))
    var meta = forged.meta
    let position = try #require(meta.segments.firstIndex { $0.liveRecords > 0 })
    if isSaltWrong { meta.segments[position].salt ^= 1 } else { meta.segments[position].granule ^= 1 }
    let image = forged.with(forged.header, meta)
    try use(image)
    let log = EventLog()
    store = try image.machine().open { $0.onEvent = { log.record($0) } }
    #expect(log.damage.count == 1)
    #expect(log.opening?.indexSource == .segments)
    #expect(try store.get("key 4") == bytes("v"))
    #expect(try store.count() == 10)
    try store.close()
  }

  static let lastNumbers: [UInt64] = [1 << 55, 1 << 56 - 1]

  @Test(arguments: lastNumbers) func aRecordWithTheLastNumbersIsRefused(_ number: UInt64) throws {
    var machine = Machine()
    let store = try machine.open()
    // So that the numbers may go on there.
    var row = RecordHeader(sequence: number, kind: .put, keyHash: 5, keyLength: 3, valueLength: 0)
    row.durableLag = 0
    try store.put("v", forKey: "k")
    store.probe.append([(row, bytes("abc"), [])])
    machine.disk = try machine.disk.processKilled()
    store.probe.kill()
    let image = try DiskImage(of: machine)
    for readOnly in [true, false] {
      #expect {
        _ = try image.machine().open { $0.readOnly = readOnly }
      } throws: { error in
        guard case StoreError.damaged(let location, let reason) = error else { return false }
        return location.path.hasSuffix(".segment") && reason.contains("#\(number)")
      }
    }
    try use(image)
  }

  /// A record of a key that shares its hash with all others made here.
  private static func alike(_ key: [UInt8]) -> (header: RecordHeader, key: [UInt8], value: [UInt8]) {
    (RecordHeader(sequence: 0, kind: .put, keyHash: 7, keyLength: key.count, valueLength: 0), key, [])
  }

  /// To compare each with all others takes a time that grows with the square of their number.
  @Test func aLogOfKeysThatShareAHashIsRefused() throws {
    var machine = Machine()
    let store = try machine.open()
    try store.put("v", forKey: "k")
    store.probe.append((0..<5_000).map { Self.alike(bytes("key \($0)")) })
    machine.disk = try machine.disk.processKilled()
    store.probe.kill()
    let image = try DiskImage(of: machine)
    let log = EventLog()
    #expect {
      _ = try image.machine().open { $0.onEvent = { log.record($0) } }
    } throws: { error in
      guard case StoreError.damaged(_, let reason) = error else { return false }
      return reason.hasPrefix(StoreProbe.tooManyAlike)
    }
    #expect(log.damage.count == 1)
    let source = try image.machine()
    let report = try LogStore.salvage(from: source.path, to: "/new", options: source.options(), host: source.host)
    #expect(report.entries == StoreProbe.mostAlike + 2)
    #expect(report.losses.count == 5_000 - StoreProbe.mostAlike - 1)
  }

  /// Only the record of a removal has the last incarnation of a keyspace.
  @Test(arguments: [UInt32(0), 1]) func aValueInARemovedKeyspaceRemovesNothing(_ id: UInt32) throws {
    var machine = Machine()
    let store = try machine.open()
    try store.put("v", forKey: "k")
    try store.keyspace("one").put("v", forKey: "k")
    for incarnation in [KeyspaceTag.removal, .max] {
      let tag = KeyspaceTag(id: id, incarnation: incarnation)
      let header = RecordHeader(sequence: 0, kind: .put, keyHash: 7, keyLength: 1, valueLength: 0, keyspace: tag)
      store.probe.append([(header, bytes("x"), [])])
    }
    let reopened = try machine.reopenAfterKill()
    store.probe.kill()
    #expect(try reopened.totalCount() == 2)
    #expect(try reopened.get("k") == bytes("v"))
    #expect(try reopened.keyspace("one").get("k") == bytes("v"))
    try reopened.close()
  }

  /// As many as chance could bring together in some other universe are told apart.
  @Test func fewKeysThatShareAHashAreToldApart() throws {
    var machine = Machine()
    let store = try machine.open()
    try store.put("v", forKey: "k")
    let keys = (0..<StoreProbe.mostAlike).map { bytes("key \($0)") }
    store.probe.append(keys.map { Self.alike($0) })
    let reopened = try machine.reopenAfterKill()
    store.probe.kill()
    #expect(try reopened.count() == 1 + StoreProbe.mostAlike)
    try reopened.close()
  }
}
