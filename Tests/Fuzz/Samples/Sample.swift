import EskerFormat
import EskerLog
import EskerTools

/// What inputs begin with, and what goes with them.
enum Sample {
  static let storeID = StoreID(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)
  static let seed = HashSeed(low: 0x1111_1111_1111_1111, high: 0x2222_2222_2222_2222)
  static let salt: UInt32 = 0x5a17_c0de

  static let segmentHeader = SegmentHeader(
    storeID: storeID,
    seed: seed,
    segmentID: 3,
    salt: salt,
    kind: .log,
    creationTime: 1_700_000_000_000,
    plannedCapacity: 16 << 20
  )

  static var footer: [UInt8] {
    var builder = FooterBuilder(segmentID: 3, salt: salt)
    for record in PackedRecords.mixed(8, seed: 3) { builder.append(record.header) }
    return builder.encoded()
  }

  /// What an opening after a crash has left, with damage; and a keyspace with a capacity.
  static var manifestWithHistory: Manifest {
    var row = OpeningRow(kind: .afterCrash, time: 1_700_000_000_000)
    row.cut = .init(segment: 3, offset: 4_096, sequence: 301, records: 5, bytes: 640, segments: 1)
    row.damageCount = 1
    row.damage = [.init(segment: 3, offset: 1_512, length: 40, records: 1, file: "3.segment", reason: "record 7")]
    var manifest = Manifest(storeID: storeID, seed: seed)
    manifest.history = [OpeningRow(kind: .created, time: 1), row]
    manifest.keyspaces = [KeyspaceRow(id: 1, name: "cache", budget: KeyspaceBudget(bytes: 1 << 20, entries: 100))]
    manifest.nextKeyspaceID = 2
    return manifest
  }

  static var statistics: StatisticsImage {
    var image = StatisticsImage(storeID: storeID)
    image.processID = 4711
    image.publishedAt = 1_700_000_000_000
    for index in image.figures.indices { image.figures[index] = UInt64(index) << index }
    image.histograms[1].counts[30] = 5
    image.histograms[1].total = 1_000
    return image
  }

  /// A small segment, with cells only or with records beside them.
  static func packedSegment(isTiny: Bool = false) throws -> (bytes: [UInt8], recordsEnd: Int) {
    let records = PackedRecords.mixed(40, seed: 31).filter { $0.key.count + $0.value.count < (isTiny ? 40 : 400) }
    let dictionary = Array(#"{"title":"Film ","year":1900,"cast":["Actor "],"genres":["Drama","#.utf8)
    let file = try PackedFile(Array(records.prefix(14)), dictionary: dictionary)
    return (file.bytes.bytes, file.recordsEnd)
  }

  /// Stores of which some were closed, one was left by a process that died, and one is compressed.
  static func stores() throws -> [String: [String: [UInt8]]] {
    var stores: [String: [String: [UInt8]]] = [:]
    for isPacked in [false, true] {
      let bench = Bench()
      var store = try bench.open { $0.compression = isPacked ? .lz4 : .off }
      try fill(store)
      try store.merge()
      try store.close()
      let name = isPacked ? "packed" : "merged"
      stores[name] = try FileImage(of: bench.disk).files
      store = try bench.open()
      try store.put("later", forKey: "key 3")
      try store.keyspace("one").removeAll()
      stores[name + "-killed"] = try FileImage(of: bench.disk.processKilled()).files
      try store.close()
    }
    return stores
  }

  private static func fill(_ store: LogStore) throws {
    for number in 0..<12 { try store.put("value \(number % 3)", forKey: "key \(number % 6)") }
    try store.remove("key 5")
    let one = try store.keyspace("one")
    try store.write { (batch) throws(StoreError) in
      try batch.put("batched", forKey: "key 1", in: one)
      try batch.put(String(repeating: "words ", count: 20), forKey: "key 2")
    }
    try one.put("v", forKey: "k", expiry: .after(.seconds(100)))
    // From here on they are kept in order.
    for key in try store.keys() { try one.put("in order", forKey: key + [0]) }
    _ = try one.keys()
  }

  static func exportStream() throws -> [UInt8] {
    let store = try Bench().open()
    try fill(store)
    var bytes: [UInt8] = []
    try store.exportStream { piece in piece.withUnsafeBytes { bytes.append(contentsOf: $0) } }
    try store.close()
    return bytes
  }

  static func contents(of store: LogStore) throws -> [String: [[UInt8]: [UInt8]]] {
    var result: [String: [[UInt8]: [UInt8]]] = [:]
    for entry in try store.snapshot() { result[entry.keyspace, default: [:]][try entry.key()] = try entry.value() }
    return result
  }
}
