import EskerTestSupport
import Testing

@testable import Esker

/// Readers that fill the front and writers, step by step in any order: the front never ends up with another value than the back.
@Suite struct FenceModelTests {
  /// Two tiers with one key, and the fence between.
  private final class Tiers {
    let fence = TierFence(stripes: 1)
    var front: Int?
    var back = 0
    /// How many have begun to write the front and not left.
    var underWay = 0
    var fills = 0
  }

  /// One caller, as the steps that others may come between.
  private final class Caller {
    private var steps: [() -> Void]
    var isOver: Bool { steps.isEmpty }

    init(_ steps: [() -> Void]) {
      self.steps = steps
    }

    func step() { steps.removeFirst()() }

    func end() { steps = [] }

    static func reader(_ tiers: Tiers) -> Caller {
      var found = 0
      var ticket = tiers.fence.beginRead(0)
      let caller = Caller([])
      caller.steps = [
        { ticket = tiers.fence.beginRead(0) }, { found = tiers.back },
        {
          guard tiers.fence.enterFill(ticket) else { return caller.end() }
          tiers.underWay += 1
        },
        {
          tiers.front = found
          tiers.fills += 1
        },
      ]
      caller.steps += caller.leaving(tiers)
      return caller
    }

    static func writer(_ tiers: Tiers, _ value: Int, isFrontFirst: Bool) -> Caller {
      let caller = Caller([])
      let halves = [{ tiers.back = value }, { tiers.front = value }]
      caller.steps = [
        {
          tiers.fence.enterWrite(0)
          tiers.underWay += 1
        }
      ]
      caller.steps += isFrontFirst ? halves.reversed() : halves
      caller.steps += caller.leaving(tiers)
      return caller
    }

    private func leaving(_ tiers: Tiers) -> [() -> Void] {
      var didOverlap = false
      return [
        { didOverlap = tiers.fence.didOverlap(0) }, { if didOverlap { tiers.front = nil } },
        {
          tiers.underWay -= 1
          tiers.fence.leaveWrite(0)
        },
      ]
    }
  }

  @Test func frontHasWhatTheBackHasOrNothing() {
    var generator = SeededGenerator(announcedFor: "frontHasWhatTheBackHasOrNothing")
    var (fills, kept) = (0, 0)
    for _ in 0..<20_000 {
      let tiers = Tiers()
      var callers = (0..<4).map { number in
        number < 2
          ? Caller.reader(tiers) : .writer(tiers, number, isFrontFirst: Bool.random(using: &generator))
      }
      while !callers.isEmpty {
        let next = Int.random(in: callers.indices, using: &generator)
        callers[next].step()
        if callers[next].isOver { callers.remove(at: next) }
        if tiers.underWay == 0, let front = tiers.front, front != tiers.back {
          Issue.record("\(front) in front of \(tiers.back)")
          return
        }
      }
      fills += tiers.fills
      if tiers.front != nil { kept += 1 }
    }
    // Neither may the fence keep everybody out.
    #expect(fills > 1000 && kept > 100, "\(fills) \(kept)")
  }
}
