import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// One sync of a file or of the directory fails, each in its turn: whatever it was for and whatever the error, the store takes
/// no more writes.
@Suite struct EverySyncFailsTests {
  private static let codes = [PlatformError.noSpace, PlatformError.quotaExceeded, PlatformError.inputOutput]

  /// What a workload is stopped by when the sync has failed.
  private struct Failed: Error {}

  @Test(arguments: [FaultOperation.sync, .syncDirectory], codes)
  func aFailedSyncEndsWriting(_ operation: FaultOperation, code: Int32) throws {
    var names: Set<String> = []
    var nth = 0
    repeat { nth += 1 } while try Self.run(operation, nth, code, &names)
    #expect(nth > 5)
    let expected: Set<String> =
      operation == .sync ? ["segment", "manifest.a", "manifest.b", "checkpoint.tmp"] : ["store"]
    #expect(names.isSuperset(of: expected), "\(names)")
  }

  /// Runs the workload with one sync failing; false when there were not so many. Notes of what it was.
  private static func run(
    _ operation: FaultOperation,
    _ nth: Int,
    _ code: Int32,
    _ names: inout Set<String>
  ) throws -> Bool {
    let machine = Machine()
    let plan = FaultPlan()
    plan.fail(operation, nth: nth, .error(code))
    let calls = SharedCounter()
    let failed = Guarded<String?>(nil)
    plan.onCall { call in
      guard call.operation == operation, calls.add() == nth else { return }
      let name = call.path.split(separator: "/").last.map(String.init) ?? ""
      failed.withLock { $0 = name.hasSuffix(".segment") ? "segment" : name }
    }
    func open(_ change: (inout Options) -> Void) throws(StoreError) -> LogStore {
      let platform = Platform.simulated(fileSystem: FaultyFileSystem(machine.disk, plan: plan), clock: machine.clock)
      let options = machine.options { options in
        options.merge.isAutomatic = false
        change(&options)
      }
      return try LogStore(at: machine.path, options: options, host: StoreHost(platform: platform, background: .inline))
    }
    do {
      for isPacked in [false, true] {
        let store: LogStore
        do throws(StoreError) { store = try open { $0.compression = isPacked ? .lz4 : .off } } catch {
          throw Failed()
        }
        for step in 0..<6 {
          let outcome = Result { try take(step, on: store) }
          guard failed.withLock({ $0 != nil }) else {
            try outcome.get()
            continue
          }
          let error = #expect(throws: StoreError.self, "sync \(nth), step \(step)") { try store.put("v", forKey: "k") }
          #expect(error?.isSyncFailure == true, "sync \(nth), step \(step): \(String(describing: error))")
          throw Failed()
        }
        do throws(StoreError) { try store.close() } catch { throw Failed() }
        if failed.withLock({ $0 != nil }) { throw Failed() }
        // The next manifest's edit makes this copy anew.
        try machine.disk.remove("\(machine.path)/manifest.b")
      }
    } catch is Failed {
      let name = failed.withLock { $0 }
      if let name { names.insert(name) }
      #expect(name != nil, "sync \(nth): nothing else fails")
      return true
    }
    return false
  }

  private static func take(_ step: Int, on store: LogStore) throws {
    switch step {
    case 0:
      for number in 0..<5 {
        try store.put([UInt8](repeating: 1, count: 1_000), forKey: "key \(number)", durability: .synced)
      }
    case 1:
      for number in 0..<150 { try store.put([UInt8](repeating: 2, count: 1_000), forKey: "key \(number % 50)") }
    case 2:
      try store.keyspace("another").setDefaultExpiry(.seconds(1))
    case 3:
      store.probe.writeCheckpoint()
    case 4:
      try store.merge()
    default:
      try store.sync()
    }
  }
}
