import EskerPlatform
import Testing

@testable import EskerLog

@Suite struct WaiterListTests {
  /// Suspends until the list that `append` puts the continuation in resumes it.
  private func wait(_ append: @escaping @Sendable (WaiterList.Continuation) -> Void) -> Task<StoreError?, Never> {
    Task { await withUnsafeContinuation { append($0) } }
  }

  private final class Shared: @unchecked Sendable {
    let lock = Lock()
    var list = WaiterList()

    func with<R>(_ body: (inout WaiterList) -> R) -> R { lock.withLock { body(&list) } }
  }

  @Test func everyoneIsFoundByTheirTicketInWhateverOrderTheyCame() async {
    // Near their order, far from it, and with gaps where somebody never came.
    for tickets in [[1, 2, 3, 4, 5, 6], [3, 1, 2, 6, 5, 9], [9, 5, 1], [7]] as [[UInt64]] {
      for ticket in tickets {
        let shared = Shared()
        var tasks: [UInt64: Task<StoreError?, Never>] = [:]
        for (place, each) in tickets.enumerated() {
          tasks[each] = wait { continuation in
            shared.with { $0.append(continuation, ticket: each, sequence: 100 - each) }
          }
          while shared.with({ $0.count }) == place { await Task.yield() }
        }
        #expect(shared.with { $0.sequence } == tickets.map { 100 - $0 }.max())
        #expect(shared.with { $0.remove(ticket: 4_000) == nil && $0.remove(ticket: 0) == nil })
        shared.with { $0.remove(ticket: ticket) }?.resume(returning: .cancelled)
        #expect(await tasks[ticket]?.value == .cancelled)
        #expect(shared.with { $0.remove(ticket: ticket) == nil })
        var rest = shared.with { list in
          defer { list = WaiterList() }
          return list
        }
        rest.resumeAll(.syncFailed(errno: 5))
        #expect(rest.isEmpty && rest.sequence == 0)
        for each in tickets where each != ticket { #expect(await tasks[each]?.value == .syncFailed(errno: 5)) }
      }
    }
  }

  @Test func anEmptyListHasNobody() {
    var list = WaiterList()
    #expect(list.remove(ticket: 1) == nil)
    list.resumeAll(nil)
    #expect(list.isEmpty)
  }
}
