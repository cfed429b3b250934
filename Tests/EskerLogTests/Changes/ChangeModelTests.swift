import EskerTestSupport
import Testing

@testable import EskerLog

@Suite(.timeLimit(.minutes(60))) struct ChangeModelTests {
  /// Random writes, merges and reopenings; every copy that is kept by a feed equals the store, and every write is shown once.
  @Test func copiesKeptByFeedsEqualTheStore() async throws {
    var generator = SeededGenerator(announcedFor: "copiesKeptByFeedsEqualTheStore")
    var losses = 0
    for _ in 0..<150 {
      let seed = generator.next()
      do {
        var history = try ChangeHistory(seed: seed)
        try await history.run()
        losses += history.losses
      } catch {
        Issue.record("seed \(seed): \(error)")
        return
      }
    }
    // Both ways are taken.
    #expect(losses > 0)
  }
}
