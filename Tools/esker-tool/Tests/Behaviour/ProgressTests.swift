import Esker
import EskerTestSupport
import Foundation
import Synchronization
import Testing

@testable import esker_tool

@Suite struct ProgressTests {
  @Test func shareRateAndTimeLeftAreTold() {
    let loading = Progress("loading", of: "records", total: 1000, isQuiet: true)
    #expect(loading.text(5000, share: 0.25, seconds: 10) == "loading 25 %, 500 records/s, 30 s left")
    #expect(loading.text(5000, share: nil, seconds: 10) == "loading, 500 records/s, 5,000 records")
    #expect(loading.text(0, share: nil, seconds: 10) == "loading")
  }

  @Test func whatTakesLongerThanASecondSaysSo() throws {
    let said = Mutex<[String]>([])
    let waiting = Waiting("opening") { text in said.withLock { $0.append(text) } }
    #expect(eventually { said.withLock { $0.count } >= 2 })
    waiting.end()
    let texts = said.withLock { $0 }
    #expect(texts.allSatisfy { $0.hasPrefix("opening, ") && $0.hasSuffix(" s") })
  }

  /// A load from a pipe, with a terminal behind standard error.
  private final class TerminalLoad {
    private let scratch: Scratch
    private let terminal: ScreenTerminal
    private let tool: RunningTool
    private(set) var records = 0

    init(columns: UInt16, _ options: String...) throws {
      scratch = try Scratch()
      terminal = try ScreenTerminal(columns: columns)
      let arguments = ["load", scratch.store, "-", "--key-field", "id"] + options
      tool = try RunningTool(arguments, errors: terminal.device)
    }

    /// Progress looks at the clock every 256 records.
    func feed() throws {
      try tool.write((0..<300).map { "{\"id\":\(records + $0)}\n" }.joined())
      records += 300
    }

    var text: String { terminal.text() }

    func finish() throws -> String {
      try tool.closeInput()
      #expect(tool.wait() == 0)
      return text
    }
  }

  /// Loads until progress is shown, however long that takes.
  private func shownLoad(columns: UInt16, beside other: TerminalLoad? = nil) throws -> (text: String, records: Int) {
    let load = try TerminalLoad(columns: columns)
    let isShown = try eventually {
      try load.feed()
      try other?.feed()
      return load.text.contains("\rloading")
    }
    #expect(isShown)
    return (try load.finish(), load.records)
  }

  @Test func progressIsShownOnATerminalAfterASecondAndTakenBack() throws {
    let (text, records) = try shownLoad(columns: 100)
    let states = text.split(separator: "\r").filter { $0.hasPrefix("loading, ") }
    #expect(!states.isEmpty && states.allSatisfy { $0.contains(" records/s, ") })
    #expect(text.contains(" \rloaded \(NumberText.count(records)) records"))
    #expect(!text.contains("\u{1B}["))
  }

  @Test func aNarrowTerminalIsNotOverrun() throws {
    let text = try shownLoad(columns: 20).text
    let states = text.split(separator: "\r").filter { $0.hasPrefix("loading") }
    #expect(!states.isEmpty)
    for state in states { #expect(state.count <= 19) }
  }

  @Test func quietShowsNothing() throws {
    let quiet = try TerminalLoad(columns: 100, "--quiet")
    // As long as another takes to show something.
    _ = try shownLoad(columns: 100, beside: quiet)
    #expect(try quiet.finish().isEmpty)
  }

  @Test(
    arguments: [
      (80, "loading 9 %, 368,391 records/s, 12 s left"), (40, "loading 9 %, 368,391 records/s"), (20, "loading 9 %"),
      (5, "loadi"),
    ]
  )
  func aNarrowLineHasNoHalfNumbers(_ width: Int, _ text: String) {
    #expect(StatusLine.fitted("loading 9 %, 368,391 records/s, 12 s left", width: width) == text)
  }
}
