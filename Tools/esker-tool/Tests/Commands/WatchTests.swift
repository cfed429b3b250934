import EskerTestSupport
import Foundation
import Testing

@Suite struct WatchTests {
  private func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test func aStoreThatPublishesIsSeenFromItsProcess() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    #expect(try load.feed(#"{"id":"a"}"#) == "1\n")
    var looks: [[String: Any]] = []
    // A process that has to wait for a processor publishes late.
    let arePunctual = try eventually {
      let result = try scratch.run("watch", scratch.store, "--json", "--count", "3", "--interval", "600ms")
      #expect(result.status == 0)
      looks = try objects(result.text)
      #expect(looks.count == 3)
      return looks.allSatisfy { $0["stale"] as? Bool == false && $0["keys"] as? Int == 1 }
    }
    #expect(arePunctual)
    for look in looks {
      #expect(look["source"] as? String == "published")
      #expect(look["process"] as? Int == Int(load.processIdentifier))
      #expect(look["stale"] as? Bool == false)
    }
    #expect(looks[0]["writesPerSecond"] is NSNull)
    #expect(looks[2]["writesPerSecond"] as? Double == 0)
    #expect(looks[2]["keys"] as? Int == 1)
    #expect(looks[2]["merges"] as? Int == 0)
    #expect(try load.finish() == 0)
  }

  @Test func aStoreNobodyPublishesIsSeenAlongItsLog() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "1")
    let watch = try RunningTool(["watch", scratch.store, "--json", "--interval", "50ms"])
    var text = ""
    while !text.contains("\n"), watch.process.isRunning {
      text += String(decoding: watch.output.fileHandleForReading.availableData, as: UTF8.self)
    }
    _ = try scratch.run("put", scratch.store, "b", "2")
    while !text.contains("\"keys\":2"), watch.process.isRunning {
      text += String(decoding: watch.output.fileHandleForReading.availableData, as: UTF8.self)
    }
    // Ctrl-C is how a watch ends.
    #expect(watch.end(with: SIGINT) == 0)
    let looks = try objects(String(text[..<(text.lastIndex(of: "\n") ?? text.startIndex)]))
    #expect(looks.last?["source"] as? String == "followed")
    #expect(looks.contains { ($0["writesPerSecond"] as? Double ?? 0) > 0 })
  }

  /// What a killed process published last is not what the store is now: at once, and without a sign of it.
  @Test func whatAKilledProcessPublishedIsShownNoMore() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    #expect(try load.feed(#"{"id":"a"}"#) == "1\n")
    #expect(try load.feed(#"{"id":"b"}"#) == "2\n")
    load.kill9()
    #expect(FileManager.default.fileExists(atPath: scratch.store + "/statistics"))
    let result = try scratch.run("watch", scratch.store, "--json", "--count", "1")
    let look = try #require(objects(result.text).first)
    #expect(look["source"] as? String == "followed")
    #expect(look["process"] is NSNull)
    #expect(look["keys"] as? Int == 2)
    #expect(look["stale"] as? Bool == false)
    #expect(try !scratch.run("watch", scratch.store, "--count", "1").text.contains("stale"))
    #expect(try !scratch.run("stats", scratch.store, "--format", "prometheus").text.contains("esker_opened_timestamp"))
    let page = scratch.path("map.html")
    #expect(try scratch.run("map", scratch.store, page).status == 0)
    #expect(try !String(contentsOfFile: page, encoding: .utf8).contains("has had the store open"))
    #expect(try scratch.run("count", scratch.store).text == "2\n")
    _ = try scratch.run("put", scratch.store, "b", "2")
    let after = try objects(scratch.run("watch", scratch.store, "--json", "--count", "1").text)
    #expect(after.first?["source"] as? String == "followed")
  }

  @Test func plainLinesAreForPipes() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "1")
    let result = try scratch.run("watch", scratch.store, "--count", "2", "--interval", "10ms")
    #expect(result.status == 0)
    #expect(result.lines.count == 2)
    #expect(result.lines.allSatisfy { $0.contains(" 1 keys, ") || $0.contains(" 1 key, ") })
    #expect(!result.text.contains("\u{1B}"))
    #expect(try scratch.run("watch", scratch.path("none")).status == 66)
    #expect(try scratch.run("watch", scratch.store, "--count", "0").status == 64)
  }

  /// A real terminal, as tmux has it: the screen is written over, cut to its size, and nothing is left to restore.
  @Test(.enabled(if: TmuxSession.isInstalled))
  func theScreenFitsItsTerminalAndIsLeftAsItWas() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "1")
    let result = try TmuxSession.run(
      columns: 60,
      rows: 20,
      #"""
      t send-keys "'$0' watch '$1' --interval 100ms" Enter
      await 'segments'
      t resize-window -x 20 -y 6; await '^keys       1'
      t capture-pane -p; echo ======
      t resize-window -x 60 -y 20; await 'segments'
      t send-keys C-c; await 'done> *$'
      t send-keys 'echo all is well' Enter; await '^all is well'
      t display-message -p '#{cursor_flag} #{alternate_on}'
      t capture-pane -p
      """#,
      in: scratch
    )
    let parts = result.text.split(separator: "======\n", maxSplits: 1)
    let narrow = parts.first.map { $0.split(separator: "\n") } ?? []
    #expect(narrow.contains { $0.hasPrefix("keys       1") }, "\(result.text)")
    #expect(narrow.count <= 6 && narrow.first?.hasPrefix("/") == true, "\(result.text)")
    let after = parts.last.map(String.init) ?? ""
    #expect(after.hasPrefix("1 0\n"), "\(after)")
    #expect(after.contains("\nall is well\n"), "\(result.text) \(result.errors)")
  }
}
