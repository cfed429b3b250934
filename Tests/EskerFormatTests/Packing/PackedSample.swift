import EskerFormat
import Foundation

/// A record as it is given to a writer.
struct PlainRecord: Hashable {
  var header: RecordHeader
  var key: [UInt8]
  var value: [UInt8]

  init(
    _ sequence: UInt64,
    _ kind: RecordKind = .put,
    key: [UInt8],
    value: [UInt8] = [],
    expiry: Int64 = .max,
    keyspace: KeyspaceTag = .default
  ) {
    let hash = KeyHash(seedLow: Sample.seed.low, seedHigh: Sample.seed.high, keyspace: keyspace)
    header = RecordHeader(
      sequence: sequence,
      kind: kind,
      keyHash: kind == .reset ? 0 : key.withUnsafeBytes { hash.hash($0) },
      keyLength: key.count,
      valueLength: value.count,
      expiry: expiry,
      keyspace: keyspace
    )
    self.key = key
    self.value = value
  }
}

/// A packed segment in memory.
struct PackedFile {
  var bytes: AlignedBytes
  var header: SegmentHeader
  var recordsEnd: Int
  var placements: [PackedSegmentWriter.Placement]

  /// Packs records, taking the output in pieces.
  init(_ records: [PlainRecord], level: LZ4Level = .high(4), dictionary: [UInt8]? = nil) throws {
    var header = Sample.segmentHeader
    header.kind = .packed
    var writer = PackedSegmentWriter(
      header: header,
      dictionary: dictionary ?? Self.dictionary(of: records),
      level: level
    )
    var file: [UInt8] = []
    for record in records {
      record.key.withUnsafeBytes { key in
        record.value.withUnsafeBytes { value in writer.append(record.header, key: key, value: value) }
      }
      if writer.pendingOutput > 10_000 { file += writer.takeOutput() }
    }
    let segment = writer.finish()
    file += segment.output
    recordsEnd = file.count
    file += segment.footer
    file.replaceSubrange(0..<SegmentHeader.length, with: segment.header.encoded())
    self.header = segment.header
    placements = segment.placements
    bytes = AlignedBytes(file)
  }

  static func dictionary(of records: [PlainRecord]) -> [UInt8] {
    var trainer = PackDictionary()
    for record in records { record.value.withUnsafeBytes { trainer.add($0) } }
    return trainer.train(length: PackDictionary.length(for: trainer.sampledBytes))
  }

  var view: PackedSegmentView {
    PackedSegmentView(
      base: UnsafeRawPointer(bytes.start),
      end: recordsEnd,
      salt: header.salt,
      dictionaryLength: header.layout.dictionaryLength
    )
  }

  func footerEntries() throws -> [FooterEntry] {
    let footer = Array(bytes.bytes[recordsEnd...])
    var cursor = try SegmentFooter(decoding: ContiguousArray(footer).span.bytes).entries(header.layout)
    var entries: [FooterEntry] = []
    while let entry = try cursor.next(in: ContiguousArray(footer).span.bytes) { entries.append(entry) }
    return entries
  }

  /// The value of a record, or what is wrong with it.
  func value(of entry: PackedEntry) -> Result<[UInt8], RecordDamage> {
    var value = [UInt8](repeating: 0xcc, count: entry.valueLength)
    let damage = value.withUnsafeMutableBytes { view.copyValue(of: entry, into: $0, isVerified: true) }
    return damage.map { .failure($0) } ?? .success(value)
  }

  /// The record behind an entry; nil when it is damaged.
  func plain(_ entry: PackedEntry) -> PlainRecord? {
    guard case .success(let value) = value(of: entry) else { return nil }
    return PlainRecord(
      entry.sequence,
      entry.kind,
      key: entry.key,
      value: value,
      expiry: entry.expiry,
      keyspace: entry.keyspace
    )
  }
}

/// Records of all sorts, from a seed.
enum PackedRecords {
  static func mixed(_ count: Int, seed: UInt64) -> [PlainRecord] {
    var random = Seeded(seed)
    var sequence: UInt64 = 1_000
    return (0..<count).map { number in
      sequence += Bool.random(using: &random) ? 1 : UInt64.random(in: 1...70_000, using: &random)
      let expiry = Int.random(in: 0..<3, using: &random) == 0 ? Int64.random(in: 1...2_000_000, using: &random) : .max
      let isElsewhere = Int.random(in: 0..<4, using: &random) == 0
      let keyspace = isElsewhere ? KeyspaceTag(id: UInt32.random(in: 1...3, using: &random)) : .default
      let key = Array("key-\(number * 7)".utf8)
      switch Int.random(in: 0..<12, using: &random) {
      case 0: return PlainRecord(sequence, .tombstone, key: key, keyspace: keyspace)
      case 1: return PlainRecord(sequence, .reset, key: [], keyspace: KeyspaceTag(id: 2, incarnation: 7))
      case 2:
        let value = random.bytes(Int.random(in: 0..<3_000, using: &random))
        return PlainRecord(sequence, key: key, value: value, expiry: expiry, keyspace: keyspace)
      case 3: return PlainRecord(sequence, key: random.bytes(300), value: [7], expiry: expiry, keyspace: keyspace)
      case 4...7:
        return PlainRecord(sequence, key: key, value: document(number), expiry: expiry, keyspace: keyspace)
      default:
        let value = Array("tiny \(number % 50)".utf8)
        return PlainRecord(sequence, key: key, value: value, expiry: expiry, keyspace: keyspace)
      }
    }
  }

  static func document(_ number: Int) -> [UInt8] {
    Array(
      """
      {"title":"Film \(number)","year":\(1900 + number % 60),\
      "cast":["Actor \(number % 37)","Actor \(number % 41)"],\
      "genres":["Drama","Silent"],"thumbnail":"https://upload.example.org/wikipedia/\(number * 31 % 997).jpg"}
      """.utf8
    )
  }
}
