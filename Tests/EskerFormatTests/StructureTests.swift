import EskerFormat
import Testing

/// What holds for every structure that is not a record.
@Suite struct StructureTests {
  @Test(arguments: Sample.all)
  func everyFlippedBitIsDetected(_ sample: Sample) {
    // The words that change in a segment's header have a sum of their own.
    let changing = sample.name == "segment header" ? ReuseWords.offset..<ReuseWords.offset + ReuseWords.length : 0..<0
    for bit in 0..<(sample.bytes.count * 8) where !changing.contains(bit / 8) {
      var damaged = sample.bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      if case .success = sample.decoded(damaged) { Issue.record("bit \(bit % 8) of byte \(bit / 8) went unseen") }
    }
  }

  @Test(arguments: Sample.all)
  func everyTruncationIsDetected(_ sample: Sample) {
    for count in 0..<sample.bytes.count {
      if case .success = sample.decoded(Array(sample.bytes.prefix(count))) { Issue.record("\(count) bytes passed") }
    }
  }

  @Test(arguments: Sample.all)
  func garbageIsAnError(_ sample: Sample) {
    var random = Seeded(31)
    for round in 0..<20_000 {
      var garbage = random.bytes(Int.random(in: 0..<64, using: &random))
      // Half of them start as the structure does.
      if round % 2 == 0 {
        garbage = Array(sample.bytes.prefix(Int.random(in: 0..<sample.bytes.count, using: &random))) + garbage
      }
      if case .success = sample.decoded(garbage) { Issue.record("round \(round) of seed 31 passed") }
    }
  }

  /// Checksums that are right do not make nonsense safe: damage with the checksums repaired decodes to a value or an
  /// error, and the test run survives.
  @Test(arguments: Sample.all)
  func repairedDamageNeverTraps(_ sample: Sample) {
    var random = Seeded(32)
    var accepted = 0
    let extremes: [UInt8] = [0, 1, 0x7f, 0x80, 0xff]
    for _ in 0..<5_000 {
      var damaged = sample.bytes
      let start = Int.random(in: 8..<damaged.count, using: &random)
      let value = Bool.random(using: &random) ? extremes.randomElement(using: &random) : nil
      for index in start..<min(damaged.count, start + [1, 2, 4, 8][Int.random(in: 0..<4, using: &random)]) {
        damaged[index] = value ?? UInt8.random(in: .min ... .max, using: &random)
      }
      Repair.checksums(of: &damaged, like: sample.name)
      if sample.name == "checkpoint meta" {
        accepted +=
          (try? CheckpointMeta(decoding: ContiguousArray(damaged).span.bytes, checksum: Repair.checksum(damaged[...])))
            == nil ? 0 : 1
      } else if case .success = sample.decoded(damaged) {
        accepted += 1
      }
    }
    #expect(accepted > 20, "the checksums are not repaired, so nothing behind them is tested")
  }

  @Test func newerVersionsAndUnknownFeaturesAreToldFromDamage() {
    for sample in Sample.all where sample.name != "checkpoint meta" {
      let trailer = sample.name == "footer" ? sample.bytes.count - 96 : 0
      var newer = sample.bytes
      newer[trailer + 8] = 2
      if case .success = sample.decoded(newer) { Issue.record("a damaged version passed") }
      Repair.checksums(of: &newer, like: sample.name)
      #expect(sample.decoded(newer) == .failure(.newerVersion(2)), "\(sample.name)")
      guard sample.name != "footer" else { continue }
      var other = sample.bytes
      other[15] = 0x80
      Repair.checksums(of: &other, like: sample.name)
      #expect(sample.decoded(other) == .failure(.unknownFeatures(1 << 31)), "\(sample.name)")
    }
  }

  /// 0 stands for no number, so a footer has it if it lists no record, and only then.
  @Test(arguments: [(first: UInt32(0), last: UInt32(9)), (0, 0), (9, 8)])
  func aFooterWhoseNumbersDoNotFitItsRecordsIsRefused(first: UInt32, last: UInt32) {
    var bytes = Sample.footer.encoded()
    let trailer = bytes.count - 96
    Repair.store(first, at: trailer + 48, in: &bytes)
    Repair.store(last, at: trailer + 56, in: &bytes)
    Repair.checksums(of: &bytes, like: "footer")
    let reason = "its sequence numbers are impossible: \(first) to \(last)"
    #expect(throws: FormatError.damaged(reason: reason, offset: trailer + 48)) {
      try SegmentFooter(decoding: ContiguousArray(bytes).span.bytes)
    }
  }

  @Test func anotherStructureIsNotThisKind() {
    for sample in Sample.all where sample.name != "checkpoint meta" {
      for other in Sample.all where other.bytes[..<8] != sample.bytes[..<8] {
        #expect(sample.decoded(other.bytes) == .failure(.notThisKind), "\(other.name) as \(sample.name)")
      }
    }
  }
}

/// Puts right checksums on wrong bytes.
enum Repair {
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 { CRC32C.checksum(of: ContiguousArray(bytes).span.bytes) }

  static func store(_ value: UInt32, at offset: Int, in bytes: inout [UInt8]) {
    for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
  }

  static func checksums(of bytes: inout [UInt8], like name: String) {
    let count = bytes.count
    switch name {
    case "segment header":
      store(checksum(bytes[..<124]), at: 124, in: &bytes)
    case "footer":
      let stream = bytes[(count - 64)..<(count - 56)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
      if stream <= count - 96 { store(checksum(bytes[..<Int(stream)]), at: count - 8, in: &bytes) }
      store(checksum(bytes[(count - 96)..<(count - 4)]), at: count - 4, in: &bytes)
    case "manifest":
      store(checksum(bytes[40...]), at: 32, in: &bytes)
      store(checksum(bytes[..<36]), at: 36, in: &bytes)
    case "manifest with history":
      // The history is behind the payload.
      let payload = bytes[24..<32].reversed().reduce(0) { $0 << 8 | UInt64($1) }
      let end = Int(min(payload, UInt64(count - 44))) + 40
      store(checksum(bytes[40..<end]), at: 32, in: &bytes)
      store(checksum(bytes[..<36]), at: 36, in: &bytes)
      store(checksum(bytes[end..<count - 4]), at: count - 4, in: &bytes)
    case "checkpoint header":
      store(checksum(bytes[..<4092]), at: 4092, in: &bytes)
    default:
      break
    }
  }
}
