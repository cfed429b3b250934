import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerLog

/// Backups on the machine's own file system, while threads write.
@Suite struct BackupConcurrencyTests {
  private static func options() -> Options {
    var options = Options()
    options.segmentSize = 256 << 10
    return options
  }

  @Test func aBackupUnderWritersIsThePrefixItSays() throws {
    let directory = try TemporaryDirectory()
    let store = try LogStore(at: directory.appending("store"), options: Self.options())
    let writes = Guarded<[UInt64: (key: [UInt8], value: [UInt8]?)]>([:])
    let isDone = Atomic<Bool>(false)
    let reports = Guarded<[(String, Report.Backup)]>([])
    let errors = try onThreads(3) { thread in
      if thread == 2 {
        for round in 0..<5 {
          let path = directory.appending("backup \(round)")
          let report = try store.backup(to: path)
          reports.withLock { $0.append((path, report)) }
        }
        isDone.store(true, ordering: .relaxed)
        return
      }
      var number = 0
      while !isDone.load(ordering: .relaxed), number < 200_000 {
        let key = bytes("key \(thread) \(number % 500)")
        let value = bytes("value \(number) \(String(repeating: "x", count: number % 300))")
        let sequence = try store.put(value, forKey: key)
        writes.withLock { $0[sequence.rawValue] = (key, value) }
        number += 1
      }
    }
    #expect(errors.isEmpty)
    #expect(reports.withLock { $0.count } == 5)
    for (path, report) in reports.withLock({ $0 }) {
      var expected: [[UInt8]: [UInt8]] = [:]
      let all = writes.withLock { $0 }
      for sequence in all.keys.filter({ $0 <= report.sequence.rawValue }).sorted() {
        if let write = all[sequence] { expected[write.key] = write.value }
      }
      let backup = try LogStore(at: path, options: Self.options())
      #expect(try backup.contents() == expected)
      #expect(try backup.verify().isClean)
    }
    try store.close()
  }

  @Test func sealedSegmentsAreSecondNamesOfTheSameFile() throws {
    let directory = try TemporaryDirectory()
    let path = directory.appending("store")
    let store = try LogStore(at: path, options: Self.options())
    for number in 0..<3000 { try store.put([UInt8](repeating: 1, count: 500), forKey: "key \(number)") }
    try store.close()
    let again = try LogStore(at: path, options: Self.options())
    let report = try again.backup(to: directory.appending("backup"))
    #expect(report.sharedSegments >= 4)
    let files = OSFileSystem()
    let linked = try files.list(path).filter { try files.status("\(path)/\($0)")?.linkCount == 2 }
    #expect(linked.count == report.sharedSegments)
    let expected = try again.contents()
    try again.close()
    for name in try files.list(path) { try files.remove("\(path)/\(name)") }
    let backup = try LogStore(at: directory.appending("backup"), options: Self.options())
    #expect(try backup.contents() == expected)
    #expect(try backup.verify().isClean)
  }
}
