import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A writer is killed while its records take the room of others.
@Suite(.serialized) struct ReplacementKillTests {
  private static let rounds = Rounds.count(60, thorough: 300)

  @Test func aProcessKilledAmidReplacementsLosesNothing() throws {
    var generator = SeededGenerator(announcedFor: "ReplacementKillTests")
    var (holes, replaced) = (0, 0)
    for round in 0..<Self.rounds {
      let directory = try TemporaryDirectory()
      let (path, progress) = (directory.appending("store"), directory.appending("progress"))
      let file = try OSFileSystem().open(progress, .create)
      try file.writeAll([UInt8](repeating: 0, count: 8), at: 0)
      let (process, output) = try ChildProgram.start("esker-crash-writer", ["--replacing", path, progress])
      usleep(UInt32.random(in: 20_000...60_000, using: &generator))
      kill(process, SIGKILL)
      var status: Int32 = 0
      waitpid(process, &status, 0)
      close(output)
      try #require(status & 0x7f == SIGKILL, "the writer ended by itself")
      let returned = try file.bytes(in: 0..<8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
      file.close()
      holes += try LoggedRecords(of: path).holes
      // A reader first: it changes nothing, and must see the same.
      for readOnly in [true, false] where returned > 0 {
        let store = try LogStore(at: path, options: { $0.readOnly = readOnly })
        try Self.check(store, returned, "round \(round), read-only \(readOnly)")
        if !readOnly { replaced += Int(store.lastSequence.rawValue) - store.statistics.segments.count }
        try store.close()
      }
      if returned > 0 {
        let store = try LogStore(at: path)
        try Self.check(store, returned, "round \(round), closed and opened again")
      }
    }
    print("ReplacementKillTests: \(Self.rounds) kills, \(replaced) writes, \(holes) records that were being replaced")
  }

  private static func check(_ store: LogStore, _ returned: UInt64, _ moment: String) throws {
    // The write that had not returned may have taken effect.
    let last = store.lastSequence.rawValue
    #expect(last == returned || last == returned + 1, "\(moment): \(last) after \(returned)")
    for number in (last > KillScript.replacedKeys ? last - KillScript.replacedKeys + 1 : 1)..<last + 1 {
      let value = try store.get(KillScript.replacedKey(number))
      #expect(value == KillScript.replacement(number), "\(moment): #\(number) of \(last)")
    }
    #expect(try store.verify().damage.filter { !$0.location.path.contains("manifest") } == [], "\(moment)")
  }
}

extension LogStore {
  fileprivate convenience init(at path: String, options change: (inout Options) -> Void) throws(StoreError) {
    var options = Options()
    change(&options)
    try self.init(at: path, options: options)
  }
}
