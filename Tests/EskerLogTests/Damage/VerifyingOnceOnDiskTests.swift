import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What was verified does not vouch for pages that are gone: on a real disk, since only that has pages that can go.
@Suite struct VerifyingOnceOnDiskTests {
  private let value = [UInt8](repeating: 7, count: 40_000)

  private func path(of store: LogStore, in directory: TemporaryDirectory) throws -> String {
    let path = directory.appending("store")
    let name = try #require(try OSFileSystem().list(path).filter { $0.hasSuffix(".segment") }.max())
    return "\(path)/\(name)"
  }

  /// Each value is verified; then the second half of the last one is cut off.
  @Test func aReadThatMeetsAPageThatIsGoneTells() throws {
    let reads: [(LogStore) throws -> [UInt8]?] = [
      { try $0.get("last") },
      { try $0.get(["last"])[0] },
      { store in try store.withValue(forKey: "last") { (span: RawSpan) in span.withUnsafeBytes { [UInt8]($0) } } },
      { store in
        var buffer = [UInt8](repeating: 0, count: 40_000)
        let length = try buffer.withUnsafeMutableBytes { try store.get("last", into: $0) }
        return length.map { [UInt8](buffer[..<$0]) }
      },
    ]
    for read in reads {
      let directory = try TemporaryDirectory()
      let store = try LogStore(at: directory.appending("store"), options: Options())
      for key in ["first", "last"] {
        try store.put(value, forKey: key)
        #expect(try store.get(key) == value)
      }
      let file = try OSFileSystem().open(path(of: store, in: directory), .readWrite)
      try file.truncate(65_536)
      #expect {
        _ = try read(store)
      } throws: { error in
        guard case StoreError.damaged = error else { return false }
        return true
      }
      #expect(try store.get("first") == value, "all of its pages are there")
      try? store.close()
    }
  }

  @Test func pagesThatAreThereAreCountedAsNoFault() throws {
    let directory = try TemporaryDirectory()
    let store = try LogStore(at: directory.appending("store"), options: Options())
    try store.put(value, forKey: "key")
    for _ in 0..<3 { #expect(try store.get("key") == value) }
    let segment = try #require(store.probe.segments.last.flatMap { store.probe.hold($0.id) })
    #expect(!segment.isFaulted)
    try store.close()
  }
}
