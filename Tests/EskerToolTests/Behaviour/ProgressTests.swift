import Foundation
import Testing

@testable import esker_tool

@Suite struct ProgressTests {
  @Test func shareRateAndTimeLeftAreTold() {
    let loading = Progress("loading", of: .named("records"), total: 1000, isQuiet: true)
    #expect(loading.text(5000, share: 0.25, seconds: 10) == "loading 25 %, 500 records/s, 30 s left")
    #expect(loading.text(5000, share: nil, seconds: 10) == "loading, 500 records/s, 5,000 records")
    #expect(loading.text(0, share: nil, seconds: 10) == "loading")
  }

  /// Loads from a pipe that takes its time, with a terminal of so many columns behind standard error.
  private func slowLoad(columns: UInt16, _ options: String...) throws -> String {
    let scratch = try Scratch()
    let terminal = try ScreenTerminal(columns: columns)
    let tool = try RunningTool(
      ["load", scratch.store, "-", "--key-field", "id"] + options,
      errors: terminal.device
    )
    for number in 0..<14 {
      // Progress looks at the clock every 256 records.
      try tool.write((0..<300).map { "{\"id\":\(number * 1000 + $0)}\n" }.joined())
      Thread.sleep(forTimeInterval: 0.1)
    }
    try tool.closeInput()
    #expect(tool.wait() == 0)
    return terminal.text()
  }

  @Test func progressIsShownOnATerminalAfterASecondAndTakenBack() throws {
    let text = try slowLoad(columns: 100)
    let states = text.split(separator: "\r").filter { $0.hasPrefix("loading, ") }
    #expect(!states.isEmpty && states.allSatisfy { $0.contains(" records/s, ") })
    #expect(text.contains(" \rloaded 4,200 records"))
    #expect(!text.contains("\u{1B}["))
  }

  @Test func aNarrowTerminalIsNotOverrun() throws {
    let text = try slowLoad(columns: 20)
    let states = text.split(separator: "\r").filter { $0.hasPrefix("loading") }
    #expect(!states.isEmpty)
    for state in states { #expect(state.count <= 19) }
  }

  @Test func quietShowsNothing() throws {
    #expect(try slowLoad(columns: 100, "--quiet").isEmpty)
  }
}
