import Foundation
import Testing

@testable import esker_tool

/// Property lists that Python and Foundation write.
@Suite struct PropertyListTests {
  private static let script = """
    import plistlib, datetime, sys
    value = {'name': 'Wién <&>', 'count': -7, 'big': 2**63, 'on': True, 'share': 0.5, 'data': b'\\\\x00\\\\xff', 'empty': '',
    'seen': datetime.datetime(2026, 3, 1, 12), 'list': [1, {'a': b'z', 'b': 'ä🏔'}, []], 'long': 'x' * 300, 'wide': 'ö' * 20}
    plistlib.dump(value, sys.stdout.buffer, fmt=getattr(plistlib, sys.argv[1]))
    """

  @Test(.needs("python3", package: "python3"), arguments: ["FMT_XML", "FMT_BINARY"])
  func whatPythonWritesIsLoaded(_ format: String) throws {
    let scratch = try Scratch()
    _ = try scratch.file("make.py", Self.script.replacing("\\\\", with: "\\").utf8)
    try scratch.succeed("python3 make.py \(format) > prefs")
    let load = try scratch.run("import", scratch.store, scratch.path("prefs"))
    #expect(load.status == 0 && load.errors.hasPrefix("loaded 11 records"), "\(load.errors)")
    for (key, text) in [
      ("name", "Wién <&>"), ("count", "-7"), ("big", "9223372036854775808"), ("on", "true"), ("share", "0.5"),
      ("empty", ""),
      ("seen", "2026-03-01T12:00:00.000Z"), ("list", #"[1,{"a":{"$base64":"eg=="},"b":"ä🏔"},[]]"#),
      ("long", String(repeating: "x", count: 300)), ("wide", String(repeating: "ö", count: 20)),
    ] {
      #expect(try scratch.run("get", scratch.store, key).text == text)
    }
    #expect(try scratch.run("get", scratch.store, "data").output == Data([0, 255]))
    #expect(try scratch.run("load", scratch.store, scratch.path("prefs"), "--resume").status == 64)
    let piped = try scratch.run(
      "load",
      scratch.path("piped"),
      "-",
      input: Data(contentsOf: URL(fileURLWithPath: scratch.path("prefs")))
    )
    #expect(piped.status == 0)
    #expect(try scratch.run("diff", scratch.store, scratch.path("piped")).status == 0)
  }

  private static var value: [String: Any] {
    [
      "text": "ä", "number": 300, "flag": true, "list": [1, 2.5, "x"], "date": Date(timeIntervalSinceReferenceDate: 0),
      "data": Data([1]),
      "in": ["a": ["b": "c"]],
    ]
  }

  private func read(_ bytes: [UInt8]) -> PropertyListValue? {
    let isBinary = bytes.starts(with: BinaryPropertyList.magic)
    return try? isBinary ? BinaryPropertyList.read(bytes) : XMLPropertyList.read(bytes)
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
  func nothingOfAFileIsBelieved(_ format: PropertyListSerialization.PropertyListFormat) throws {
    let bytes = Array(try PropertyListSerialization.data(fromPropertyList: Self.value, format: format, options: 0))
    let whole = try #require(read(bytes))
    #expect(
      whole
        == .dictionary([
          "text": .text("ä"), "number": .integer(300), "flag": .flag(true),
          "list": .list([.integer(1), .real(2.5), .text("x")]),
          "date": .date(Date(timeIntervalSinceReferenceDate: 0)), "data": .data(Data([1])),
          "in": .dictionary(["a": .dictionary(["b": .text("c")])]),
        ])
    )
    let text = bytes.lastIndex { $0 > 0x20 } ?? 0
    for end in 0..<(format == .xml ? text : bytes.count) { #expect(read(Array(bytes[..<end])) == nil, "\(end)") }
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << UInt8(bit)
        _ = read(changed)
      }
    }
  }

  @Test func depthAndRepetitionHaveAnEnd() throws {
    func xml(_ depth: Int) -> [UInt8] {
      let text =
        "<plist><dict><key>a</key>" + String(repeating: "<array>", count: depth)
        + String(repeating: "</array>", count: depth) + "</dict></plist>"
      return Array(text.utf8)
    }
    #expect(read(xml(100)) != nil && read(xml(128)) == nil && read(xml(100_000)) == nil)
    // Each list has the next one many times, and the last one itself.
    func binary(_ references: [[UInt8]]) -> [UInt8] {
      var bytes = Array("bplist00".utf8)
      var offsets: [UInt8] = []
      for list in references {
        offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
        bytes += [0xA0 | UInt8(list.count)] + list
      }
      let table = bytes.count
      bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
      for number in [references.count, 0, table] { bytes += (0..<8).reversed().map { UInt8(number >> (8 * $0) & 255) } }
      return bytes
    }
    #expect(read(binary([[1, 1], []])) == .list([.list([]), .list([])]))
    #expect(read(binary([[0]])) == nil)
    #expect(read(binary((1...20).map { [UInt8](repeating: $0, count: 14) } + [[]])) == nil)
  }

  @Test(arguments: [
    ("<plist><array/></plist>", 0, "what is at the top is no dictionary, so there are no keys"),
    ("<plist><dict>", 13, "the file ends in the middle"),
    ("<plist><dict><string>a</string></dict></plist>", 31, "a value without a key"),
    ("<plist><dict><key>a</key></dict></plist>", 32, "an element is closed that is not open, or lacks a value"),
    (
      "<plist><dict><key>a</key><integer>x</integer></dict></plist>", 34,
      "the text of an element integer is none of that type"
    ),
    ("<plist><dict><key>a&b;</key></dict></plist>", 19, "an entity that property lists do not have"),
    (
      "<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>", 44,
      "a key where none is expected, or one that occurs twice"
    ),
    ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><dict/></plist>", 32, "a DOCTYPE with declarations of its own"),
    ("<plist><dict/></plist>x", 22, "text where an element is expected"),
    ("bplist00", 0, "not a binary property list"),
  ]) func whatIsNoneIsRefusedWithItsPlace(_ text: String, _ place: Int, _ why: String) throws {
    let scratch = try Scratch()
    let result = try scratch.run("load", scratch.store, "-", "--quiet", input: Data(text.utf8))
    #expect(result.status == 1 && result.errors.hasSuffix("of standard input: \(why)\n"), "\(result.errors)")
    #expect(result.errors.hasPrefix("esker: byte \(place) "), "\(result.errors)")
    // Of a file, nothing is made for it.
    let file = try scratch.run("load", scratch.path("new"), scratch.file("a.plist", text.utf8))
    #expect(file.status == 1 && !FileManager.default.fileExists(atPath: scratch.path("new")), "\(file.errors)")
  }

  @Test func elementsMayBeWrittenInSeveralWays() {
    let text = """
      \u{FEFF}<?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "x.dtd"><!-- a > b -->
      <plist version="1.0"><dict><key>a</key><string>x<![CDATA[<&]]>&#65;&#x42;</string><key/><integer> 0xff </integer>
      <key>e</key><string/><key>f</key><array><false/><dict></dict></array></dict></plist>

      """
    #expect(
      read(Array(text.utf8))
        == .dictionary([
          "a": .text("x<&AB"), "": .integer(255), "e": .text(""), "f": .list([.flag(false), .dictionary([:])]),
        ])
    )
  }
}
