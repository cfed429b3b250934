import EskerFormat
import Testing

/// What is kept of openings, and what damage to it costs.
@Suite struct HistoryTests {
  private func decoded(_ manifest: Manifest) throws -> [OpeningRow] {
    try Manifest(decoding: ContiguousArray(manifest.encoded()).span.bytes).history
  }

  @Test func eachFieldOfARowIsKept() throws {
    for kind in OpeningRow.Kind.allCases {
      for (index, sync) in zip(OpeningRow.Index.allCases, OpeningRow.Sync.allCases + [.complete]) {
        var row = OpeningRow(kind: kind, time: kind == .clean ? .min : .max)
        row.index = index
        row.sync = sync
        row.isComplete = index == .empty
        row.duration = .max
        row.damageCount = .max
        row.damage = (0..<OpeningRow.mostDamage).map { number in
          let offset: UInt64? = number == 0 ? nil : 8
          return .init(
            segment: UInt64(number),
            offset: offset,
            length: 1,
            records: 2,
            file: "é\(number)",
            reason: "\(kind)"
          )
        }
        var manifest = Sample.manifest
        manifest.history = [row, Sample.history[1]]
        #expect(try decoded(manifest) == [row, Sample.history[1]])
      }
    }
  }

  @Test func longTextsAreCutBetweenCharacters() throws {
    let damage = OpeningRow.Damage(
      segment: 1,
      offset: 0,
      length: 0,
      records: 0,
      file: String(repeating: "x", count: OpeningRow.Damage.longestName),
      reason: String(repeating: "é", count: 90)
    )
    #expect(damage.file.utf8.count == OpeningRow.Damage.longestName && !damage.file.hasSuffix("…"))
    #expect(damage.reason == String(repeating: "é", count: 78) + "…")
    var manifest = Sample.manifest
    manifest.history = Sample.history
    manifest.history[0].damageCount = 1
    manifest.history[0].damage = [damage]
    #expect(try decoded(manifest) == manifest.history)
  }

  /// Whatever happens to it, all else can be read, and nothing traps.
  @Test func damageToTheHistoryLeavesTheManifest() throws {
    let intact = Sample.manifestWithHistory.encoded()
    let start = Sample.manifest.encoded().count
    var random = Seeded(33)
    for offset in start..<intact.count {
      var damaged = intact
      damaged[offset] ^= UInt8.random(in: 1...255, using: &random)
      #expect(throws: FormatError.self) { try Manifest(decoding: ContiguousArray(damaged).span.bytes) }
      #expect(try Manifest(decoding: ContiguousArray(damaged).span.bytes, forgetsHistory: true) == Sample.manifest)
      let short = Array(intact[..<offset])
      #expect(throws: FormatError.self) { try Manifest(decoding: ContiguousArray(short).span.bytes) }
      #expect(try Manifest(decoding: ContiguousArray(short).span.bytes, forgetsHistory: true) == Sample.manifest)
    }
  }

  /// A history of a later version is no reason to refuse the store.
  @Test func aHistoryOfAnotherVersionIsDamage() throws {
    for place in [8, 12] {
      var bytes = Sample.manifestWithHistory.encoded()
      bytes[Sample.manifest.encoded().count + place] = 9
      Repair.checksums(of: &bytes, like: "manifest with history")
      let error = #expect(throws: FormatError.self) { try Manifest(decoding: ContiguousArray(bytes).span.bytes) }
      guard case .damaged = error else {
        Issue.record("byte \(place) makes the manifest one of another version: \(String(describing: error))")
        continue
      }
      #expect(try Manifest(decoding: ContiguousArray(bytes).span.bytes, forgetsHistory: true) == Sample.manifest)
    }
  }

  @Test(arguments: [0, 3, 33, UInt8.max]) func rowsThatCannotBeThereAreDamage(_ count: UInt8) throws {
    var bytes = Sample.manifestWithHistory.encoded()
    bytes[Sample.manifest.encoded().count + 16] = count
    Repair.checksums(of: &bytes, like: "manifest with history")
    #expect(throws: FormatError.self) { try Manifest(decoding: ContiguousArray(bytes).span.bytes) }
  }

  @Test func moreRowsThanAreKeptAreDamage() throws {
    var manifest = Sample.manifest
    manifest.history = (0..<32).map { row(.clean, $0) }
    #expect(try decoded(manifest) == manifest.history)
    manifest.history.append(row(.clean, 32))
    #expect(throws: FormatError.self) { try decoded(manifest) }
  }

  private func row(_ kind: OpeningRow.Kind, _ time: Int64) -> OpeningRow { OpeningRow(kind: kind, time: time) }

  @Test func openingsInWhichNothingWentWrongMakeRoomFirst() {
    let rows = [row(.created, 0), row(.afterCrash, 1)] + (2..<100).map { row(.clean, $0) }
    #expect(rows.kept.map(\.time) == [0, 1] + Array(70..<100))
    // The present one stays in any case.
    let crashes = (0..<40).map { row(.afterCrash, $0) } + [row(.clean, 40)]
    #expect(crashes.kept.map(\.time) == Array(9...40))
    #expect([].kept.isEmpty)
  }

  /// Descriptions of damage cannot make a manifest large: in a store with a capacity, it counts.
  @Test func rowsAreOfEightKibibytesAtMost() throws {
    let rows = (0..<32).map { number -> OpeningRow in
      var row = row(.afterCrash, Int64(number))
      row.damageCount = 4
      row.damage = (0..<4).map { _ in
        .init(segment: 1, offset: 2, length: 3, records: 4, file: "f", reason: String(repeating: "r", count: 160))
      }
      return row
    }
    var manifest = Sample.manifest
    let length = manifest.encoded().count
    manifest.history = rows.kept
    #expect(manifest.encoded().count - length <= 8 << 10)
    #expect(manifest.history.count > 7 && manifest.history.last == rows.last)
    #expect(try decoded(manifest) == manifest.history)
  }
}
