import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Stores in processes that the system gives less than they ask for: each call gets its answer or an error that says why, and once the limit
/// is lifted, nothing is lost or damaged. For few descriptors see `DescriptorTests`.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ResourceLimitTests {
  /// Runs the body of an exit test; what it throws shows in the test.
  private static func recording(_ body: () throws -> Void) {
    do { try body() } catch { Issue.record(error) }
  }

  private static func open(_ path: String, segmentSize: Int? = 1 << 20) throws(StoreError) -> LogStore {
    var options = Options()
    options.segmentSize = segmentSize
    return try LogStore(at: path, options: options)
  }

  /// The system sends a signal to who writes beyond the limit, which ends the process; to who asks for room first, it only says no.
  @Test(arguments: [true, false]) func aFileThatMayNotGrowIsAnErrorAndNoSignal(_ isIgnored: Bool) async {
    await #expect(processExitsWith: .success) { [isIgnored = isIgnored as Bool] in
      Self.recording {
        signal(SIGXFSZ, isIgnored ? SIG_IGN : SIG_DFL)
        let directory = try TemporaryDirectory()
        let path = directory.appending("store")
        var ledger = Ledger()
        let store = try Self.open(path)
        ledger.fill(store, length: 1000, most: 100)
        try ResourceLimit.fileSize.set(300_000)
        ledger.fill(store, length: 1000, most: 5_000)
        let refusal = ledger.refusals.first
        #expect(refusal != nil)
        print("ResourceLimitTests: \(ledger.acknowledged.count) writes, then \(refusal.map { "\($0)" } ?? "none")")
        #expect(try store.get("key 1") == Ledger.value(1, length: 1000))
        try? store.close()
        // Opening it so limited is an answer or an error, and changes nothing that counts.
        if let limited = try? Self.open(path) {
          try ledger.expectHeld(by: limited)
          try? limited.close()
        }
        try ResourceLimit.fileSize.set(nil)
        let again = try Self.open(path)
        try ledger.expectHeld(by: again)
        try again.put("more", forKey: "key 1")
        try again.close()
      }
    }
  }

  #if os(Linux)
    /// The address space that this process uses.
    private static func addressSpace() throws -> Int {
      let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).prefix { $0 != " " }
      return (Int(text) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Swift ends a process that gets no memory for an object; the engine's own mappings are errors instead. Whichever comes first, what
    /// was acknowledged is there.
    @Test(arguments: [0, 4, 64]) func addressSpaceThatRunsOutLosesNothing(_ megabytes: Int) async throws {
      let directory = try TemporaryDirectory()
      let path = directory.appending("store")
      let progress = directory.appending("progress")
      let value = Ledger.value(7, length: 60_000)
      await #expect(processExitsWith: .failure) {
        [path = path as String, progress = progress as String, megabytes = megabytes as Int, value = value as [UInt8]]
        in
        Self.recording {
          let file = Glibc.open(progress, O_CREAT | O_WRONLY, 0o600)
          let store = try Self.open(path)
          try ResourceLimit.addressSpace.set(try Self.addressSpace() + megabytes << 20)
          for number in 0..<4_000 {
            do throws(StoreError) { try store.put(value, forKey: "\(number)") } catch { break }
            var count = number + 1
            guard pwrite(file, &count, 8, 0) == 8 else { break }
          }
          kill(getpid(), SIGKILL)
        }
      }
      let file = try OSFileSystem().open(progress, .read)
      defer { file.close() }
      let acknowledged = StoreCaller.number(Array(try file.allBytes())) ?? 0
      let store = try Self.open(path)
      let count = try store.count()
      print("ResourceLimitTests: \(megabytes) MiB of addresses, \(acknowledged) writes acknowledged, \(count) there")
      #expect(count >= acknowledged && count <= acknowledged + 1)
      for number in 0..<count { #expect(try store.get("\(number)") == value) }
      #expect(try store.verify().isClean)
      try store.close()
    }

    /// The tail may become three times as long as other segments. These take as many addresses as they have bytes, while the store grows and
    /// once it is opened again.
    @Test func onlyTheTailTakesAddressesForMore() async {
      await #expect(processExitsWith: .success) {
        Self.recording {
          let directory = try TemporaryDirectory()
          let path = directory.appending("store")
          let value = Ledger.value(7, length: 60_000)
          let (count, bytes) = (3_200, 3_200 * 60_000)
          // With the threads of a store, and what the system sets aside for each.
          let store = try Self.open(path)
          for number in 0..<50 { try store.put(value, forKey: "\(number)") }
          let before = try Self.addressSpace()
          for number in 0..<count { try store.put(value, forKey: "\(number)") }
          store.probe.sealFinished()
          let grown = try Self.addressSpace() - before
          try store.close()
          let again = try Self.open(path)
          let opened = try Self.addressSpace() - before
          print("ResourceLimitTests: \(bytes) bytes take \(grown) addresses, and \(opened) once they are opened again")
          #expect(grown < 2 * bytes && opened < 2 * bytes)
          #expect(try again.get("7") == value)
          try again.close()
        }
      }
    }

    /// The greatest value there may be, with less and with more address space than it takes to map the log. What the process has reached
    /// when it ends, 1 for the write, 2 for the read, is in a file.
    @Test(
      .enabled(if: Rounds.areThorough, "a value of 1 GiB takes its time: ESKER_THOROUGH"),
      arguments: [96, 1536, 4096]
    )
    func aValueOfOneGibibyteIsWrittenOrNot(_ megabytes: Int) async throws {
      let directory = try TemporaryDirectory()
      let path = directory.appending("store")
      let progress = directory.appending("progress")
      let value = [UInt8](repeating: 7, count: LogStore.maximumValueLength)
      await #expect(processExitsWith: .failure) {
        [path = path as String, progress = progress as String, megabytes = megabytes as Int] in
        Self.recording {
          let value = [UInt8](repeating: 7, count: LogStore.maximumValueLength)
          let file = Glibc.open(progress, O_CREAT | O_WRONLY, 0o600)
          let store = try Self.open(path, segmentSize: nil)
          try store.put("small", forKey: "small")
          try ResourceLimit.addressSpace.set(try Self.addressSpace() + megabytes << 20)
          var reached = 1
          if (try? store.put(value, forKey: "large")) != nil {
            pwrite(file, &reached, 8, 0)
            reached = 2
            if try store.withValue(forKey: "large", { $0.byteCount }) == value.count { pwrite(file, &reached, 8, 0) }
          }
          kill(getpid(), SIGKILL)
        }
      }
      let file = try OSFileSystem().open(progress, .read)
      defer { file.close() }
      let reached = StoreCaller.number(Array(try file.allBytes())) ?? 0
      let store = try Self.open(path, segmentSize: nil)
      let found = try store.get("large")
      print("ResourceLimitTests: beside \(megabytes) MiB step \(reached), \(found?.count ?? 0) bytes are there")
      #expect(try store.get("small") == bytes("small"))
      #expect(found == nil ? reached == 0 : found == value)
      // Neither the write nor the read takes a copy.
      #expect(megabytes < 1536 || reached == 2)
      #expect(try store.verify().isClean)
      try store.close()
    }
  #endif
}
