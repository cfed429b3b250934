import EskerFormat
import Testing

/// One value of each structure, with its bytes and a way to decode them.
struct Sample: CustomTestStringConvertible, Sendable {
  let name: String
  let bytes: [UInt8]
  /// Decodes, and says in words what came out: equal words, equal values.
  let decode: @Sendable (RawSpan) throws(FormatError) -> String

  var testDescription: String { name }

  func decoded(_ bytes: [UInt8]) -> Result<String, FormatError> {
    do throws(FormatError) {
      return .success(try decode(ContiguousArray(bytes).span.bytes))
    } catch {
      return .failure(error)
    }
  }

  static let storeID = StoreID(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)
  static let seed = HashSeed(low: 0x1111_1111_1111_1111, high: 0x2222_2222_2222_2222)

  static let segmentHeader = SegmentHeader(
    storeID: storeID,
    seed: seed,
    segmentID: 3,
    salt: 0x5a17_c0de,
    kind: .log,
    creationTime: 1_700_000_000_000,
    plannedCapacity: 16 << 20
  )

  static let records = [
    RecordHeader(sequence: 7, kind: .put, keyHash: 0xaaaa, keyLength: 9, valueLength: 3),
    RecordHeader(sequence: 8, kind: .put, keyHash: 0xbbbb, keyLength: 9, valueLength: 200, expiry: 1_700_000_060_000),
    RecordHeader(
      sequence: 300,
      kind: .tombstone,
      keyHash: 0xcccc,
      keyLength: 1_000,
      valueLength: 0,
      keyspace: KeyspaceTag(id: 3, incarnation: 1)
    ),
    // A merge may lay records down out of order.
    RecordHeader(sequence: 6, kind: .put, keyHash: 0xdddd, keyLength: 0, valueLength: 0, expiry: -5),
  ]

  static var footer: FooterBuilder {
    var builder = FooterBuilder(segmentID: 3, salt: 0x5a17_c0de)
    for record in records { builder.append(record) }
    return builder
  }

  static var manifest: Manifest {
    var manifest = Manifest(storeID: storeID, seed: seed)
    manifest.generation = 12
    manifest.state = .clean
    manifest.durableSequence = 300
    manifest.nextSequence = 301
    manifest.storeTime = 1_700_000_000_123
    manifest.nextSegmentID = 5
    manifest.nextCheckpointID = 2
    manifest.checkpointID = 1
    manifest.nextKeyspaceID = 5
    manifest.mergedThrough = 200
    manifest.settings.durability = .periodic
    manifest.settings.period = 100_000_000
    manifest.settings.compression = .lz4
    manifest.settings.level = 4
    manifest.settings.expiry = .after
    manifest.settings.expiryMilliseconds = 86_400_000
    manifest.settings.segmentSize = 1 << 20
    manifest.settings.capacity = 2 << 30
    manifest.segments = [
      SegmentRow(
        id: 3,
        salt: 0x5a17_c0de,
        kind: .merged,
        state: .sealed,
        granule: 1,
        granules: 2,
        firstSequence: 6,
        lastSequence: 300,
        recordsEnd: 1_512,
        footerOffset: 1_544,
        footerLength: 160,
        minExpiry: -5,
        maxExpiry: 1_700_000_060_000,
        neverExpiring: 2,
        fileLength: 1_704
      ),
      SegmentRow(id: 4, salt: 1, kind: .log, state: .active, granule: 0, granules: 1, fileLength: 4_096),
    ]
    manifest.segments[0].evictionPlace = 2
    manifest.segments[0].mergedThrough = 290
    manifest.keyspaces = [
      KeyspaceRow(
        id: 3,
        incarnation: 1,
        defaultExpiry: 60_000,
        name: "sessions",
        forms: KeyspaceForms(keys: "int64", values: "cbor")
      ),
      KeyspaceRow(id: 4, name: "Grüße"),
    ]
    return manifest
  }

  /// What a creation and an opening after a crash have left.
  static var history: [OpeningRow] {
    var created = OpeningRow(kind: .created, time: 1_700_000_000_000)
    created.duration = 1_300_000
    var crashed = OpeningRow(kind: .afterCrash, time: 1_700_000_060_000)
    crashed.index = .checkpointAndReplay
    crashed.sync = .interrupted
    crashed.duration = 2_500_000
    crashed.lastSequence = 300
    crashed.replayedRecords = 40
    crashed.rewrittenRecords = 8
    crashed.keys = 12
    crashed.cut = .init(segment: 3, offset: 4_096, sequence: 301, records: 5, bytes: 640, segments: 1)
    crashed.damageCount = 2
    crashed.damage = [
      .init(
        segment: 3,
        offset: 1_512,
        length: 40,
        records: 1,
        file: "0000000000000003.segment",
        reason: "record 7 is lost"
      )
    ]
    return [created, crashed]
  }

  static var manifestWithHistory: Manifest {
    var manifest = manifest
    manifest.history = history
    return manifest
  }

  static let meta = CheckpointMeta(
    segments: [.init(id: 3, salt: 0x5a17_c0de, granule: 1, liveBytes: 1_000, liveRecords: 4)],
    keyspaces: [
      .init(tag: .default, count: 2, byteCount: 96, earliestExpiry: .max, hashes: nil),
      .init(
        tag: KeyspaceTag(id: 3, incarnation: 1),
        count: 1,
        byteCount: 48,
        earliestExpiry: 1_700_000_060_000,
        hashes: [0xdddd, 0xcccc]
      ),
    ]
  )

  static var checkpoint: CheckpointHeader {
    let meta = meta.encoded()
    return CheckpointHeader(
      storeID: storeID,
      checkpointID: 1,
      sequence: 300,
      replaySegmentID: 4,
      replayOffset: 128,
      bucketCount: 66,
      overflowCount: 2,
      entryCount: 3,
      level: 6,
      splitPointer: 2,
      metaLength: UInt64(meta.count),
      metaChecksum: CRC32C.checksum(of: ContiguousArray(meta).span.bytes),
      pageTableChecksum: 0x1234_5678,
      storeTime: 1_700_000_000_123
    )
  }

  static let checkpointFileLength: UInt64 = 32_768

  static func entries(of bytes: RawSpan) throws(FormatError) -> [FooterEntry] {
    var cursor = try SegmentFooter(decoding: bytes).entries()
    var entries: [FooterEntry] = []
    while let entry = try cursor.next(in: bytes) { entries.append(entry) }
    return entries
  }

  static let all = [
    Sample(name: "segment header", bytes: segmentHeader.encoded()) { bytes throws(FormatError) in
      "\(try SegmentHeader(decoding: bytes))"
    },
    Sample(name: "footer", bytes: footer.encoded()) { bytes throws(FormatError) in
      "\(try SegmentFooter(decoding: bytes)) \(try entries(of: bytes))"
    },
    Sample(name: "manifest", bytes: manifest.encoded()) { bytes throws(FormatError) in
      "\(try Manifest(decoding: bytes))"
    },
    Sample(name: "manifest with history", bytes: manifestWithHistory.encoded()) { bytes throws(FormatError) in
      "\(try Manifest(decoding: bytes))"
    },
    Sample(name: "checkpoint header", bytes: checkpoint.encoded()) { bytes throws(FormatError) in
      "\(try CheckpointHeader(decoding: bytes, fileLength: checkpointFileLength))"
    },
    Sample(name: "checkpoint meta", bytes: meta.encoded()) { bytes throws(FormatError) in
      "\(try CheckpointMeta(decoding: bytes, checksum: checkpoint.metaChecksum))"
    },
  ]
}
