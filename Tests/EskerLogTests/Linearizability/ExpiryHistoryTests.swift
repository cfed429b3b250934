import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Histories of values that expire, beside a clock that a thread sets forward: expiry is part of the state, so who finds a value gone
/// was called before the clock was set, or later.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ExpiryHistoryTests {
  private typealias Model = KeyValueModel

  @Test func valuesExpireAtOneInstant() throws {
    var seeds = SeededGenerator(announcedFor: "valuesExpireAtOneInstant")
    for round in 0..<Rounds.count(15, thorough: 1000) {
      let bench = FaultBench()
      let store = try bench.open { $0.capacity = nil }
      let start = Int(bench.clock.wallMilliseconds())
      let recorder = HistoryRecorder<Model>()
      let generators = (0..<4).map { _ in seeds.split() }
      let errors = try onThreads(4) { number in
        var random = generators[number]
        for step in 0..<120 {
          let key = Int.random(in: 0..<2, using: &random)
          let value = number * 1000 + step
          let time = Int(bench.clock.wallMilliseconds()) - start + Int.random(in: 0..<4, using: &random)
          let called = recorder.tick()
          let call: Model.Call
          var outcome = Model.Outcome.done
          switch number == 3 ? 9 : Int.random(in: 0..<8, using: &random) {
          case 0..<4:
            call = .get(key)
            outcome = .value(StoreCaller.number(try store.get("\(key)")))
          case 4:
            call = .putIfAbsent(key, value)
            outcome = .wasDone(try store.putIfAbsent(StoreCaller.bytes(value), forKey: "\(key)") != nil)
          case 5:
            call = .remove(key)
            outcome = .wasDone(try store.remove("\(key)"))
          case 6, 7:
            call = .putExpiring(key, value, at: time)
            let instant = Expiry.at(WallTime(millisecondsSince1970: Int64(start + time)))
            try store.put(StoreCaller.bytes(value), forKey: "\(key)", expiry: instant)
          default:
            guard step % 4 == 0 else {
              if step % 12 == 1 { try store.removeExpired() }
              continue
            }
            call = .advance(to: step / 4 + 1)
            bench.clock.advance(milliseconds: 1)
          }
          recorder.note("\(number)", call, outcome, calledAt: called)
        }
      }
      #expect(errors.isEmpty, "\(errors)")
      if let objection = LinearizabilityChecker(Model(keys: 2)).objection(to: recorder.operations) {
        Issue.record("round \(round): \(objection)")
      }
      store.probe.kill()
    }
  }
}
