import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct BackupCrashTests {
  private let clock = FakeClock()
  private let disk = SimulatedDisk()
  private let plan = FaultPlan()

  private func open(_ path: String, on fileSystem: any FileSystem) throws(StoreError) -> LogStore {
    var options = Options()
    options.segmentSize = 64 << 10
    options.clock = StoreClock(clock)
    let platform = Platform.simulated(fileSystem: fileSystem, clock: clock, seed: 7)
    return try LogStore(at: path, options: options, host: Host(platform: platform, background: .inline))
  }

  private func filled() throws -> (LogStore, [[UInt8]: [UInt8]]) {
    let store = try open("/store", on: FaultyFileSystem(disk, plan: plan))
    for number in 0..<250 {
      try store.put([UInt8](repeating: UInt8(number), count: 900), forKey: "key \(number)")
    }
    try store.sync()
    return (store, try store.contents())
  }

  /// What stands at the path of a backup that a crash interrupted: all of it, or nothing that can be taken for it.
  private func check(_ image: SimulatedDisk, _ expected: [[UInt8]: [UInt8]], _ point: String) throws -> Bool {
    guard try image.status("/backup") != nil, try !image.list("/backup").isEmpty else { return false }
    do {
      let backup = try open("/backup", on: image)
      #expect(try backup.contents() == expected, "\(point)")
      #expect(backup.lastSequence.rawValue == 250, "\(point)")
      try backup.close()
      return true
    } catch StoreError.notAStore, StoreError.damaged {
      // The manifest is the last to come.
      #expect(try !image.list("/backup").contains("manifest.a"), "\(point)")
      return false
    }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func aCrashAtAnyCallLeavesAWholeBackupOrNone(seed: UInt64) throws {
    let (store, expected) = try filled()
    let images = Guarded<[(String, SimulatedDisk)]>([])
    let generator = Guarded(SeededGenerator(seed: seed))
    let disk = disk
    plan.onCall { call in
      for policy in [CrashPolicy.drop, .tear, .reorder, .keep] {
        let image = generator.withLock { try? disk.crashImage(policy, using: &$0) }
        if let image { images.withLock { $0.append(("\(policy) before \(call)", image)) } }
      }
    }
    try store.backup(to: "/backup")
    plan.onCall(nil)
    var whole = 0
    for (point, image) in images.withLock({ $0 }) {
      if try check(image, expected, "seed \(seed): \(point)") { whole += 1 }
      // The store itself is none the worse.
      let original = try open("/store", on: image)
      #expect(try original.contents() == expected, "seed \(seed): \(point)")
    }
    let count = images.withLock { $0.count }
    print("BackupCrash: seed \(seed), \(count) images, \(whole) whole backups")
    #expect(whole > 0 && whole < count)
    // Done is done.
    var last = SeededGenerator(seed: seed)
    #expect(try check(disk.crashImage(.drop, using: &last), expected, "the end"))
  }

  @Test(arguments: [PlatformError.noSpace, PlatformError.inputOutput])
  func anErrorAtAnyCallLeavesNoHalfBackup(code: Int32) throws {
    let (store, expected) = try filled()
    let before = plan.callCount
    try store.backup(to: "/probe")
    let calls = plan.callCount - before
    #expect(calls > 10)
    var failed = 0
    for nth in 1...calls {
      let path = "/backup \(nth)"
      plan.fail(nil, nth: nth, .error(code))
      do throws(StoreError) { try store.backup(to: path) } catch { failed += 1 }
      plan.heal()
      guard try disk.status(path) != nil else { continue }
      let names = try disk.list(path)
      // An error after the last step may leave the backup whole.
      if names.contains("manifest.a") {
        #expect(try open(path, on: disk).contents() == expected, "call \(nth)")
      }
      #expect(try store.contents() == expected)
    }
    print("BackupCrash: error \(code) at each of \(calls) calls, \(failed) backups failed")
    #expect(failed > 5)
    #expect(throws: Never.self) { try store.put("still", forKey: "writable", durability: .synced) }
  }
}
