import EskerRemote
import Testing

@testable import EskerRedis

@Suite struct SlotTableTests {
  @Test func raisedSlotsGetNoLeaseThatWasAskedForBefore() {
    var table = SlotTable(count: 10)
    for slot in 0..<10 { _ = table.setOwner(slot, slot < 6 ? 0 : 1, epoch: 1) }
    let asked = table.lastGeneration
    let raised = table.raise([2, 3, 5])
    #expect(raised.map(\.range) == [2..<4, 5..<6] && raised.map(\.generation) == [2, 3])
    let (runs, isNew) = table.grant(table.ranges(of: 0), of: 0, since: asked, until: 100, now: 1)
    #expect(isNew && runs.map(\.range) == [0..<2, 4..<5])
    #expect((0..<10).map { table.lease($0) } == [100, 100, 0, 0, 100, 0, 0, 0, 0, 0])
    let later = table.grant(table.ranges(of: 0), of: 0, since: table.lastGeneration, until: 90, now: 1)
    #expect(later.isNew && later.runs.map(\.range) == [0..<2, 2..<4, 4..<5, 5..<6])
    #expect(later.runs.map(\.generation) == [1, 2, 1, 3])
    // A lease is never shortened.
    #expect(table.lease(0) == 100 && table.lease(2) == 90)
    table.suspend([0..<3])
    #expect(table.lease(0) == 0 && table.lease(3) == 90 && table.generations[0] == 1)
  }

  @Test func aChangeOfOwnerOrEpochIsNoticed() {
    var table = SlotTable(count: 4)
    let changes = [(3, 1), (3, 1), (3, 2), (4, 2)].map { table.setOwner(0, $0, epoch: UInt64($1)) }
    #expect(changes == [true, false, true, true])
    let moving = [[1, 2], [2, 3]].map { table.setMoving($0) }
    #expect(moving == [[1, 2], [3]])
    let isNew = table.noteMoving(3)
    #expect(!isNew)
  }

  /// `a` owns all by its own view at epoch 1, and `b` half by the views of `b` and `c`.
  @Test func theHighestEpochWinsAndOnlyAMajorityCounts() throws {
    func view(_ text: String) throws -> [ClusterNode] {
      try #require(ClusterNode.parse(text, asked: RedisAddress(host: "h", port: 9)))
    }
    let old = try view(
      """
      a 1.1.1.1:1@2 myself,master - 0 0 1 connected 0-9999
      b 1.1.1.2:1@2 slave a 0 0 1 connected
      c 1.1.1.3:1@2 master - 0 0 2 connected 10000-16383
      """
    )
    let new = try view(
      """
      a 1.1.1.1:1@2 master,fail - 0 0 1 disconnected
      b 1.1.1.2:1@2 myself,master - 0 0 3 connected 0-9999
      c 1.1.1.3:1@2 master - 0 0 2 connected 10000-16383
      """
    )
    let third = try view(
      """
      a 1.1.1.1:1@2 master,fail - 0 0 1 disconnected
      b 1.1.1.2:1@2 master - 0 0 3 connected 0-9999
      c 1.1.1.3:1@2 myself,master - 0 0 2 connected 10000-16383
      """
    )
    #expect(!ClusterVote([old]).isMajority)
    #expect(!ClusterVote([new]).isMajority)
    let vote = ClusterVote([new, old, third])
    #expect(vote.isMajority && vote.failed == ["a"] && vote.owners == ["b", "c"])
    #expect(vote.claims[0] == ClusterVote.Claim(epoch: 3, id: "b") && vote.claims[10_000]?.id == "c")
    #expect(!ClusterVote([]).isMajority)
  }

  @Test func scriptsAreNamedByTheirDigest() {
    #expect(SHA1.digest(Array("abc".utf8)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(SHA1.digest([]) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(
      SHA1.digest([UInt8](repeating: UInt8(ascii: "a"), count: 119)) == "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"
    )
  }

  @Test func theBreakerOpensAndTriesAgain() {
    var random = SystemRandomNumberGenerator()
    var breaker = CircuitBreaker()
    let now = RemoteInstant(nanoseconds: 1_000)
    for _ in 0..<4 { breaker.fail(now, &random) }
    #expect(!breaker.isOpen)
    breaker.fail(now, &random)
    #expect(breaker.isOpen && breaker.nextTry > now && breaker.nextTry <= now.advanced(by: .milliseconds(160)))
    for _ in 0..<100 { breaker.fail(now, &random) }
    #expect(breaker.nextTry <= now.advanced(by: .seconds(1)))
    breaker.succeed()
    #expect(!breaker.isOpen)
  }
}
