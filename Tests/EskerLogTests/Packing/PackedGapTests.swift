import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// Zeros lead to the next cell. Those that have taken the place of records look alike; the footer tells.
@Suite struct PackedGapTests {
  /// A packed segment, and its image with zeros in place of the last record ahead of the cells.
  private func image() throws -> (image: DiskImage, name: String, key: [UInt8], place: Int) {
    let machine = Machine()
    var random = SeededGenerator(seed: 8)
    let store = try machine.open { $0.compression = .lz4 }
    for number in 0..<20 { try store.put(random.bytes(200), forKey: "key \(number)") }
    for number in 0..<40 { try store.put("tiny \(number)", forKey: "tiny \(number)") }
    try store.merge()
    let path = try #require(store.statistics.segments.first(where: \.isPacked)?.path)
    try store.close()
    let image = try DiskImage(of: machine)
    let name = try #require(path.split(separator: "/").last.map { String($0) })
    let id = try #require(FileName.segmentID(name))
    let inspection = try StoreInspection(at: machine.path, host: machine.host)
    var last: RecordDescription?
    for case .record(let record) in try inspection.records(of: id) where record.key.starts(with: bytes("key")) {
      // Ahead of a boundary: behind it, zeros would lead to one as well.
      if (record.offset + record.size) / 1024 == record.offset / 1024 { last = record }
    }
    let record = try #require(last)
    var damaged = image
    let end = record.offset / 1024 * 1024 + 1024
    for offset in record.offset..<end { damaged.files[name]?[offset] = 0 }
    return (damaged, name, record.key, record.offset)
  }

  @Test func verificationNamesThem() throws {
    let (image, name, key, place) = try image()
    let machine = try image.machine()
    let store = try machine.open { $0.readOnly = true }
    let report = try store.verify()
    #expect(report.damage.contains { $0.location.offset == place && $0.location.path.hasSuffix(name) })
    #expect(Set(report.damage.map(\.location.offset)).count == report.damage.count, "\(report.damage)")
    #expect(throws: StoreError.self) { try store.get(key) }
    try store.close()
  }

  /// With the manifest's word for where the footer is, and without a manifest.
  @Test(arguments: [true, false]) func salvageNamesThem(hasManifest: Bool) throws {
    var (image, _, _, place) = try image()
    if !hasManifest { for name in FileName.manifests { image.files[name] = nil } }
    let machine = try image.machine()
    let report = try LogStore.salvage(from: machine.path, to: "/new", options: machine.options(), host: machine.host)
    #expect(report.losses.contains { $0.location.offset == place })
    #expect(!report.isComplete)
  }
}
