import Esker
import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

/// `esker watch --html`.
@Suite struct WatchPageTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for name in ["a", "a longer <name> & one that does not fit a narrow page, at least not on one line"] {
      try store.keyspace(name).put("1", forKey: "key")
    }
    try store.close()
  }

  private func page(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func thePageIsOneFileThatLoadsNothingAndEndsByItself() throws {
    let file = scratch.path("watch.html")
    let result = try scratch.run("watch", scratch.store, "--html", file, "--interval", "10ms", "--count", "3")
    #expect(result.status == 0 && result.text.isEmpty)
    #expect(result.errors == "writing \(file) until ctrl-C\n")
    let text = try page(file)
    #expect(text.hasPrefix("<!DOCTYPE html>\n") && text.hasSuffix("</html>\n"))
    for word in ["src=", "@import", "url(", "<link", "http-equiv", "http:"] { #expect(!text.contains(word), "\(word)") }
    #expect(text.contains("a longer &lt;name&gt; &amp; one"))
    #expect(text.contains("the watch has ended"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).sorted().suffix(2) == [
        "store", "watch.html",
      ]
    )
  }

  @Test func thePageIsReplacedWhileTheWatchGoesOn() throws {
    let file = scratch.path("watch.html")
    let tool = try RunningTool(["watch", scratch.store, "--html", file, "--interval", "50ms", "--quiet"])
    #expect(eventually { FileManager.default.fileExists(atPath: file) })
    let store = try LogStore(at: scratch.store)
    for number in 0..<500 { try store.put("1", forKey: "key \(number)") }
    // Whenever it is read, it is whole.
    let isSeen = try eventually {
      let text = try page(file)
      #expect(text.hasSuffix("</html>\n") && text.contains("http-equiv=\"refresh\" content=\"1\""))
      return text.contains(">502</dd>") && text.contains("<polyline")
    }
    #expect(isSeen)
    try store.close()
    #expect(tool.end(with: SIGINT) == 0)
    #expect(try !page(file).contains("http-equiv"))
    #expect(try scratch.run("watch", scratch.store, "--html", file, "--count", "1").status == 0)
  }

  /// Of a process that publishes: what the disk holds and how long calls take, over time and with a scale.
  @Test func spaceAndLatenciesAreShownOverTime() throws {
    let file = scratch.path("watch.html")
    var options = Options()
    options.statisticsInterval = .milliseconds(20)
    let store = try LogStore(at: scratch.store, options: options)
    let tool = try RunningTool(["watch", scratch.store, "--html", file, "--interval", "50ms", "--quiet"])
    let titles = ["Disk space", "Put latency, 99 %", "Get latency, 99 %"]
    let isSeen = try eventually {
      // One call in 128 is timed.
      for number in 0..<2_000 {
        try store.put("1", forKey: "key \(number)")
        _ = try store.get("key \(number)")
      }
      guard let text = try? page(file) else { return false }
      let charts = text.components(separatedBy: "<section class=\"chart\">").dropFirst()
      return titles.allSatisfy { title in charts.contains { $0.contains(title) && $0.contains("<polyline") } }
    }
    let text = try page(file)
    #expect(isSeen, "\(text)")
    let space = try #require(
      text.components(separatedBy: "<section class=\"chart\">").first { $0.contains("Disk space") }
    )
    #expect(space.contains(/<span class="value" style="top:[0-9.]+%">[0-9.]+ [kM]?B<\/span>/), "\(space.prefix(900))")
    // Eight cards fill two rows.
    #expect(text.components(separatedBy: "<dt>").count - 1 == 8 && text.contains("repeat(4,minmax(0,1fr))"))
    #expect(tool.end(with: SIGINT) == 0)
    try store.close()
  }

  @Test func anotherFileIsNotOverwritten() throws {
    let file = try scratch.file("notes.html", "<!DOCTYPE html>\nmine".utf8)
    let result = try scratch.run("watch", scratch.store, "--html", file, "--count", "1")
    #expect(result.status == 74 && result.errors.contains("already exists"))
    #expect(try page(file) == "<!DOCTYPE html>\nmine")
    #expect(try scratch.run("watch", scratch.store, "--html", "/dev/null", "--count", "1").status == 74)
    #expect(try scratch.run("watch", scratch.store, "--html", scratch.path("no/page"), "--count", "1").status == 74)
    #expect(try scratch.run("watch", scratch.store, "--html", "x", "--json").status == 64)
  }

  @Test(
    .enabled(if: Browser.executable != nil, "no Chromium is installed to show the page in"),
    arguments: [400, 1400]
  )
  func thePageFitsAndSaysWhenItIsOld(width: Int) throws {
    let file = scratch.path("watch.html")
    let tool = try RunningTool(["watch", scratch.store, "--html", file, "--interval", "1s", "--quiet"])
    #expect(eventually { FileManager.default.fileExists(atPath: file) })
    #expect(tool.end(with: SIGKILL) == -SIGKILL)
    let script = """
      <script>addEventListener('load',()=>document.documentElement.setAttribute('data-seen',
      [document.scrollingElement.scrollWidth<=innerWidth,document.getElementById('age').textContent,
      document.querySelectorAll('.row').length].join()))</script>
      """
    // As if it had been written an hour ago.
    let text = try page(file).replacing("<meta http-equiv=\"refresh\" content=\"1\">", with: script)
      .replacing(/Date.now\(\)-/, with: "Date.now()+3600000-")
    let elements = try Browser.elements(
      of: try scratch.file("old.html", text.utf8),
      width: width,
      isDark: true,
      scratch: scratch
    )
    #expect(
      elements.contains("data-seen=\"true,Not updated for 60 minutes: the watch has ended.,3\""),
      "\(elements.prefix(300))"
    )
  }
}
