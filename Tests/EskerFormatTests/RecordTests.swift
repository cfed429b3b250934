import EskerFormat
import Testing

/// A record written at the start of fresh memory, with everything a test wants to know about it.
struct WrittenRecord {
  static let salt: UInt32 = 0x5a17_c0de
  static let offsetUnits: UInt32 = 16
  let header: RecordHeader
  let key: [UInt8]
  let value: [UInt8]
  let memory: AlignedBytes

  init(
    key: [UInt8],
    value: [UInt8],
    kind: RecordKind = .put,
    sequence: UInt64 = 5,
    expiry: Int64 = .max,
    keyspace: KeyspaceTag = .default,
    batchContinues: Bool = false,
    durableLag: UInt16 = 2
  ) {
    self.key = key
    self.value = value
    header = RecordHeader(
      sequence: sequence,
      kind: kind,
      keyHash: kind == .seal
        ? 0 : key.withUnsafeBytes { KeyHash(seedLow: 1, seedHigh: 2, keyspace: keyspace).hash($0) },
      keyLength: key.count,
      valueLength: value.count,
      expiry: expiry,
      keyspace: keyspace,
      batchContinues: batchContinues,
      durableLag: durableLag
    )
    // Dirty memory, so that a byte that is not written shows.
    memory = AlignedBytes(Array(repeating: 0xee, count: header.size))
    let (header, memory) = (header, memory)
    key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in
        let word = RecordEncoder.write(
          header,
          key: key,
          value: value,
          bodyChecksum: RecordEncoder.bodyChecksum(key: key, value: value),
          salt: Self.salt,
          offsetUnits: Self.offsetUnits,
          to: memory.start
        )
        RecordEncoder.publish(word, at: memory.start)
      }
    }
  }

  func read(limit: Int? = nil, salt: UInt32 = Self.salt, offsetUnits: UInt32 = Self.offsetUnits) -> RecordRead {
    RecordHeader.read(at: memory.start, limit: limit ?? header.size, salt: salt, offsetUnits: offsetUnits)
  }

  func view(limit: Int? = nil) -> RecordView? { RecordView(at: memory.start, limit: limit ?? header.size) }

  /// One of each shape, small enough for every bit of each to be flipped.
  static var samples: [WrittenRecord] {
    let key = Array("user:1042".utf8)
    return [
      WrittenRecord(key: key, value: Array("Ada".utf8)),
      WrittenRecord(key: [], value: []),
      WrittenRecord(key: key, value: [], kind: .tombstone),
      WrittenRecord(key: [], value: [], kind: .seal),
      WrittenRecord(key: [], value: [], kind: .filler),
      WrittenRecord(key: key, value: Array("Ada".utf8), expiry: 1_700_000_000_000),
      WrittenRecord(key: key, value: Array("Ada".utf8), keyspace: KeyspaceTag(id: 3, incarnation: 1)),
      WrittenRecord(
        key: key,
        value: Array("Ada Lovelace".utf8),
        expiry: -1,
        keyspace: KeyspaceTag(id: 0, incarnation: 1),
        batchContinues: true
      ),
    ]
  }
}

@Suite struct RecordTests {
  @Test func roundTripKeepsEverything() throws {
    for keyLength in [0, 1, 7, 8, 9, 65_535] {
      for valueLength in [0, 1, 7, 8, 100, 70_000] {
        for expiry in [Int64.max, .min, 0, 1_700_000_000_000] {
          for keyspace in [KeyspaceTag.default, KeyspaceTag(id: 7), KeyspaceTag(id: .max, incarnation: .max)] {
            let record = WrittenRecord(
              key: Array(repeating: 0x6b, count: keyLength),
              value: Array(repeating: 0x76, count: valueLength),
              sequence: RecordLayout.maximumSequence,
              expiry: expiry,
              keyspace: keyspace,
              batchContinues: true
            )
            #expect(record.read() == .record(record.header))
            let view = try #require(record.view())
            #expect(view.damage(salt: WrittenRecord.salt, offsetUnits: WrittenRecord.offsetUnits) == nil)
            #expect(view.bodyIsIntact)
            #expect(Array(view.key) == record.key)
            #expect(Array(view.value) == record.value)
            #expect(view.expiry == expiry)
            #expect(view.keyspace == keyspace)
            #expect(view.sequence == record.header.sequence)
            #expect(view.kind == .put)
            #expect(view.size == record.header.size)
            #expect(view.size % 8 == 0)
          }
        }
      }
    }
  }

  @Test func everyFlippedBitIsDetected() throws {
    for record in WrittenRecord.samples {
      for bit in 0..<(record.header.size * 8) {
        record.memory.buffer[bit / 8] ^= 1 << (bit % 8)
        defer { record.memory.buffer[bit / 8] ^= 1 << (bit % 8) }
        let damage = record.view()?.damage(salt: WrittenRecord.salt, offsetUnits: WrittenRecord.offsetUnits)
        if bit / 8 < record.header.bodyOffset {
          if case .damaged = record.read() {} else { Issue.record("bit \(bit) of the header of \(record.header)") }
          #expect(record.view() == nil || damage != nil, "bit \(bit)")
        } else {
          #expect(record.read() == .record(record.header))
          #expect(damage == .bodyChecksum, "bit \(bit)")
          #expect(record.view()?.bodyIsIntact == false)
        }
      }
      #expect(record.read() == .record(record.header))
    }
  }

  @Test func everyTruncationIsDetected() {
    for record in WrittenRecord.samples {
      for limit in 8..<record.header.size {
        #expect(record.read(limit: limit) == .damaged(.truncated))
        #expect(record.view(limit: limit) == nil)
      }
      for limit in 0..<8 { #expect(record.read(limit: limit) == .end) }
    }
  }

  @Test func anotherPlaceOrSegmentRefusesTheRecord() {
    for record in WrittenRecord.samples {
      #expect(record.read(salt: WrittenRecord.salt ^ 1) == .damaged(.headerChecksum))
      #expect(record.read(offsetUnits: WrittenRecord.offsetUnits + 1) == .damaged(.headerChecksum))
    }
  }

  @Test func zeroWordEndsTheLog() {
    let zeros = AlignedBytes(zeros: 64)
    #expect(RecordHeader.read(at: zeros.start, limit: 64, salt: 0, offsetUnits: 0) == .end)
    #expect(RecordHeader.read(at: zeros.start, limit: 8, salt: 1, offsetUnits: 2) == .end)
  }

  @Test func unpublishedRecordIsTheEnd() {
    let record = WrittenRecord(key: [1], value: [2])
    RecordEncoder.publish(0, at: record.memory.start)
    #expect(record.read() == .end)
  }

  @Test(arguments: [
    (0, RecordDamage.unknownKind), (6, .unknownKind), (15, .unknownKind), (0x81, .compressed), (0xf2, .compressed),
    (5, .malformed), (3, .malformed), (2, .malformed), (0x33, .malformed), (0x11, .malformed), (0x21, .malformed),
  ])
  func validChecksumsDoNotExcuseNonsense(kindAndFlags: Int, expected: RecordDamage) {
    // Key and value of 8 bytes each, so that any extension words are still within the record.
    var words: [UInt64] = [0, UInt64(kindAndFlags) << 56 | 9, 42, 8 | 8 << 32, 0, 0, 0, 0]
    if kindAndFlags >> 4 == 1 { words[4] = UInt64(Int64.max) }
    let memory = AlignedBytes(words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    TestSeal.seal(memory, extensionWords: RecordFlags(rawValue: UInt8(kindAndFlags >> 4)).extensionWords)
    #expect(RecordHeader.read(at: memory.start, limit: 64, salt: 1, offsetUnits: 2) == .damaged(expected))
    #expect(RecordView(at: memory.start, limit: 64)?.damage(salt: 1, offsetUnits: 2) == expected)
  }

  @Test func valueBeyondTheLimitIsMalformed() {
    let words: [UInt64] = [0, 1 << 56 | 9, 42, 1 << 30 + 1]
    let memory = AlignedBytes(words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    TestSeal.seal(memory, extensionWords: 0)
    #expect(RecordHeader.read(at: memory.start, limit: 32, salt: 1, offsetUnits: 2) == .damaged(.malformed))
  }

  @Test func garbageIsNeverARecord() {
    var random = Seeded(4)
    let memory = AlignedBytes(zeros: 256)
    for _ in 0..<100_000 {
      memory.buffer.storeBytes(
        of: random.next(),
        toByteOffset: 8 * Int.random(in: 0..<32, using: &random),
        as: UInt64.self
      )
      let place = memory.start + 8 * Int.random(in: 0..<32, using: &random)
      let limit = memory.start + 256 - place
      if case .record = RecordHeader.read(at: place, limit: limit, salt: 9, offsetUnits: 9) {
        Issue.record("garbage passed")
      }
      if let view = RecordView(at: place, limit: limit) {
        #expect(view.damage(salt: 9, offsetUnits: 9) != nil)
        #expect(view.key.count + view.value.count <= limit)
      }
    }
  }

  @Test func durableLagSaturates() {
    #expect(RecordHeader.durableLag(sequence: 10, durable: 7) == 3)
    #expect(RecordHeader.durableLag(sequence: 10, durable: 12) == 0)
    #expect(RecordHeader.durableLag(sequence: 100_000, durable: 7) == .max)
    var header = WrittenRecord(key: [1], value: [], sequence: 10, durableLag: 3).header
    #expect(header.durableSequence == 7)
    header.durableLag = 11
    #expect(header.durableSequence == nil)
    header.durableLag = .max
    #expect(header.durableSequence == nil)
  }

  @Test func viewComparesWholeKeys() throws {
    let record = WrittenRecord(key: Array("0123456789abcdefghijklm".utf8), value: [1], keyspace: KeyspaceTag(id: 2))
    let view = try #require(record.view())
    func isFor(_ key: [UInt8], _ keyspace: KeyspaceTag = KeyspaceTag(id: 2)) -> Bool {
      key.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return false }
        return view.isFor(hash: record.header.keyHash, key: base, count: bytes.count, keyspace: keyspace)
      }
    }
    #expect(isFor(record.key))
    #expect(!isFor(record.key, KeyspaceTag(id: 3)))
    #expect(!isFor(record.key.dropLast()))
    for index in record.key.indices {
      var other = record.key
      other[index] ^= 1
      #expect(!isFor(other), "byte \(index)")
    }
  }
}
