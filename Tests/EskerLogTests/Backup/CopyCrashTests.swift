import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Copies that are killed, meet a power cut or fail at any call: what is left is nothing, bears a mark, or is whole.
@Suite struct CopyCrashTests {
  private func callCount(of copying: Copying) throws -> Int {
    let bench = try CopyBench()
    try bench.make(copying, on: FaultyFileSystem(bench.disk, plan: bench.plan))
    return bench.plan.callCount
  }

  /// Images of the disk before some of the calls of a copy.
  private func images(
    of copying: Copying,
    _ bench: CopyBench,
    before points: [Int],
    _ take: @escaping @Sendable (SimulatedDisk) throws -> [(String, SimulatedDisk)]
  ) throws -> [(String, SimulatedDisk)] {
    let images = Guarded<[(String, SimulatedDisk)]>([])
    let disk = bench.disk
    bench.plan.onCall { call in
      guard points.contains(call.index) else { return }
      for (name, image) in (try? take(disk)) ?? [] { images.withLock { $0.append(("\(name) before \(call)", image)) } }
    }
    try bench.make(copying, on: FaultyFileSystem(disk, plan: bench.plan))
    bench.plan.onCall(nil)
    return images.withLock { $0 }
  }

  private func check(_ copying: Copying, _ bench: CopyBench, _ images: [(String, SimulatedDisk)]) throws {
    var counts: [CopyBench.Outcome: Int] = [:]
    for (moment, image) in images {
      let outcome = try bench.outcome(copying, on: image, moment)
      counts[outcome, default: 0] += 1
      #expect(try bench.open("/store", on: image, readOnly: true).contents() == bench.expected, "\(moment)")
      if outcome != .whole { try bench.makeAgain(copying, on: image, moment) }
    }
    let (nothing, refused, whole) = (counts[.nothing] ?? 0, counts[.refused] ?? 0, counts[.whole] ?? 0)
    print("CopyCrash: \(copying), \(images.count) images: \(nothing) nothing, \(refused) refused, \(whole) whole")
    #expect(nothing > 0 && refused > 0 && whole > 0)
  }

  @Test(arguments: Copying.allCases)
  func aPowerCutAtAnyCall(copying: Copying) throws {
    let bench = try CopyBench()
    var sweep = Sweep(announcedFor: "CopyCrashTests, power cut, \(copying)")
    let points = try sweep.points(of: callCount(of: copying), atMost: 12)
    let generator = Guarded(sweep.split())
    let images = try images(of: copying, bench, before: points) { disk in
      try [CrashPolicy.drop, .tear, .reorder, .keep].map { policy in
        ("\(policy)", try generator.withLock { try disk.crashImage(policy, using: &$0) })
      }
    }
    try check(copying, bench, images)
    // Done is done.
    var last = sweep.split()
    #expect(try bench.outcome(copying, on: bench.disk.crashImage(.drop, using: &last), "the end") == .whole)
  }

  @Test(arguments: Copying.allCases)
  func aKillAtAnyCall(copying: Copying) throws {
    let bench = try CopyBench()
    var sweep = Sweep(announcedFor: "CopyCrashTests, kill, \(copying)")
    let points = try sweep.points(of: callCount(of: copying), atMost: 20)
    let images = try images(of: copying, bench, before: points) { disk in [("killed", try disk.processKilled())] }
    try check(copying, bench, images)
  }

  /// What fails.
  private enum Extent: CaseIterable {
    case once
    /// The call and all that follow.
    case always
    /// The call, and every removal of what was made but that of the mark.
    case onceAndRemovals

    func plant(_ plan: FaultPlan, code: Int32, nth: Int) {
      plan.fail(nil, nth: nth, sticky: self == .always, .error(code))
      guard self == .onceAndRemovals else { return }
      plan.fail(.remove, on: FileMatch { !$0.hasSuffix(".unfinished") }, sticky: true, .error(code))
    }
  }

  @Test(arguments: Copying.allCases, [PlatformError.noSpace, PlatformError.inputOutput])
  func anErrorAtAnyCall(copying: Copying, code: Int32) throws {
    var sweep = Sweep(announcedFor: "CopyCrashTests, error \(code), \(copying)")
    let count = try callCount(of: copying)
    var counts: [CopyBench.Outcome: Int] = [:]
    for nth in sweep.points(of: count, atMost: 12) {
      for extent in Extent.allCases {
        let bench = try CopyBench()
        extent.plant(bench.plan, code: code, nth: nth)
        var moment = "call \(nth), \(extent)"
        do {
          // A repair goes on over what it cannot read, and says so.
          let isComplete = try bench.make(copying, on: FaultyFileSystem(bench.disk, plan: bench.plan))
          if isComplete { #expect(try bench.outcome(copying, on: bench.disk, moment) == .whole) }
          continue
        } catch { moment += ": \(error)" }
        var generator = sweep.split()
        for disk in try [bench.disk, bench.disk.crashImage(.reorder, using: &generator)] {
          let outcome = try bench.outcome(copying, on: disk, moment)
          counts[outcome, default: 0] += 1
          // What was made is removed where that is possible; the last call of all finds it whole.
          if extent == .once, disk === bench.disk {
            #expect(outcome == (nth == count ? .whole : .nothing), "\(moment)")
          }
          if outcome != .whole { try bench.makeAgain(copying, on: disk, moment) }
        }
      }
    }
    print("CopyCrash: \(copying), error \(code): \(counts)")
    #expect(counts[.nothing] ?? 0 > 0)
    #expect(counts[.refused] ?? 0 > 0)
  }

  /// Whoever is told that a copy is made may lose power at once.
  @Test(arguments: Copying.allCases, [FaultOperation.sync, .syncDirectory])
  func aCopyIsNotCalledMadeIfASyncHasFailed(copying: Copying, operation: FaultOperation) throws {
    let undisturbed = try CopyBench()
    try undisturbed.make(copying, on: FaultyFileSystem(undisturbed.disk, plan: undisturbed.plan))
    let count = undisturbed.plan.callCount(of: operation)
    try #require(count > 0)
    for nth in 1...count {
      let bench = try CopyBench()
      bench.plan.fail(operation, nth: nth, .error(PlatformError.inputOutput))
      let isMade = try? bench.make(copying, on: FaultyFileSystem(bench.disk, plan: bench.plan))
      guard isMade == true else { continue }
      var generator = SeededGenerator(seed: 1)
      let disk = try bench.disk.crashImage(.drop, using: &generator)
      #expect(try bench.outcome(copying, on: disk, "\(operation) \(nth)") == .whole)
    }
  }
}
