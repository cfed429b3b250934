import EskerFormat

/// The records of a packed segment.
enum PackedExamination {
  /// What is decompressed at most of each record. Each byte may claim to become 255.
  private static let longest = 16 << 10
  /// How many records are read in all ways, so that each execution stays short.
  private static let mostRead = 24

  /// Reads whatever may be a record. What is intact is the same when it is packed again.
  static func examine(_ input: UnsafeRawBufferPointer, salt: UInt32, dictionaryLength: Int) {
    guard let base = input.baseAddress else { return }
    let view = PackedSegmentView(base: base, end: input.count, salt: salt, dictionaryLength: dictionaryLength)
    var found = 0
    for offset in stride(from: 0, to: input.count + 16, by: 8) {
      guard let entry = view.entry(at: offset), found < mostRead else { continue }
      found += 1
      read(entry, view)
      _ = view.fields(at: offset)
    }
    let records = walk(view)
    if dictionaryLength <= PackedLayout.maximumDictionaryLength { repack(records, Array(view.dictionary)) }
  }

  /// Reads a value in each way that there is. All that are verified must come to the same.
  private static func read(_ entry: PackedEntry, _ view: PackedSegmentView) {
    guard entry.plainLength <= longest else { return }
    let damage = view.damage(of: entry)
    let verified = copy(entry, view, isVerified: true)
    require((damage == nil) == (verified != nil), "a record is intact and cannot be read, or the other way round")
    let unverified = copy(entry, view, isVerified: false)
    if let verified {
      require(unverified == verified, "a value depends on whether it is verified")
      let inBuffer = copy(entry, view, isVerified: true, inBuffer: true)
      require(inBuffer == verified, "a value depends on where it is unpacked")
      if let stored = view.storedValue(of: entry) {
        require(stored.elementsEqual(verified), "a stored value is another")
      }
    }
    require(!view.storedValueIsIntact(entry) || verified != nil, "a stored value is intact, and the record is not")
    require(entry.key.count == entry.keyLength, "a key has another length")
    require(entry.key.withUnsafeBytes { entry.isFor($0, keyspace: entry.keyspace) }, "a record is not for its key")
    _ = entry.keyHash(Sample.seed)
  }

  private static func copy(
    _ entry: PackedEntry,
    _ view: PackedSegmentView,
    isVerified: Bool,
    inBuffer: Bool = false
  ) -> [UInt8]? {
    var value = [UInt8](repeating: 0xcc, count: entry.valueLength)
    var buffer = Array(view.dictionary) + [UInt8](repeating: 0, count: entry.plainLength)
    let damage = value.withUnsafeMutableBytes { value in
      buffer.withUnsafeMutableBytes { buffer in
        view.copyValue(of: entry, into: value, isVerified: isVerified, buffer: inBuffer ? buffer.baseAddress : nil)
      }
    }
    return damage == nil ? value : nil
  }

  private typealias Record = (header: RecordHeader, key: [UInt8], value: [UInt8])

  /// The intact records, as a walk finds them.
  private static func walk(_ view: PackedSegmentView) -> [Record] {
    var records: [Record] = []
    var walk = PackedWalk(view)
    var end = view.recordsStart
    while let step = walk.next(in: view) {
      switch step {
      case .damaged(let range):
        // A cell may begin with records that are intact.
        require(range.upperBound > end, "a walk stands still")
        end = range.upperBound
      case .record(let entry):
        require(entry.offset >= end, "a walk goes back")
        end = entry.offset
        guard entry.plainLength <= longest, let value = copy(entry, view, isVerified: true) else { continue }
        let header = RecordHeader(
          sequence: entry.sequence,
          kind: entry.kind,
          keyHash: entry.keyHash(Sample.seed),
          keyLength: entry.keyLength,
          valueLength: value.count,
          expiry: entry.expiry,
          keyspace: entry.keyspace
        )
        records.append((header, entry.key, value))
      }
    }
    return records
  }

  private static func repack(_ records: [Record], _ dictionary: [UInt8]) {
    // Fillers have no place in a packed segment, though its records can say that they are.
    let records = records.filter { $0.header.kind != .filler }
    guard !records.isEmpty, records.reduce(0, { $0 + $1.value.count }) <= 4 * longest else { return }
    var writer = PackedSegmentWriter(header: Sample.segmentHeader, dictionary: dictionary, level: .fast)
    for record in records {
      record.key.withUnsafeBytes { key in
        record.value.withUnsafeBytes { value in writer.append(record.header, key: key, value: value) }
      }
    }
    let segment = writer.finish()
    let bytes = AlignedBytes(segment.output)
    let view = PackedSegmentView(
      base: UnsafeRawPointer(bytes.start),
      end: segment.output.count,
      salt: Sample.segmentHeader.salt,
      dictionaryLength: segment.header.layout.dictionaryLength
    )
    for (record, placement) in zip(records, segment.placements) {
      guard let entry = view.entry(at: placement.offset), let value = copy(entry, view, isVerified: true) else {
        fatalError("a record that was just packed cannot be read")
      }
      require(entry.key == record.key && value == record.value, "a record became another")
      require(
        entry.sequence == record.header.sequence && entry.kind == record.header.kind
          && entry.expiry == record.header.expiry && entry.keyspace == record.header.keyspace,
        "\(record.header) became another"
      )
    }
  }
}

/// Compresses blocks into arrays.
struct Compressor: ~Copyable {
  private var compressor: LZ4Compressor

  init(dictionary: [UInt8]) { compressor = LZ4Compressor(level: .fast, dictionary: dictionary) }

  mutating func compress(_ bytes: [UInt8]) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: LZ4.bound(bytes.count) ?? 0)
    let length = bytes.withUnsafeBytes { bytes in
      block.withUnsafeMutableBytes { compressor.compress(bytes, into: $0) }
    }
    guard let length else { fatalError("\(bytes.count) bytes do not fit into \(block.count) when compressed") }
    return Array(block[..<length])
  }
}
