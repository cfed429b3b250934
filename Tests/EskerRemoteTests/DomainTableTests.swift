import EskerTestSupport
import Synchronization
import Testing

@testable import EskerRemote

@Suite struct DomainTableTests {
  /// Leases of odd generations are over, those of even ones go on: who asks for an odd one is never told to trust it.
  @Test func theLeaseOfANewGenerationIsNotTakenForAnOldOnes() async {
    let table = DomainTable(count: 1)
    let (past, now, future) = (UInt64(1), RemoteInstant(nanoseconds: 2), RemoteInstant(nanoseconds: 3))
    let isOver = Atomic(false)
    async let wrong = Task.detached { () -> Int in
      var wrong = 0
      while !isOver.load(ordering: .relaxed) {
        let generation = table.generation(0)
        if generation % 2 == 1, table.isTrusted(0, generation, at: now) { wrong += 1 }
      }
      return wrong
    }.value
    for generation in UInt32(1)...2_000_000 {
      table.raise(0, to: generation)
      table.setLeaseEnd(0, generation % 2 == 1 ? RemoteInstant(nanoseconds: past) : future)
    }
    isOver.store(true, ordering: .relaxed)
    #expect(await wrong == 0)
  }
}
