import EskerTestSupport
import Foundation
import Testing

/// Four processes read and write under chaos; afterwards it is checked, by what the servers executed, that each saw one history.
///
/// `ESKER_REDIS_FAULTS` says with which faults, as `kill,stop`, and `ESKER_SEED` in which order.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct HistoryTests {
  private static let shared = Result { try TestCluster() }
  /// For how long.
  private static let seconds = Rounds.count(45, thorough: 120)

  private static let faults =
    ProcessInfo.processInfo.environment["ESKER_REDIS_FAULTS"]?.split(separator: ",")
    .compactMap { Chaos.Fault(rawValue: String($0)) } ?? Chaos.Fault.allCases

  @Test func allSeeOneHistory() throws {
    var random = SeededGenerator(announcedFor: "allSeeOneHistory")
    let nearCache = NearCache.named
    let chaos = try Chaos(Self.shared.get(), nearCache: nearCache, random.split())
    let end = ContinuousClock.now + .seconds(Self.seconds)
    var faults: [Chaos.Fault] = []
    chaos.sleep(1)
    repeat {
      if faults.isEmpty { faults = Self.faults.shuffled(using: &random) }
      try chaos.apply(faults.removeLast())
    } while ContinuousClock.now < end
    let checker = try chaos.check()
    print(checker.summary)
    #expect(checker.checked > 1_000)
    #expect(
      checker.violations.isEmpty,
      "\(checker.violations.count): \(checker.violations.prefix(20).joined(separator: "\n"))"
    )
    // Others have no way to tell it.
    #expect(
      checker.untold.isEmpty || nearCache != nil,
      "\(checker.untold.count): \(checker.untold.prefix(10).joined(separator: "\n"))"
    )
  }

  /// The checker finds what it should: each error shows with one of these faults, if not without any. By chance, and after minutes, so only
  /// in thorough rounds.
  @Test(
    .enabled(if: Rounds.areThorough, "planted errors are looked for in thorough rounds: ESKER_THOROUGH"),
    arguments: [
      ("noFence", [Chaos.Fault.failover, .cut]), ("keepEpoch", [.cut, .kill, .cut]),
      ("trustAtSend", [.pause, .pause, .pause, .pause, .pause]),
      ("endlessLease", [.stopClient, .stall, .stopClient]), ("missedChange", []),
    ]
  )
  func plantedErrorsAreFound(_ plant: String, _ faults: [Chaos.Fault]) throws {
    var random = SeededGenerator(announcedFor: "plantedErrorsAreFound")
    // What has to be met within a moment is not met each time.
    for _ in 0..<4 {
      let chaos = try Chaos(Self.shared.get(), plant: plant, random.split())
      chaos.sleep(4)
      for fault in faults { try chaos.apply(fault) }
      let checker = try chaos.check()
      print("\(plant): \(checker.violations.count) violations in \(checker.summary)")
      print(checker.violations.prefix(3).joined(separator: "\n"))
      if !checker.violations.isEmpty { return }
    }
    Issue.record("\(plant) was not found")
  }

  /// What `Tools/near-cache` does with the near caches of others: one that fills late is found, and one with a fence is not blamed.
  @Test(
    .enabled(if: Rounds.areThorough, "a foreign near cache is tried in thorough rounds: ESKER_THOROUGH"),
    .enabled(if: NearCache.hasPython, "needs python3"),
    arguments: [false, true]
  )
  func aForeignNearCacheIsTried(_ hasFence: Bool) throws {
    var random = SeededGenerator(announcedFor: "aForeignNearCacheIsTried \(hasFence)")
    let chaos = try Chaos(Self.shared.get(), nearCache: .sample(hasFence: hasFence), random.split())
    chaos.sleep(10)
    let checker = try chaos.check()
    print("fence \(hasFence): \(checker.violations.count) violations in \(checker.summary)")
    #expect(checker.checked > 1_000)
    #expect(checker.violations.isEmpty == hasFence, "\(checker.violations.prefix(3).joined(separator: "\n"))")
  }
}
