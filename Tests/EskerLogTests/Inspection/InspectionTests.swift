import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog
@testable import EskerTools

@Suite struct InspectionTests {
  private func inspect(_ machine: Machine) throws(StoreError) -> StoreInspection {
    try StoreInspection(at: machine.path, host: machine.host)
  }

  /// A store of several segments, open, with every kind of record in it.
  private func filled(_ machine: Machine) throws -> LogStore {
    let store = try machine.open()
    let other = try store.keyspace("other")
    for number in 0..<300 {
      try store.put([UInt8](repeating: UInt8(number & 255), count: 500), forKey: "key \(number % 200)")
      if number % 5 == 0 { try other.put("other \(number)", forKey: "key \(number)", expiry: .after(.seconds(9))) }
      if number % 7 == 0 { try store.remove("key \(number / 2)") }
      if number == 100 { try other.removeAll() }
    }
    try store.write { (batch) throws(StoreError) in
      try batch.put("a", forKey: "batch a")
      try batch.put("b", forKey: "batch b", in: other)
    }
    return store
  }

  private func records(_ inspection: StoreInspection, _ segment: UInt64) throws -> [RecordDescription] {
    try inspection.records(of: segment).map { element in
      guard case .record(let record) = element else { throw StoreError.closed }
      return record
    }
  }

  @Test func manifestAndSegmentsAreDescribedBesideTheWriter() throws {
    let machine = Machine()
    let store = try filled(machine)
    try store.sync()
    let inspection = try inspect(machine)
    let manifest = try #require(inspection.manifest)
    #expect(manifest.isOpen)
    #expect(manifest.keyspaces.map(\.name) == ["", "other"])
    #expect(manifest.storeID.count == 32)
    #expect(inspection.manifestCopies.map(\.damage) == [nil, nil])
    #expect(inspection.manifestCopies.allSatisfy { $0.generation == manifest.generation })
    let figures = store.statistics.segments
    #expect(inspection.segments.map(\.id) == figures.map(\.id))
    #expect(inspection.segments.count >= 2)
    for (segment, figure) in zip(inspection.segments, figures) {
      #expect(segment.damage.isEmpty)
      #expect(segment.isListed && segment.kind == .log)
      #expect(segment.isSealed == figure.isSealed || !segment.isSealed)
      if segment.isSealed {
        #expect(segment.recordBytes == figure.recordBytes)
        #expect(segment.sequences == figure.sequences)
        #expect(segment.hasFooter)
      }
    }
    try store.close()
    let closed = try inspect(machine)
    #expect(closed.manifest?.isOpen == false)
    #expect(closed.segments.allSatisfy { $0.recordBytes != nil })
  }

  @Test func numbersOfAManifestThatFitNoFileLeaveNothingFree() {
    let limit: UInt64 = 1 << 62 - 1
    let row = SegmentRow(
      id: 1,
      salt: 0,
      kind: .log,
      state: .sealed,
      granule: 1,
      granules: 1,
      recordsEnd: limit,
      footerOffset: limit,
      footerLength: limit
    )
    let manifest = Manifest(storeID: StoreID(low: 1, high: 2), seed: HashSeed(low: 1, high: 2))
    var segment = SegmentDescription(1, "/store/segment", row, isListed: true, in: manifest)
    segment.fileBytes = 0
    #expect(segment.freeBytes == 0)
  }

  @Test func everyRecordIsShownOnceInItsOrder() throws {
    let machine = Machine()
    let store = try filled(machine)
    let inspection = try inspect(machine)
    let shown = try inspection.segments.flatMap { try records(inspection, $0.id) }.filter { $0.kind != .seal }
    #expect(shown.map(\.sequence.rawValue) == Array(1...store.lastSequence.rawValue))
    #expect(shown.allSatisfy { $0.damage == nil })
    #expect(Set(shown.map(\.kind)) == [.put, .tombstone, .reset])
    #expect(Set(shown.map(\.keyspace)) == ["", "other"])
    let batched = try #require(shown.last { $0.key == bytes("batch a") })
    #expect(batched.batchContinues)
    let expiring = try #require(shown.first { $0.key == bytes("key 5") && $0.keyspace == "other" })
    #expect(expiring.expiry == .at(WallTime(millisecondsSince1970: machine.clock.wallMilliseconds() + 9000)))
    try store.close()
  }

  @Test func packedRecordsAreShownAndAreThoseOfTheStore() throws {
    let packed = try PackedStore(400)
    let inspection = try inspect(packed.machine)
    let ids = inspection.segments.filter { $0.kind == .packed }.map(\.id)
    #expect(!ids.isEmpty)
    let shown = try ids.flatMap { try records(inspection, $0) }
    #expect(shown.allSatisfy { $0.damage == nil })
    #expect(shown.contains { $0.storedLength == nil } && shown.contains { $0.isCompressed && $0.storedLength != nil })
    for space in PackedStore.spaces {
      let keys = shown.filter { $0.keyspace == space && $0.kind == .put }
      #expect(Set(keys.map(\.key)) == Set((packed.expected[space] ?? [:]).keys))
      for record in keys { #expect(packed.expected[space]?[record.key]?.count == record.valueLength) }
    }
  }

  @Test(arguments: [false, true])
  func fieldsFollowOneAnotherAndHoldTheKey(isPacked: Bool) throws {
    let packed = try PackedStore(120)
    let machine = isPacked ? packed.machine : Machine()
    if !isPacked { try filled(machine).sync() }
    let inspection = try inspect(machine)
    var names: Set<String> = []
    for segment in inspection.segments {
      for record in try records(inspection, segment.id) {
        let anatomy = try inspection.record(at: record.offset, of: segment.id)
        #expect(anatomy.record == record && anatomy.damage == nil)
        #expect(anatomy.fields.first?.range.lowerBound == anatomy.range.lowerBound)
        #expect(anatomy.fields.last?.range.upperBound == anatomy.range.upperBound)
        for (field, next) in zip(anatomy.fields, anatomy.fields.dropFirst()) {
          #expect(field.range.upperBound == next.range.lowerBound)
          #expect(!field.range.isEmpty)
        }
        names.formUnion(anatomy.fields.map(\.name))
        let parts = anatomy.fields.filter { ["key", "common key", "rest of the key"].contains($0.name) }
        #expect(parts.flatMap { anatomy.bytes(in: $0.range) } == record.key)
        let padding = anatomy.fields.filter { $0.value == .padding }
        #expect(padding.allSatisfy { anatomy.bytes(in: $0.range).allSatisfy { $0 == 0 } })
        if !record.isCompressed, let value = anatomy.fields.first(where: { $0.name == "value" }) {
          #expect(value.range.count == record.valueLength)
        }
      }
    }
    let both: Set = ["header checksum", "padding", "key length column"]
    #expect(
      names.isSuperset(of: isPacked ? both.union(["value, compressed", "cell mark"]) : ["expiry", "incarnation"])
    )
  }

  @Test func placeWithoutARecordIsRefused() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put("value", forKey: "key")
    let inspection = try inspect(machine)
    let id = try #require(inspection.segments.first?.id)
    for offset in [-8, 0, 1, 129, 1 << 40, .max, 128 + 48] {
      #expect(throws: StoreError.self, "\(offset)") { try inspection.record(at: offset, of: id) }
    }
    #expect(try inspection.record(at: 128, of: id).record?.key == bytes("key"))
    #expect(throws: StoreError.self) { try inspection.records(of: 99) }
    try store.close()
  }

  @Test func damageIsShownWhereItIs() throws {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<5 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.close()
    let original = try DiskImage(of: machine)
    let segment = try #require(original.names.first { $0.hasSuffix(".segment") })
    // A record is 32 bytes and 12 of key and value, rounded up to 48.
    let body = try inspect(original.flipping(segment, 128 + 48 + 34, bit: 0).machine())
    let bodyRecords = try records(body, body.segments[0].id)
    #expect(bodyRecords.map { $0.damage == nil } == [true, false, true, true, true])
    #expect(try body.record(at: 128 + 48, of: body.segments[0].id).damage != nil)
    let head = try inspect(original.flipping(segment, 128 + 48 + 9, bit: 0).machine())
    let shown = Array(try head.records(of: head.segments[0].id))
    #expect(shown.count == 5)
    #expect(shown[1] == .unreadable(128 + 48..<128 + 96))
    let anatomy = try head.record(at: 128 + 48, of: head.segments[0].id)
    #expect(anatomy.record == nil && anatomy.damage != nil && anatomy.fields.count > 8)
    let header = try inspect(original.flipping(segment, 20, bit: 0).machine())
    #expect(header.segments[0].damage == ["the header is damaged"])
    #expect(try records(header, header.segments[0].id).count == 5)
  }

  @Test func storeWithoutAManifestIsInspected() throws {
    let machine = Machine()
    let store = try filled(machine)
    let last = store.lastSequence.rawValue
    try store.close()
    var image = try DiskImage(of: machine)
    for name in FileName.manifests { image = image.flipping(name, 50, bit: 1) }
    let inspection = try inspect(image.machine())
    #expect(inspection.manifest == nil)
    #expect(inspection.manifestCopies.allSatisfy { $0.damage != nil && $0.generation == nil })
    let shown = try inspection.segments.flatMap { try records(inspection, $0.id) }.filter { $0.kind != .seal }
    #expect(shown.map(\.sequence.rawValue) == Array(1...last))
    #expect(try inspection.versions(of: bytes("key 1")).first?.standing == .current)
    #expect(throws: StoreError.invalidKeyspace("other")) { try inspection.versions(of: [1], in: "other") }
  }

  @Test func fileThatIsNotListedIsSaid() throws {
    let machine = Machine()
    let store = try filled(machine)
    try store.close()
    var image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    image.files["00000000000000ff.segment"] = image.files[name]
    let inspection = try inspect(image.machine())
    let extra = try #require(inspection.segments.last)
    #expect(extra.id == 255 && !extra.isListed)
    #expect(extra.damage == ["the file belongs to another segment"])
    image.files[name] = nil
    let missing = try inspect(image.machine())
    #expect(missing.segments.first?.damage == ["the file is missing"])
    #expect(throws: StoreError.self) { try missing.records(of: missing.segments[0].id) }
  }

  @Test func inspectionNeverWritesNorTrapsWhateverByteIsWrong() throws {
    let packed = try PackedStore(40)
    try packed.store.put("raw", forKey: "raw", expiry: .after(.seconds(5)))
    try packed.store.close()
    let original = try DiskImage(of: packed.machine)
    var cases = 0
    for name in original.names where DamagedStore.kind(of: name) != "LOCK" {
      let length = min(original.files[name]?.count ?? 0, 12_000)
      for offset in stride(from: 0, to: length, by: 29) {
        let image = original.flipping(name, offset, bit: offset % 8)
        let machine = try image.machine()
        cases += 1
        guard let inspection = try? inspect(machine) else { continue }
        for segment in inspection.segments {
          guard let elements = try? inspection.records(of: segment.id) else { continue }
          for case .record(let record) in elements {
            _ = try? inspection.record(at: record.offset, of: segment.id)
          }
        }
        _ = try? inspection.versions(of: bytes("key 3"))
        #expect(try DiskImage(of: machine).files == image.files, "\(name) \(offset)")
      }
    }
    #expect(cases > 100)
  }
}
