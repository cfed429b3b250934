import EskerPlatform
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite struct TransferLoopTests {
  /// Answers a sequence of calls with prepared results.
  private func run(count: Int, _ results: [Int]) -> (result: Int, calls: [[Int]]) {
    var calls: [[Int]] = []
    let result = TransferLoop.run(count: count) { done, wanted in
      calls.append([done, wanted])
      return calls.count <= results.count ? results[calls.count - 1] : 0
    }
    return (result, calls)
  }

  @Test func shortTransfersAreContinuedWhereTheyStopped() {
    let (result, calls) = run(count: 10, [3, 1, 6])
    #expect(result == 10)
    #expect(calls == [[0, 10], [3, 7], [4, 6]])
  }

  @Test func interruptedCallIsRepeated() {
    let (result, calls) = run(count: 10, [-Int(EINTR), 4, -Int(EINTR), 6])
    #expect(result == 10)
    #expect(calls == [[0, 10], [0, 10], [4, 6], [4, 6]])
  }

  @Test func errorAfterAShortTransferIsReported() {
    #expect(run(count: 10, [4, -Int(EIO)]).result == -Int(EIO))
  }

  @Test func endOfFileReturnsWhatWasThere() {
    #expect(run(count: 10, [4, 0]).result == 4)
  }

  @Test func nothingToDoMakesNoCall() {
    #expect(run(count: 0, []).calls.isEmpty)
  }

  @Test func largeTransfersAreCutToWhatTheSystemTakes() {
    let gib = TransferLoop.largestStep
    #expect(run(count: 2 * gib + 5, [gib, gib, 5]).calls == [[0, gib], [gib, gib], [2 * gib, 5]])
  }
}
