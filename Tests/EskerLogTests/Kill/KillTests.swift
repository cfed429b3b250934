import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite(.serialized) struct KillTests {
  /// How often a writer is killed.
  private static let rounds = Rounds.count(200, thorough: 1_000)
  /// A store is begun anew after so many kills, so that openings after crashes stay short.
  private static let roundsPerStore = 10

  @Test func aKilledProcessLosesNothingThatReturnedAndLeavesNoHole() throws {
    var generator = SeededGenerator(announcedFor: "KillTests")
    let start = ContinuousClock.now
    var acknowledged: UInt64 = 0
    var unacknowledged = 0
    var rewritten = 0
    var directory = try TemporaryDirectory()
    var last: [UInt64] = []
    for round in 0..<Self.rounds {
      if round % Self.roundsPerStore == 0 {
        directory = try TemporaryDirectory()
        last = [UInt64](repeating: 0, count: Int.random(in: 2...4, using: &generator))
      }
      let path = directory.appending("store")
      let delay = UInt32.random(in: 5_000...90_000, using: &generator)
      let writer = try KilledWriter(path: path, from: last, killedAfter: delay)
      acknowledged += zip(writer.acknowledged, last).reduce(0) { $0 + $1.0 - $1.1 }
      let logged = try LoggedRecords(of: path)
      let report = Guarded<Report.Opening?>(nil)
      var options = Options()
      options.segmentSize = 256 << 10
      options.onEvent = { event in
        switch event {
        case .opened(let found): report.withLock { $0 = found }
        case .damaged(let location, _) where location.path.contains("manifest"): break
        // A batch or a record that was killed half-way is cut off; nothing else may be.
        case .cut(let cut):
          if let objection = logged.objection(toCuttingFrom: cut.sequence.rawValue) {
            Issue.record("round \(round): \(event), but \(objection)")
          }
        case .damaged: Issue.record("round \(round): \(event)")
        default: break
        }
      }
      let store = try LogStore(at: path, options: options)
      rewritten += report.withLock { $0?.rewrittenRecords ?? 0 }
      for thread in last.indices {
        // A call that had not returned may have taken effect or not.
        let possible = [writer.acknowledged[thread], writer.acknowledged[thread] + 1]
        let found = try Self.state(of: store, thread: thread)
        guard let reached = possible.first(where: { KillScript.state(after: $0, thread: thread) == found }) else {
          Issue.record("round \(round), thread \(thread): neither state after \(possible); delay \(delay)")
          return
        }
        if reached != possible[0] { unacknowledged += 1 }
        last[thread] = reached
      }
      #expect(try store.count() == last.indices.reduce(0) { $0 + KillScript.state(after: last[$1], thread: $1).count })
      // A copy of the manifest may have been half written; the next edit replaces it.
      #expect(try store.verify().damage.filter { !$0.location.path.contains("manifest") } == [])
      // Half of the time the next writer finds what the killed one left, recovered once and closed by nobody.
      if generator.oneIn(2) { try store.close() } else { store.probe.kill() }
    }
    print(
      "KillTests: \(Self.rounds) kills, \(acknowledged) acknowledged writes, \(unacknowledged) that took effect unacknowledged, "
        + "\(rewritten) records written anew, \(ContinuousClock.now - start)"
    )
  }

  private static func state(of store: LogStore, thread: Int) throws -> [String: [UInt8]] {
    var state: [String: [UInt8]] = [:]
    for key in KillScript.keys(thread: thread) { state[key] = try store.get(key) }
    return state
  }
}
