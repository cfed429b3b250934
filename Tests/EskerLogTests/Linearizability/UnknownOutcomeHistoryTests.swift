import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Histories with writes that nobody knows the outcome of, as their sync failed before the process was killed: the next opening, and all
/// after it, agree on which of them happened.
@Suite(.serialized, .timeLimit(.minutes(60))) struct UnknownOutcomeHistoryTests {
  @Test func openingsAgreeOnWhatNobodyKnew() throws {
    var seeds = SeededGenerator(announcedFor: "openingsAgreeOnWhatNobodyKnew")
    var unknown = 0
    for round in 0..<Rounds.count(20, thorough: 1000) {
      let bench = FaultBench()
      let recorder = HistoryRecorder<KeyValueModel>()
      let callers = (0..<3).map { number in
        let caller = StoreCaller(number, keys: 2, recorder, seeds.split())
        caller.durability = .synced
        return caller
      }
      for incarnation in 0..<3 as Range<UInt64> {
        let store = try bench.open(seed: incarnation)
        let space = try store.keyspace("space")
        bench.plan.fail(.sync, on: .suffix(".segment"), nth: Int.random(in: 5...40, using: &seeds), .error(5))
        try onThreads(3) { number in
          for _ in 0..<80 {
            // Once a sync has failed, reads go on.
            do throws(StoreError) { try callers[number].step(store, space) } catch .syncFailed, .outcomeUnknown {}
          }
        }
        store.probe.kill()
        try bench.killProcess()
      }
      let model = KeyValueModel(keys: 2)
      let history = recorder.operations
      unknown += history.count { $0.outcome == nil }
      for view in [model.keyByKey(history), model.wholeBatches(history)] {
        if let objection = LinearizabilityChecker(model).objection(to: view) {
          Issue.record("round \(round): \(objection)")
        }
      }
    }
    #expect(unknown > 10)
  }
}
