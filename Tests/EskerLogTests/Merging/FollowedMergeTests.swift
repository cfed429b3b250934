import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A read-only store beside a writer that merges.
@Suite struct FollowedMergeTests {
  private let machine = Machine()

  private func openWriter() throws -> LogStore {
    try machine.open { $0.merge.isAutomatic = false }
  }

  private func openReader() throws -> LogStore {
    try machine.open { $0.readOnly = true }
  }

  private func round(_ number: Int, _ writer: LogStore) throws {
    for key in 0..<80 { try writer.put([UInt8](repeating: UInt8(number), count: 700), forKey: "key \(key)") }
    for key in 0..<20 { try writer.remove("key \((number * 20 + key) % 80)") }
  }

  @Test func aReaderFollowsMergesOfWhatItHasRead() throws {
    let writer = try openWriter()
    try round(0, writer)
    let reader = try openReader()
    for number in 1..<6 {
      try round(number, writer)
      try reader.refresh()
      try writer.merge()
      try writer.put("after", forKey: "merge \(number)")
      try reader.refresh()
      #expect(try reader.contents() == writer.contents())
      #expect(try reader.count() == writer.count())
      #expect(reader.lastSequence == writer.lastSequence)
    }
    let ids = Set(writer.statistics.segments.map(\.id))
    #expect(reader.statistics.segments.allSatisfy { ids.contains($0.id) })
    #expect(reader.statistics.liveBytes == writer.statistics.liveBytes)
    #expect(try reader.verify().isClean)
  }

  @Test func aReaderThatIsBehindFollowsMergesOfWhatItHasNotRead() throws {
    let writer = try openWriter()
    try round(0, writer)
    let reader = try openReader()
    let space = try writer.keyspace("space")
    try space.put("old", forKey: "k")
    for number in 1..<6 { try round(number, writer) }
    try space.removeAll()
    try space.put("new", forKey: "k")
    try writer.merge()
    try writer.put("after", forKey: "merge")
    try reader.refresh()
    #expect(try reader.contents() == writer.contents())
    #expect(try reader.count() == writer.count())
    #expect(try reader.keyspace("space").get("k") == bytes("new"))
    #expect(try reader.keyspace("space").count() == 1)
  }

  @Test func aKeyThatWasRemovedAndMergedAwayIsGoneForAReader() throws {
    let writer = try openWriter()
    try writer.put("v", forKey: "k")
    try writer.put("v", forKey: "other")
    let reader = try openReader()
    #expect(try reader.get("k") == bytes("v"))
    try writer.remove("k")
    try writer.merge()
    try reader.refresh()
    #expect(try reader.get("k") == nil)
    #expect(try reader.get("other") == bytes("v"))
    #expect(try reader.count() == 1)
    #expect(reader.lastSequence == writer.lastSequence)
  }

  @Test func aReadersSnapshotStaysAsItIs() throws {
    let writer = try openWriter()
    try round(0, writer)
    let reader = try openReader()
    let snapshot = try reader.snapshot()
    let contents = try snapshot.contents()
    for number in 1..<4 { try round(number, writer) }
    try writer.merge()
    try reader.refresh()
    #expect(try snapshot.contents() == contents)
    #expect(try reader.contents() == writer.contents())
  }

  @Test func aReaderFollowsAWriterThatMergesByItself() throws {
    let writer = try machine.open()
    try round(0, writer)
    let reader = try openReader()
    for number in 1..<40 {
      try round(number, writer)
      if number % 3 == 0 {
        try reader.refresh()
        #expect(try reader.contents() == writer.contents())
      }
    }
    #expect(writer.statistics.merges > 0)
  }
}
