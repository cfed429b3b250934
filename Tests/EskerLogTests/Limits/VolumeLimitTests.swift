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

/// Volumes that give no more room, by a quota or since they are full, or that may not be written to.
@Suite(.serialized, .timeLimit(.minutes(60))) struct VolumeLimitTests {
  @Test(arguments: [Durability.buffered, .synced]) func aQuotaIsAnErrorAndWhatWasAcknowledgedStays(
    _ durability: Durability
  ) throws {
    var refused = 0
    // The call from which on nothing is given any more.
    for nth in 1...Rounds.count(12, thorough: 60) {
      let bench = FaultBench()
      var ledger = Ledger()
      let store = try bench.open()
      ledger.fill(store, length: 1000, most: 30, durability: durability)
      for operation in [FaultOperation.reserve, .truncate, .write, .extend, .populate, .create] {
        bench.plan.fail(operation, nth: nth, sticky: true, .error(PlatformError.quotaExceeded))
      }
      ledger.fill(store, length: 1000, most: 400, durability: durability)
      refused += ledger.refusals.count
      for refusal in ledger.refusals {
        let says = "\(refusal)"
        #expect(says.contains("space") || says.contains("quota") || says.contains("Quota"), "call \(nth): \(says)")
      }
      #expect(try store.get("key 1") == Ledger.value(1, length: 1000))
      store.probe.kill()
      try bench.killProcess()
      let again = try bench.open(seed: 2)
      try ledger.expectHeld(by: again)
      again.probe.kill()
    }
    #expect(refused > 5)
  }

  @Test func aVolumeThatMayOnlyBeReadIsAnErrorToWriters() throws {
    let bench = FaultBench()
    var ledger = Ledger()
    let store = try bench.open()
    ledger.fill(store, length: 1000, most: 200)
    try store.close()
    bench.plan.fail(nil, sticky: true, .refusesWriting(PlatformError.isReadOnly))
    #expect(throws: StoreError.self) { try bench.open(seed: 2) }
    let reader = try bench.open(seed: 2) { $0.readOnly = true }
    try ledger.expectHeld(by: reader)
    try reader.close()
    bench.plan.heal()
    let again = try bench.open(seed: 3)
    try ledger.expectHeld(by: again)
    again.probe.kill()
  }

  #if os(Linux)
    /// Runs a body on a volume of its own of so many bytes, if this process may mount one.
    private static func onVolume(of bytes: Int, _ body: (String) throws -> Void) throws {
      let directory = try TemporaryDirectory()
      guard mount("none", directory.path, "tmpfs", 0, "size=\(bytes)") == 0 else {
        return print("VolumeLimitTests: skipped, as no volume can be mounted: \(PlatformError.message(errno))")
      }
      defer { umount2(directory.path, Int32(MNT_DETACH)) }
      try body(directory.path)
    }

    @Test func aFullVolumeIsAnErrorUntilThereIsRoom() throws {
      try Self.onVolume(of: 6 << 20) { path in
        var options = Options()
        options.segmentSize = 256 << 10
        var ledger = Ledger()
        let store = try LogStore(at: "\(path)/store", options: options)
        ledger.fill(store, length: 3000, most: 5_000)
        guard case .noSpace = ledger.refusals.first else {
          Issue.record("\(ledger.refusals)")
          return
        }
        #expect(ledger.acknowledged.count > 500)
        try ledger.expectHeld(by: store)
        try? store.close()
        let again = try LogStore(at: "\(path)/store", options: options)
        try ledger.expectHeld(by: again)
        try? again.close()
      }
    }

    @Test func aVolumeThatBecomesReadOnlyUnderAnOpenStoreLosesNothing() throws {
      try Self.onVolume(of: 16 << 20) { path in
        var ledger = Ledger()
        let store = try LogStore(at: "\(path)/store")
        ledger.fill(store, length: 3000, most: 100)
        try store.close()
        guard mount("none", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
          return print("VolumeLimitTests: skipped, as no volume can be made read-only")
        }
        #expect(throws: StoreError.self) { try LogStore(at: "\(path)/store") }
        var options = Options()
        options.readOnly = true
        let reader = try LogStore(at: "\(path)/store", options: options)
        try ledger.expectHeld(by: reader)
        try reader.close()
      }
    }
  #endif
}
