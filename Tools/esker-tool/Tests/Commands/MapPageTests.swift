import Foundation
import Testing

/// The page in a real browser.
@Suite(.enabled(if: Browser.executable != nil, "no Chromium is installed to show the page in"))
struct MapPageTests {
  /// Uses the page as a person would, and leaves what was seen in an attribute of the document.
  private static let script = """
    <script>
    const seen = {errors: []};
    window.addEventListener('error', e => seen.errors.push(e.message));
    window.addEventListener('load', () => {
      const map = [...document.querySelectorAll('svg.map')].find(m => getComputedStyle(m).display != 'none');
      const all = [...map.querySelectorAll('.segment')], head = () => document.querySelector('#details h2').textContent;
      const key = k => map.dispatchEvent(new KeyboardEvent('keydown', {key: k}));
      seen.count = all.length;
      all[2].dispatchEvent(new PointerEvent('pointerenter'));
      seen.pointed = head();
      seen.figures = [...document.querySelectorAll('#details dt')].map(e => e.textContent);
      key('ArrowRight'); seen.right = head();
      key('ArrowLeft'); key('ArrowLeft'); seen.left = head();
      key('End'); seen.end = head();
      key('ArrowRight'); seen.beyond = head();
      key('Home'); seen.home = head();
      seen.chosen = document.querySelectorAll('.chosen').length;
      const style = getComputedStyle(document.body);
      seen.ground = style.backgroundColor; seen.ink = style.color;
      seen.fits = document.scrollingElement.scrollWidth <= window.innerWidth;
      const places = all.map(g => g.querySelector('.target').getBoundingClientRect());
      seen.visible = places.every(r => r.width > 4 && r.height > 10);
      seen.heat = all.every(g => /heat[0-4]/.test(g.querySelector('.foot').getAttribute('class')));
      seen.keyspaces = [...document.querySelector('.rows').querySelectorAll('.name')].map(e => e.textContent);
      document.documentElement.setAttribute('data-seen', JSON.stringify(seen));
    });
    </script>
    """

  @Test(arguments: [400, 1280], [false, true])
  func pageAnswersPointerAndKeysInEveryWidthAndScheme(width: Int, isDark: Bool) throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store, isPacked: true)
    let result = try scratch.run("map", scratch.store)
    let page = try scratch.file("page.html", result.text.replacing("<main>", with: Self.script + "<main>").utf8)
    let elements = try Browser.elements(of: page, width: width, isDark: isDark, scratch: scratch)
    let seen = try Self.seen(in: elements)
    let ids = try SampleStore.ids(scratch.store)
    #expect(seen["errors"] as? [String] == [])
    #expect(seen["count"] as? Int == ids.count)
    #expect(seen["pointed"] as? String == "Segment \(ids[2])")
    #expect((seen["figures"] as? [String])?.starts(with: ["kind", "age", "file"]) == true)
    #expect(seen["right"] as? String == "Segment \(ids[3])")
    #expect(seen["left"] as? String == "Segment \(ids[1])")
    #expect(seen["end"] as? String == "Segment \(ids[ids.count - 1])")
    #expect(seen["beyond"] as? String == seen["end"] as? String)
    #expect(seen["home"] as? String == "Segment \(ids[0])")
    #expect(seen["chosen"] as? Int == 1)
    #expect(seen["ground"] as? String == (isDark ? "rgb(18, 22, 27)" : "rgb(255, 255, 255)"))
    #expect(seen["ink"] as? String == (isDark ? "rgb(232, 237, 242)" : "rgb(26, 33, 41)"))
    #expect(seen["fits"] as? Bool == true)
    #expect(seen["visible"] as? Bool == true)
    #expect(seen["heat"] as? Bool == true)
    #expect(seen["keyspaces"] as? [String] == ["(default)", "names"])
  }

  private static func seen(in elements: String) throws -> [String: Any] {
    let start = try #require(elements.range(of: "data-seen=\"")).upperBound
    let text = elements[start...].prefix { $0 != "\"" }.replacing("&quot;", with: "\"")
    let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8))
    return try #require(parsed as? [String: Any])
  }
}
