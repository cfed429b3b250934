import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog
@testable import EskerTools

@Suite struct ExportTests {
  private func filled(_ machine: Machine, count: Int = 60) throws -> LogStore {
    let store = try machine.open()
    let other = try store.keyspace("other")
    try other.setDefaultExpiry(.seconds(77))
    for number in 0..<count {
      try store.put("value \(number)", forKey: "key \(number)")
      if number % 4 == 0 {
        try other.put("other \(number)", forKey: "key \(number)", expiry: .after(.seconds(number + 1)))
      }
    }
    try store.put([UInt8](), forKey: [UInt8]())
    return store
  }

  private func export(_ store: LogStore) throws -> ([UInt8], ExportReport) {
    var stream: [UInt8] = []
    let report = try store.exportStream { piece in
      unsafe piece.withUnsafeBytes { unsafe stream.append(contentsOf: $0) }
    }
    return (stream, report)
  }

  private func importing(_ stream: [UInt8], piece: Int = .max, into store: LogStore) throws -> ImportReport {
    var position = 0
    return try store.importStream { count in
      let end = min(stream.count, position + min(count, piece))
      defer { position = end }
      return Array(stream[position..<end])
    }
  }

  private func entries(_ store: LogStore) throws -> [String: [[UInt8]: [UInt8]]] {
    var result: [String: [[UInt8]: [UInt8]]] = [:]
    for entry in try store.snapshot() {
      result[entry.keyspace, default: [:]][try entry.key()] = try entry.value() + bytes("\(entry.expiry)")
    }
    return result
  }

  @Test(arguments: [1, 7, 64 << 10]) func anImportHasWhatWasExported(piece: Int) throws {
    let store = try filled(Machine())
    try store.put([UInt8](repeating: 5, count: 300_000), forKey: "large")
    let (stream, report) = try export(store)
    #expect(try report.entries == store.totalCount() && report.bytes == stream.count)
    #expect(report.sequence == store.lastSequence)
    let copy = try Machine().open()
    let imported = try importing(stream, piece: piece, into: copy)
    #expect(imported == ImportReport(entries: report.entries, expired: 0, keyspaces: 2, bytes: stream.count))
    #expect(try entries(copy) == entries(store))
    #expect(try copy.keyspace("other").defaultExpiry == .seconds(77))
    #expect(copy.durableSequence == copy.lastSequence)
  }

  @Test func formsOfKeysAndValuesAreInTheStream() throws {
    let store = try filled(Machine(), count: 3)
    let forms = KeyspaceForms(keys: "int64", values: "cbor")
    _ = try store.keyspace("numbers", recording: forms)
    let (stream, _) = try export(store)
    let copy = try Machine().open()
    _ = try copy.keyspace("numbers")
    _ = try importing(stream, into: copy)
    #expect(try copy.keyspace("numbers").forms == forms)
    #expect(try copy.keyspace("other").forms == KeyspaceForms() && copy.default.forms == KeyspaceForms())
    // Again, over the same forms.
    _ = try importing(stream, into: copy)
  }

  @Test(arguments: [KeyspaceForms(keys: "utf8", values: "cbor"), KeyspaceForms(keys: "int64", values: "json")])
  func anImportOverAnotherFormIsRefused(_ forms: KeyspaceForms) throws {
    let store = try Machine().open()
    try store.keyspace("numbers", recording: KeyspaceForms(keys: "int64", values: "cbor")).put("v", forKey: "k")
    let (stream, _) = try export(store)
    let copy = try Machine().open()
    let space = try copy.keyspace("numbers", recording: forms)
    let operation =
      "import the keyspace \"numbers\" (keys: int64, values: cbor) over that of another form (\(forms)) into"
    #expect(throws: StoreError.failed(operation: operation, path: "/store", errno: 0)) {
      try importing(stream, into: copy)
    }
    #expect(space.forms == forms)
    #expect(try space.count() == 0)
  }

  @Test func anEmptyStoreIsAShortStream() throws {
    let (stream, report) = try export(Machine().open())
    #expect(report.entries == 0)
    #expect(stream.count == 64 + 36 + 32)
    #expect(try importing(stream, into: Machine().open()).entries == 0)
  }

  @Test func aStoreThatSyncsEachWriteSyncsAnImportOnce() throws {
    let (stream, report) = try export(filled(Machine()))
    let plan = FaultPlan()
    let machine = Machine()
    let disk = FaultyFileSystem(machine.disk, plan: plan)
    let host = StoreHost(platform: Platform.simulated(fileSystem: disk, clock: machine.clock), background: .inline)
    let copy = try LogStore(at: machine.path, options: machine.options { $0.durability = .synced }, host: host)
    let before = plan.callCount(of: .sync)
    #expect(try importing(stream, into: copy).entries == report.entries)
    #expect(plan.callCount(of: .sync) - before < 20)
    #expect(copy.durableSequence == copy.lastSequence)
  }

  @Test func whatHasExpiredMeanwhileIsPassedOver() throws {
    let (stream, report) = try export(filled(Machine()))
    let machine = Machine()
    machine.clock.advance(milliseconds: 30_000)
    let imported = try importing(stream, into: machine.open())
    #expect(imported.expired == 8)
    #expect(imported.entries + imported.expired == report.entries)
  }

  @Test func otherKeysStayAndEqualOnesAreReplaced() throws {
    let (stream, _) = try export(filled(Machine()))
    let copy = try Machine().open()
    try copy.put("mine", forKey: "mine")
    try copy.put("mine", forKey: "key 1")
    _ = try importing(stream, into: copy)
    #expect(try copy.get("mine") == bytes("mine"))
    #expect(try copy.get("key 1") == bytes("value 1"))
  }

  @Test func aDamagedByteAnywhereIsAnErrorWithItsOffset() throws {
    let store = try filled(Machine(), count: 3)
    let whole = try entries(store)
    let (stream, _) = try export(store)
    for offset in stream.indices {
      var damaged = stream
      damaged[offset] ^= 1 << UInt8(offset % 8)
      let copy = try Machine().open()
      do {
        _ = try importing(damaged, into: copy)
        Issue.record("offset \(offset) was not noticed")
      } catch StoreError.damaged(let location, _) {
        let found = try #require(location.offset)
        // A frame is told of by its start, and the longest here is shorter than 100 bytes; the header by its checksum.
        if offset < ExportHeader.length {
          #expect(found < ExportHeader.length, "offset \(offset)")
        } else {
          #expect(found <= offset && found + 100 > offset, "offset \(offset)")
        }
      }
      // Nothing wrong was stored.
      for (keyspace, values) in try entries(copy) {
        for (key, value) in values { #expect(whole[keyspace]?[key] == value, "offset \(offset)") }
      }
    }
  }

  @Test func aStreamCutAnywhereOrContinuedIsAnError() throws {
    let (stream, _) = try export(filled(Machine(), count: 3))
    for length in stream.indices {
      #expect(throws: StoreError.self, "length \(length)") {
        try importing(Array(stream[..<length]), into: Machine().open())
      }
    }
    #expect(throws: StoreError.self) { try importing(stream + [0], into: Machine().open()) }
  }

  @Test func aFrameThatIsMissingOrRepeatedIsAnError() throws {
    let store = try Machine().open()
    for number in 0..<3 { try store.put("v", forKey: "\(number)") }
    let (stream, _) = try export(store)
    // Each of the three frames has a head, a key and a value of one byte, and a checksum.
    let (first, size) = (64 + 36, 32 + 2 + 4)
    #expect(stream.count == first + 3 * size + 32)
    let without = Array(stream[..<first] + stream[(first + size)...])
    let twice = Array(stream[..<(first + size)] + stream[first...])
    let swapped = Array(
      stream[..<first] + stream[(first + size)..<(first + 2 * size)] + stream[first..<(first + size)]
        + stream[(first + 2 * size)...]
    )
    for damaged in [without, twice, swapped] {
      #expect(throws: StoreError.self) { try importing(damaged, into: Machine().open()) }
    }
  }

  @Test func aNewerStreamIsRefused() throws {
    var header = ExportHeader(storeID: StoreID(low: 1, high: 2), sequence: 0, storeTime: 0).encoded().bytes
    header[8] = 2
    let checksum = unsafe CRC32C.checksum(of: ContiguousArray(header).span.bytes.extracting(0..<60))
    for index in 0..<4 { header[60 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
    #expect(throws: StoreError.unknownFormat(path: "the stream", version: 2)) {
      try importing(header, into: Machine().open())
    }
  }

  @Test func aDamagedRecordStopsTheExport() throws {
    let machine = Machine()
    let store = try filled(machine)
    try store.close()
    let image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let damaged = try image.flipping(name, 200, bit: 1).machine().open { $0.readOnly = true }
    #expect(throws: StoreError.self) { try export(damaged) }
  }

  @Test func aSinkOrSourceThatFailsIsHeard() throws {
    struct Full: Error {}
    let store = try filled(Machine())
    #expect(throws: Full.self) { try store.exportStream { _ in throw Full() } }
    #expect(throws: Full.self) { try store.importStream { _ in throw Full() } }
  }
}
