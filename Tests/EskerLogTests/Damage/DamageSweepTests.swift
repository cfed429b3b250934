import EskerTestSupport
import Testing

@testable import EskerLog

/// Whatever can be done with a store is done with damaged ones, in a process of its own: see Tests/DamageSweep.
@Suite struct DamageSweepTests {
  /// At the end of a page, where a mapping ends too: one byte beyond it cannot be read.
  @Test(arguments: ["--clean", "--crashed"], ["--plain", "--packed"])
  func aFileThatEndsWithAnyPageIsReadNoFurther(ending: String, packing: String) throws {
    let extent = Rounds.areThorough ? [] : ["--brief"]
    let sweep = try ChildProgram("esker-damage", ["--cuts", "4096", "--seed", "4", ending, packing] + extent)
    #expect(sweep.signal == 0 && sweep.code == 0, "\(sweep.lastLines(3))")
  }
}
