import Esker
import EskerCrypto
import EskerTestSupport
import Testing

/// What other stores are put through, with sealed values: nothing is lost or wrong, and no byte of a value is in any file.
@Suite(.timeLimit(.minutes(60))) struct SealedHistoryTests {
  private func histories(_ count: Int, _ test: String, _ run: (UInt64) throws -> Void) {
    var seeds = SeededGenerator(announcedFor: test)
    var seed = seeds.seed
    for number in 0..<count {
      do { try run(seed) } catch {
        Issue.record("history \(number), replay with ESKER_SEED=\(seed): \(error)")
        return
      }
      seed = seeds.next() >> 32
    }
  }

  /// Kills and lost power at any call, readers, snapshots, copies, merges, packing, ranges, caches, damage, rotation.
  @Test func nothingIsLostOrWrongOrInTheFiles() {
    var looks = 0
    histories(Rounds.count(40, thorough: 4_000), "nothingIsLostOrWrongOrInTheFiles") { seed in
      let history = try SealedHistory(seed: seed, lookingAtOneIn: 12)
      for _ in 0..<3 {
        try history.steps(20)
        try history.search(history.bench, "at rest")
      }
      looks += history.looks
    }
    print("looked at \(looks) disks as crashes leave them")
    #expect(looks > 0)
  }

  @Test func noncesNeverRepeatWhateverEndsAProcess() {
    var nonces = 0
    histories(Rounds.count(300, thorough: 10_000), "noncesNeverRepeatWhateverEndsAProcess") { seed in
      let history = try SealedHistory(seed: seed, lookingAtOneIn: nil)
      try history.steps(40, .sealing)
      try history.compare(history.process, history.states.count - 1...history.states.count - 1, "in the end")
      nonces += history.nonces
    }
    print("\(nonces) nonces")
    #expect(nonces > 0)
  }

  /// The search for what is not sealed finds it where nothing is.
  @Test func theSearchFindsWhatIsPlain() {
    var found = 0
    for seed in 0..<8 as Range<UInt64> {
      do {
        let history = try SealedHistory(seed: seed, lookingAtOneIn: nil, isSealed: false)
        try history.steps(30)
        try history.search(history.bench, "at rest")
      } catch let error as SealedHistory.Wrong where error.description.contains("is not sealed") {
        found += 1
      } catch {
        Issue.record("\(seed): \(error)")
      }
    }
    #expect(found == 8)
  }
}
