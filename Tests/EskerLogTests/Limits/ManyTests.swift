import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// As many of something as a store may have to bear.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ManyTests {
  @Test func manyKeyspacesKeepApart() throws {
    let count = Rounds.areThorough ? 1_000_000 : 3_000
    let directory = try TemporaryDirectory()
    let path = directory.appending("store")
    let store = try LogStore(at: path)
    let names = (0..<count).map { "space \($0)" }
    for (number, space) in try store.keyspaces(names).enumerated() { try space.put("\(number)", forKey: "key") }
    #expect(try store.totalCount() == count)
    #expect(try store.removeKeyspace("space 7"))
    try store.close()
    let again = try LogStore(at: path)
    #expect(Set(try again.keyspaceNames).subtracting([""]).count == count - 1)
    for number in stride(from: 0, to: count, by: max(1, count / 1000)) where number != 7 {
      #expect(try again.keyspace("space \(number)").get("key") == bytes("\(number)"))
    }
    #expect(try again.verify().isClean)
    try again.close()
  }

  @Test func manySegmentsAreOneStore() throws {
    let count = Rounds.areThorough ? 65_536 : 300
    let directory = try TemporaryDirectory()
    let path = directory.appending("store")
    var options = Options()
    options.segmentSize = 64 << 10
    options.merge.isAutomatic = false
    let store = try LogStore(at: path, options: options)
    var written = 0
    var refusal: StoreError?
    // One value fills most of a segment.
    while written < count, refusal == nil {
      do throws(StoreError) {
        try store.put(Ledger.value(written, length: 60_000), forKey: "key \(written)")
        written += 1
      } catch { refusal = error }
    }
    print("ManyTests: \(written) segments, \(refusal.map { "\($0)" } ?? "no refusal")")
    try store.close()
    let again = try LogStore(at: path, options: options)
    #expect(try again.count() == written)
    for number in stride(from: 0, to: written, by: max(1, written / 500)) {
      #expect(try again.get("key \(number)") == Ledger.value(number, length: 60_000))
    }
    #expect(try again.verify().isClean)
    try again.close()
  }
}
