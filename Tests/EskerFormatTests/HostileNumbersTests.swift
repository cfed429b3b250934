import EskerFormat
import Testing

/// Numbers that no store comes to are refused with their field's name, however right the checksums are.
@Suite struct HostileNumbersTests {
  /// A field of a structure: where it stands, how many bytes it has, and the least value that is refused.
  struct Field: CustomTestStringConvertible, Sendable {
    let structure: String
    let name: String
    let offset: Int
    var width = 8
    let least: UInt64

    var testDescription: String { "\(structure): \(name)" }
  }

  private static let addresses: UInt64 = 1 << 43

  static let fields = [
    Field(structure: "manifest", name: "its generation", offset: 16, least: 1 << 56 + 1),
    Field(structure: "manifest", name: "the durable sequence number", offset: 80, least: 1 << 55 + 1),
    Field(structure: "manifest", name: "the next sequence number", offset: 88, least: 1 << 55 + 1),
    Field(structure: "manifest", name: "the next segment's identifier", offset: 104, least: 1 << 56 + 1),
    Field(structure: "manifest", name: "the next checkpoint's identifier", offset: 112, least: 1 << 56 + 1),
    Field(structure: "manifest", name: "the checkpoint's identifier", offset: 120, least: 1 << 56 + 1),
    Field(structure: "manifest", name: "the highest merged sequence number", offset: 144, least: 1 << 55 + 1),
    // The settings stand at 152, periodic and compressed.
    Field(structure: "manifest", name: "durability is unknown", offset: 152, width: 1, least: 3),
    Field(structure: "manifest", name: "compression is unknown", offset: 153, width: 1, least: 2),
    Field(structure: "manifest", name: "the level of the store's compression", offset: 154, width: 1, least: 13),
    Field(structure: "manifest", name: "the kind of the store's default expiry", offset: 155, width: 1, least: 3),
    Field(structure: "manifest", name: "the store's sync period", offset: 160, least: 1 << 63),
    Field(structure: "manifest", name: "the store's segment size", offset: 176, least: 1 << 30 + 1),
    Field(structure: "manifest", name: "the store's capacity", offset: 184, least: 1 << 63),
    // The first segment's row stands at 192; it has two granules.
    Field(structure: "manifest", name: "the identifier", offset: 192, least: 1 << 56 + 1),
    Field(structure: "manifest", name: "the lowest sequence number", offset: 192 + 24, least: 1 << 55 + 1),
    Field(structure: "manifest", name: "the highest sequence number", offset: 192 + 32, least: 1 << 55 + 1),
    Field(structure: "manifest", name: "the end of the records", offset: 192 + 40, least: 32 << 20 + 8),
    Field(structure: "manifest", name: "the offset of the footer", offset: 192 + 48, least: 2 * addresses + 8),
    Field(structure: "manifest", name: "the length of the footer", offset: 192 + 56, least: addresses + 8),
    Field(structure: "manifest", name: "the number of records", offset: 192 + 80, least: 1 << 56 + 1),
    Field(structure: "manifest", name: "the length of the file", offset: 192 + 88, least: 4 * addresses + 8),
    Field(structure: "manifest", name: "the sequence number of its merge", offset: 192 + 96, least: 1 << 55 + 1),
    // The first keyspace's row follows the second segment's.
    Field(structure: "manifest", name: "a keyspace's identifier", offset: 400, width: 4, least: 1 << 32 - 1),
    Field(structure: "manifest", name: "a keyspace's incarnation", offset: 404, width: 4, least: 1 << 31),
    // The history follows at 472: its head, a row of 64 bytes, and one with a cut and with damage.
    Field(structure: "manifest with history", name: "the kind of an opening", offset: 560 + 4, width: 1, least: 5),
    Field(structure: "manifest with history", name: "the index's source", offset: 560 + 5, width: 1, least: 4),
    Field(structure: "manifest with history", name: "what is said of a sync", offset: 560 + 6, width: 1, least: 3),
    Field(structure: "manifest with history", name: "a flag of an opening", offset: 560 + 7, width: 1, least: 4),
    Field(structure: "manifest with history", name: "the last sequence number", offset: 560 + 24, least: 1 << 55 + 1),
    Field(structure: "manifest with history", name: "records replayed", offset: 560 + 32, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "records rewritten", offset: 560 + 40, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "the number of keys", offset: 560 + 48, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "the segment of a cut", offset: 560 + 64, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "the offset of a cut", offset: 560 + 72, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "number of a cut", offset: 560 + 80, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "records cut off", offset: 560 + 88, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "bytes cut off", offset: 560 + 96, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "damaged places", offset: 560 + 60, width: 4, least: 3),
    Field(structure: "manifest with history", name: "the segment of damage", offset: 672, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "the length of damage", offset: 672 + 16, least: 1 << 56 + 1),
    Field(structure: "manifest with history", name: "records lost", offset: 672 + 24, least: 1 << 56 + 1),
    Field(structure: "checkpoint header", name: "its identifier", offset: 32, least: 1 << 56 + 1),
    Field(structure: "checkpoint header", name: "its sequence number", offset: 40, least: 1 << 55 + 1),
    Field(structure: "checkpoint header", name: "the offset at which replay starts", offset: 56, least: addresses + 8),
    Field(structure: "checkpoint header", name: "the length of its meta", offset: 104, least: 1 << 30 + 1),
    Field(structure: "segment header", name: "its planned capacity", offset: 72, least: addresses + 1),
  ]

  private func sample(_ name: String) throws -> Sample { try #require(Sample.all.first { $0.name == name }) }

  private func decoding(_ field: Field, _ value: UInt64) throws -> Result<String, FormatError> {
    let sample = try sample(field.structure)
    var bytes = sample.bytes
    for index in 0..<field.width {
      bytes[field.offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))
    }
    Repair.checksums(of: &bytes, like: field.structure)
    return sample.decoded(bytes)
  }

  @Test(arguments: fields) func aNumberThatIsTooLargeIsRefusedByName(_ field: Field) throws {
    let greatest = UInt64.max >> (64 - 8 * UInt64(field.width))
    for value in [field.least, greatest, greatest - 7] where value >= field.least {
      guard case .failure(.damaged(let reason, _)) = try decoding(field, value) else {
        Issue.record("\(field.name) of \(value) is not refused")
        continue
      }
      #expect(reason.contains(field.name), "\(reason)")
      #expect(reason.contains("\(value)"), "\(reason)")
    }
  }

  /// What is refused is only what cannot be.
  @Test(arguments: fields) func theLargestNumberThereCanBeIsNotRefusedForItself(_ field: Field) throws {
    let value = (field.least - 1) & ~7
    guard case .failure(.damaged(let reason, _)) = try decoding(field, value) else { return }
    #expect(!reason.contains(field.name), "\(reason)")
  }

  /// Each number by itself could be, and all checksums are right.
  @Test(arguments: [
    (40, -8, "an entry's size or kind is impossible"), (40, 8, "the entries do not match the trailer"),
    (48, 1, "an entry's sequence number is out of range"), (56, -1, "an entry's sequence number is out of range"),
    (80, -1, "the entries do not match the trailer"),
  ])
  func entriesThatContradictTheTrailerAreDamage(offset: Int, change: Int, reason: String) throws {
    let bytes = try sample("footer").bytes
    let place = bytes.count - SegmentFooter.trailerLength + offset
    let value = bytes[place..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    let field = Field(structure: "footer", name: "", offset: place, least: 0)
    guard case .failure(.damaged(let found, _)) = try decoding(field, UInt64(value + change)) else {
      Issue.record("a footer that contradicts itself is read")
      return
    }
    #expect(found == reason)
  }

  /// There are 66 lines, of which two were split off at a level of 6.
  @Test(arguments: [(72, 8, 0), (88, 4, 5), (88, 4, 48), (96, 8, 3), (96, 8, 65)])
  func linesThatContradictEachOtherAreDamage(offset: Int, width: Int, value: UInt64) throws {
    let field = Field(structure: "checkpoint header", name: "", offset: offset, width: width, least: 0)
    let expected = FormatError.damaged(reason: "its counts of lines contradict each other", offset: 64)
    #expect(try decoding(field, value) == .failure(expected))
  }

  @Test func noWriteHasTheNumberZero() throws {
    let field = Field(structure: "manifest", name: "", offset: 88, least: 0)
    let expected = FormatError.damaged(reason: "the next sequence number is 0", offset: 88)
    #expect(try decoding(field, 0) == .failure(expected))
  }

  @Test(arguments: [0, 1, 8, 120, 127, 129, 132]) func recordsEndWhereARecordCanEnd(_ end: UInt64) throws {
    let field = Field(structure: "manifest", name: "the end of the records", offset: 192 + 40, least: 0)
    guard case .failure(.damaged(let reason, 232)) = try decoding(field, end) else {
      Issue.record("an end at \(end) is not refused")
      return
    }
    #expect(reason == "the end of the records of segment 3 is impossible: \(end)")
  }
}
