import Testing

/// The protocol by which processes write in turn, in all states that it can get into.
@Suite struct TurnProtocolTests {
  private static let start = TurnProtocol(processes: 2, kills: 1, powerFailures: 1)

  @Test(arguments: [start, TurnProtocol(processes: 3, kills: 1, powerFailures: 0)])
  func noOrderOfStepsLosesARecord(start: TurnProtocol) {
    let (states, fault) = TurnProtocol.search(start)
    #expect(fault == nil)
    #expect(states > 10_000)
    print("TurnProtocolTests: \(states) states of \(start.processes.count) processes")
  }

  @Test(arguments: TurnProtocol.Mistake.allCases)
  func eachMistakeIsFound(mistake: TurnProtocol.Mistake) {
    #expect(TurnProtocol.search(Self.start, mistake).fault != nil)
  }
}
