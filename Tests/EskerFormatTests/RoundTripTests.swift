import EskerFormat
import Testing

@Suite struct RoundTripTests {
  @Test func segmentHeaderKeepsEveryField() throws {
    for kind in SegmentKind.allCases {
      var header = Sample.segmentHeader
      header.kind = kind
      header.creationTime = .min
      header.plannedCapacity = 1 << 43
      #expect(try SegmentHeader(decoding: ContiguousArray(header.encoded()).span.bytes) == header)
    }
  }

  @Test(arguments: [0, 1, 255, 256, 257, 1_000])
  func footerEntriesReadInBlocksAreThoseReadOneByOne(count: Int) throws {
    var builder = FooterBuilder(segmentID: 1, salt: 2)
    for number in 0..<count {
      builder.append(
        RecordHeader(
          sequence: UInt64(number + 1) << (number % 40),
          kind: .put,
          keyHash: UInt64(number) &* 0x9E37_79B9_7F4A_7C15,
          keyLength: number % 20,
          valueLength: 1 << (number % 25),
          expiry: number % 3 == 0 ? 5 : .max,
          keyspace: KeyspaceTag(id: number % 5 == 0 ? 7 : 0, incarnation: UInt32(number % 5 == 0 ? number : 0))
        )
      )
    }
    let bytes = builder.encoded()
    let footer = try SegmentFooter(decoding: ContiguousArray(bytes).span.bytes)
    var cursor = footer.entries()
    var block: [FooterEntry] = []
    var entries: [FooterEntry] = []
    repeat {
      try cursor.next(into: &block, from: ContiguousArray(bytes).span.bytes)
      entries += block
    } while !block.isEmpty
    #expect(entries.count == count)
    #expect(try entries == Sample.entries(of: ContiguousArray(bytes).span.bytes))
  }

  @Test func footerTellsOfEveryRecordAndNothingElse() throws {
    let bytes = Sample.footer.encoded()
    #expect(bytes.count == Sample.footer.length)
    #expect(bytes.count % 8 == 0)
    let footer = try SegmentFooter(decoding: ContiguousArray(bytes).span.bytes)
    #expect(footer.length == bytes.count)
    #expect(footer.firstSequence == 6)
    #expect(footer.lastSequence == 300)
    #expect(footer.minExpiry == -5)
    #expect(footer.maxExpiry == 1_700_000_060_000)
    #expect(footer.neverExpiring == 2)
    let entries = try Sample.entries(of: ContiguousArray(bytes).span.bytes)
    var offset: UInt64 = 128
    #expect(entries.count == Sample.records.count)
    for (entry, record) in zip(entries, Sample.records) {
      #expect(
        entry
          == FooterEntry(
            offset: offset,
            size: UInt64(record.size),
            keyHash: record.keyHash,
            sequence: record.sequence,
            keyspace: record.keyspace,
            kind: record.kind,
            expires: record.expires
          )
      )
      offset += UInt64(record.size)
    }
    #expect(footer.recordsEnd == offset)
  }

  @Test func footerOfRandomRecordsRoundTrips() throws {
    var random = Seeded(41)
    for count in [0, 1, 2, 1_000] {
      var builder = FooterBuilder(segmentID: 9, salt: 8)
      var records: [RecordHeader] = []
      for _ in 0..<count {
        let record = RecordHeader(
          sequence: random.next() >> 9,
          kind: .put,
          keyHash: random.next(),
          keyLength: Int.random(in: 0...65_535, using: &random),
          valueLength: Int.random(in: 0...(1 << 30), using: &random),
          expiry: Bool.random(using: &random) ? .max : Int64(bitPattern: random.next()),
          keyspace: Bool.random(using: &random) ? .default : KeyspaceTag(rawValue: random.next() | 1)
        )
        records.append(record)
        builder.append(record)
      }
      let bytes = builder.encoded()
      let entries = try Sample.entries(of: ContiguousArray(bytes).span.bytes)
      #expect(entries.map(\.sequence) == records.map(\.sequence))
      #expect(entries.map(\.keyspace) == records.map(\.keyspace))
      #expect(entries.map(\.keyHash) == records.map(\.keyHash))
      #expect(entries.map { Int($0.size) } == records.map(\.size))
      #expect(entries.map(\.expires) == records.map(\.expires))
    }
  }

  @Test func trailerAloneTellsTheFootersLength() throws {
    let bytes = Sample.footer.encoded()
    let trailer = try SegmentFooter(decodingTrailer: ContiguousArray(bytes.suffix(96)).span.bytes)
    #expect(trailer.length == bytes.count)
    #expect(trailer.entryCount == 4)
  }

  @Test func manifestKeepsEveryField() throws {
    let manifest = Sample.manifest
    #expect(try Manifest(decoding: ContiguousArray(manifest.encoded()).span.bytes) == manifest)
    // A file may be longer than what was written to it last.
    #expect(try Manifest(decoding: ContiguousArray(manifest.encoded() + [1, 2, 3]).span.bytes) == manifest)
    let empty = Manifest(storeID: Sample.storeID, seed: Sample.seed)
    #expect(try Manifest(decoding: ContiguousArray(empty.encoded()).span.bytes) == empty)
  }

  /// Only where there is one, so that versions from before there were any read what has none.
  @Test func manifestKeepsWhatKeyspacesMayTake() throws {
    var manifest = Sample.manifest
    let before = manifest.encoded()
    #expect(before[12] == 0)
    manifest.keyspaces[0].budget = KeyspaceBudget(bytes: 1 << 20, entries: .max)
    manifest.keyspaces[1].budget = KeyspaceBudget(bytes: .max, entries: 1000)
    let bytes = manifest.encoded()
    #expect(bytes[12] == 1 && bytes.count == before.count + 32)
    #expect(try Manifest(decoding: ContiguousArray(bytes).span.bytes) == manifest)
    for length in 1...32 {
      var cut = Array(bytes.dropLast(length))
      Repair.store(UInt32(cut.count - 40), at: 24, in: &cut)
      Repair.checksums(of: &cut, like: "manifest")
      #expect(throws: FormatError.self) { try Manifest(decoding: ContiguousArray(cut).span.bytes) }
    }
    manifest.keyspaces[0].budget = .unlimited
    manifest.keyspaces[1].budget = .unlimited
    #expect(manifest.encoded() == before)
  }

  @Test func manifestKeepsNamesOfEveryLength() throws {
    var manifest = Manifest(storeID: Sample.storeID, seed: Sample.seed)
    for length in Array(0...25) + [65_535] {
      manifest.keyspaces.append(KeyspaceRow(id: UInt32(length), name: String(repeating: "k", count: length)))
    }
    manifest.nextKeyspaceID = 65_536
    #expect(try Manifest(decoding: ContiguousArray(manifest.encoded()).span.bytes) == manifest)
  }

  @Test func manifestKeepsFormsOfEveryLength() throws {
    var manifest = Manifest(storeID: Sample.storeID, seed: Sample.seed)
    for length in 0...KeyspaceForms.longestName {
      let (keys, values) = (String(repeating: "k", count: length), String(repeating: "v", count: 255 - length))
      let forms = KeyspaceForms(keys: keys, values: values)
      manifest.keyspaces.append(KeyspaceRow(id: UInt32(length), name: "name \(length)", forms: forms))
      #expect(try KeyspaceForms(decoding: ContiguousArray(forms.encoded()).span.bytes) == forms)
    }
    manifest.nextKeyspaceID = 256
    #expect(try Manifest(decoding: ContiguousArray(manifest.encoded()).span.bytes) == manifest)
    #expect(manifest.keyspaces[0].forms.keys == nil && manifest.keyspaces[255].forms.values == nil)
  }

  @Test(arguments: [[1], [1, 0], [0, 2, 65], [1, 0, 65, 65], [1, 0, 0xFF]] as [[UInt8]])
  func formsThatLieAboutTheirLengthAreRefused(_ bytes: [UInt8]) {
    #expect(throws: FormatError.self) { try KeyspaceForms(decoding: ContiguousArray(bytes).span.bytes) }
  }

  /// The second row of the sample has a name of seven bytes behind 20, and no form.
  @Test func formsThatEndBeyondTheManifestAreRefused() throws {
    var bytes = Sample.manifest.encoded()
    bytes[bytes.count - 32 + 19] = 6
    Repair.checksums(of: &bytes, like: "manifest")
    let expected = FormatError.damaged(reason: "a keyspace's name is truncated", offset: bytes.count - 16)
    #expect(throws: expected) { try Manifest(decoding: ContiguousArray(bytes).span.bytes) }
  }

  @Test func formsAreCompletedAndNeverContradicted() {
    let none = KeyspaceForms()
    let text = KeyspaceForms(keys: "utf8")
    let both = KeyspaceForms(keys: "utf8", values: "cbor")
    #expect(none.completed(by: both) == both && text.completed(by: both) == both && both.completed(by: none) == both)
    #expect(text.completed(by: KeyspaceForms(keys: "int64", values: "cbor")) == text)
    #expect(KeyspaceForms(values: "json").completed(by: both) == KeyspaceForms(values: "json"))
    #expect(both.contradict(KeyspaceForms(keys: "int64")) && !both.contradict(text) && !none.contradict(both))
    #expect(KeyspaceForms(keys: "", values: "") == none && none.encoded().isEmpty)
  }

  @Test func manifestRefusesANextKeyspaceThatIsListed() {
    var manifest = Sample.manifest
    for next in [0, 1, 4] as [UInt32] {
      manifest.nextKeyspaceID = next
      let reason = "the next keyspace's identifier is impossible: \(next)"
      #expect(throws: FormatError.damaged(reason: reason, offset: 132)) {
        try Manifest(decoding: ContiguousArray(manifest.encoded()).span.bytes)
      }
    }
  }

  @Test func manifestRefusesSegmentsThatShareAnAddress() {
    var manifest = Sample.manifest
    manifest.segments[1].granule = 2
    #expect(throws: FormatError.damaged(reason: "two segments share an address", offset: 136)) {
      try Manifest(decoding: ContiguousArray(manifest.encoded()).span.bytes)
    }
    manifest = Sample.manifest
    manifest.segments[1].id = 3
    #expect(throws: FormatError.damaged(reason: "two segments have the same identifier", offset: 136)) {
      try Manifest(decoding: ContiguousArray(manifest.encoded()).span.bytes)
    }
    manifest = Sample.manifest
    manifest.keyspaces[1].name = "sessions"
    #expect(throws: FormatError.damaged(reason: "two keyspaces have the same identifier or name", offset: 128)) {
      try Manifest(decoding: ContiguousArray(manifest.encoded()).span.bytes)
    }
  }

  @Test func checkpointKeepsEveryField() throws {
    let header = Sample.checkpoint
    let decoded = try CheckpointHeader(
      decoding: ContiguousArray(header.encoded()).span.bytes,
      fileLength: Sample.checkpointFileLength
    )
    #expect(decoded == header)
    #expect(decoded.layout.mainOffset == 4_096)
    #expect(decoded.layout.overflowOffset == 4_096 + 8_192)
    #expect(decoded.layout.pageTableOffset == 4_096 + 8_192 + 4_096)
    #expect(decoded.layout.pageTableLength == 12)
    #expect(decoded.layout.metaOffset == decoded.layout.pageTableOffset + 16)
    let meta = Sample.meta
    #expect(
      try CheckpointMeta(decoding: ContiguousArray(meta.encoded()).span.bytes, checksum: header.metaChecksum) == meta
    )
  }

  @Test func checkpointKeepsWhereKeysAreInOrder() throws {
    var meta = Sample.meta
    let tag = KeyspaceTag(id: 3, incarnation: 4)
    meta.orders = [CheckpointMeta.Order(tag: tag, offset: 8_192, byteCount: 12_288, root: 4_096, keyCount: 300)]
    var bytes = meta.encoded()
    let checksum = CRC32C.checksum(of: ContiguousArray(bytes).span.bytes)
    #expect(
      try CheckpointMeta(decoding: ContiguousArray(bytes).span.bytes, checksum: checksum, hasOrders: true) == meta
    )
    #expect(throws: FormatError.self) {
      try CheckpointMeta(decoding: ContiguousArray(bytes).span.bytes, checksum: checksum)
    }
    // More rows than there are bytes for.
    let place = bytes.count - 48
    bytes.replaceSubrange(place..<place + 8, with: Array(repeating: 0xff, count: 8))
    #expect(throws: FormatError.self) {
      try CheckpointMeta(
        decoding: ContiguousArray(bytes).span.bytes,
        checksum: CRC32C.checksum(of: ContiguousArray(bytes).span.bytes),
        hasOrders: true
      )
    }

    var header = Sample.checkpoint
    header.hasOrders = true
    let encoded = header.encoded()
    #expect(encoded[12] == 3)
    #expect(
      try CheckpointHeader(decoding: ContiguousArray(encoded).span.bytes, fileLength: Sample.checkpointFileLength)
        .hasOrders
    )
  }

  @Test(
    arguments: [
      (8_192, 12_288, 4_096, 300, true), (8_192, 12_288, 12_288, 300, false), (0, 12_288, 0, 300, false),
      (8_193, 12_288, 0, 300, false), (8_192, 12_287, 0, 300, false), (8_192, 12_288, 8, 300, false),
      (8_192, 16_384, 0, 300, false), (8_192, 12_288, 0, 1_537, false), (1 << 63, 1 << 63, 0, 1, false),
    ] as [(UInt64, UInt64, UInt64, UInt64, Bool)]
  )
  func keysInOrderAreWithinTheFile(_ offset: UInt64, _ bytes: UInt64, _ root: UInt64, _ keys: UInt64, _ isWithin: Bool)
  {
    let tag = KeyspaceTag(id: 3, incarnation: 4)
    let row = CheckpointMeta.Order(tag: tag, offset: offset, byteCount: bytes, root: root, keyCount: keys)
    #expect(row.isWithin(20_480) == isWithin)
  }

  @Test func checkpointThatIsLongerThanItsFileIsDamaged() {
    let header = Sample.checkpoint
    let length = header.layout.fileLength(metaLength: header.metaLength)
    #expect(throws: Never.self) {
      try CheckpointHeader(decoding: ContiguousArray(header.encoded()).span.bytes, fileLength: length)
    }
    for short in [0, 4_096, 12_288, length - 1] {
      #expect(throws: FormatError.self) {
        try CheckpointHeader(decoding: ContiguousArray(header.encoded()).span.bytes, fileLength: short)
      }
    }
  }

  @Test func pageTableIsVerified() throws {
    var random = Seeded(42)
    var header = Sample.checkpoint
    var table = ContiguousArray(random.bytes(header.layout.pageTableLength))
    header.pageTableChecksum = CRC32C.checksum(of: table.span.bytes)
    try CheckpointPages.verify(table.span.bytes, header)
    let short = ContiguousArray(table.dropLast(4))
    #expect(throws: FormatError.self) { try CheckpointPages.verify(short.span.bytes, header) }
    table[5] ^= 1
    #expect(throws: FormatError.self) { try CheckpointPages.verify(table.span.bytes, header) }
  }
}
