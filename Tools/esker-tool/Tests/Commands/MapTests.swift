import Esker
import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct MapTests {
  /// Whether the text is well-formed XML, which an SVG file has to be.
  private final class Checker: NSObject, XMLParserDelegate {
    private(set) var elements: [String: Int] = [:]

    func parser(
      _ parser: XMLParser,
      didStartElement name: String,
      namespaceURI: String?,
      qualifiedName: String?,
      attributes: [String: String]
    ) {
      let kind = attributes["class"].map { name + "." + $0 } ?? name
      elements[kind, default: 0] += 1
    }

    func elements(of text: Data) -> [String: Int]? {
      let parser = XMLParser(data: text)
      parser.delegate = self
      return parser.parse() ? elements : nil
    }
  }

  @Test(arguments: [false, true])
  func pictureHasEverySegmentAndIsWellFormed(isPacked: Bool) throws {
    let scratch = try Scratch()
    let store = scratch.path("a <b> & \"c\"")
    try SampleStore.make(at: store, isPacked: isPacked)
    let result = try scratch.run("map", store, "--format", "svg")
    #expect(result.status == 0 && result.errors.isEmpty)
    let elements = try #require(Checker().elements(of: result.output))
    #expect(elements["g.segment"] == (try SampleStore.segments(store).count))
    #expect(elements["title"] == 1 + (elements["g.segment"] ?? 0))
    #expect(elements["desc"] == 1)
    #expect((elements["rect.unpacked"] ?? 0 > 0) == isPacked)
  }

  @Test func pageIsOneFileThatLoadsNothing() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    let page = scratch.path("map.html")
    #expect(try scratch.run("map", scratch.store, page).status == 0)
    let text = try String(contentsOfFile: page, encoding: .utf8)
    #expect(text.hasPrefix("<!DOCTYPE html>"))
    #expect(text.replacing("http://www.w3.org/2000/svg", with: "").contains("http") == false)
    for word in ["src=", "@import", "url(http", "<link"] { #expect(!text.contains(word)) }
    #expect(text.components(separatedBy: "<tr>").count == 2 + (try SampleStore.segments(scratch.store).count))
    let again = try scratch.run("map", scratch.store, page)
    #expect(again.status == 74 && again.errors.contains("already exists"))
    #expect(try scratch.run("map", scratch.store, scratch.path("map.svg")).status == 0)
    #expect(try String(contentsOfFile: scratch.path("map.svg"), encoding: .utf8).hasPrefix("<svg"))
  }

  @Test func damagedStoreIsDrawnAndExitsWith1() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    for name in ["manifest.a", "manifest.b"] { try SampleStore.flip(scratch.store, name, at: 50) }
    let names = try SampleStore.segments(scratch.store)
    try SampleStore.flip(scratch.store, names[1], at: 20)
    let result = try scratch.run("map", scratch.store, "--format", "svg")
    #expect(result.status == 1)
    let elements = try #require(Checker().elements(of: result.output))
    #expect(elements["g.segment"] == names.count - 1)
    #expect(elements["g.segment broken"] == 1)
    #expect((elements["rect.unknown"] ?? 0) >= names.count)
  }

  @Test func whatIsRewrittenAndReadIsShown() throws {
    #expect(SegmentHeat(rewritten: 0, of: 100, seconds: 10).step == 0)
    #expect([1, 30, 60, 99, 100].map { SegmentHeat(rewritten: $0, of: 100, seconds: 10).step } == [1, 2, 3, 4, 4])
    #expect(SegmentHeat(rewritten: 0, of: 0, seconds: 0).step == 0)
    let scratch = try Scratch()
    var options = Options()
    options.statisticsInterval = .milliseconds(50)
    // Otherwise records would take the room of dead ones.
    options.merge.isAutomatic = false
    let store = try LogStore(at: scratch.store, options: options)
    for number in 0..<4000 {
      try store.put("value", forKey: "key \(number % 10)")
      _ = try store.get("key 1")
    }
    var text = ""
    // What is published may be late on a busy machine.
    let isPublished = try eventually {
      text = try scratch.run("map", scratch.store).text
      return text.contains("Reads and writes") && text.contains(" gets (") && text.contains("4,000 writes (")
    }
    #expect(isPublished)
    #expect(
      text.contains("Rewritten fastest, by segment") && text.contains("segment 1") && text.contains("rewritten: 100 %")
    )
    try store.close()
    #expect(try !scratch.run("map", scratch.store).text.contains("Reads and writes"))
  }

  @Test func terminalGetsNoMarkup() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "b")
    let (status, text) = try PseudoTerminal(columns: 80).run(["map", scratch.store])
    #expect(status == 64 && text.isEmpty)
  }

  @Test(arguments: [0, 1, 2, 12, 13, 100, 2_000, 100_000], [MapLayout.width, MapLayout.narrowWidth])
  func segmentsStandSideBySideWithinThePictureAndUseItsWidth(count: Int, width: Double) {
    let layout = MapLayout(count: count, width: width)
    #expect(abs(Double(layout.columns) * layout.pitch - (width - 2 * MapLayout.margin)) < 0.01)
    #expect(layout.barWidth >= 8)
    #expect(layout.columns * layout.rows >= count)
    var places: Set<[Double]> = []
    for index in 0..<min(count, 3_000) {
      let (x, y) = layout.corner(index)
      #expect(x >= MapLayout.margin && x + layout.barWidth <= width - MapLayout.margin + 1)
      #expect(y >= layout.barHeight && y <= Double(layout.rows) * layout.rowHeight)
      #expect(places.insert([x, y]).inserted)
    }
  }

  @Test func colorsStandOutFromTheirGround() throws {
    let style = MapStyle.colors(":root")
    let schemes = style.components(separatedBy: "@media")
    #expect(schemes.count == 2)
    for scheme in schemes {
      func color(_ name: String) throws -> Double {
        let start = try #require(scheme.range(of: "--\(name):#")).upperBound
        return luminance(try #require(Int(scheme[start...].prefix(6), radix: 16)))
      }
      func contrast(_ a: String, _ b: String) throws -> Double {
        let (first, second) = (try color(a), try color(b))
        return (max(first, second) + 0.05) / (min(first, second) + 0.05)
      }
      for text in ["ink", "soft"] {
        for ground in ["ground", "panel"] { #expect(try contrast(text, ground) >= 4.5, "\(text) on \(ground)") }
      }
      for area in ["lasting", "expiring", "dead", "unknown", "other", "broken"] {
        #expect(try contrast(area, "ground") >= 3, "\(area) in \(scheme)")
      }
    }
  }

  /// Of a color, as WCAG defines it.
  private func luminance(_ color: Int) -> Double {
    let parts = [16, 8, 0].map { shift in
      let value = Double(color >> shift & 255) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }
}
