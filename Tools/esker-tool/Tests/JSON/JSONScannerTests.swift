import Foundation
import Testing

@testable import esker_tool

@Suite struct JSONScannerTests {
  private func key(_ document: String, field: String = "id") throws(JSONFault) -> String {
    try key(Array(document.utf8), field: field)
  }

  private func key(_ document: [UInt8], field: String = "id") throws(JSONFault) -> String {
    var scanner = JSONScanner(KeyField(named: field))
    try scanner.scan(ContiguousArray(document).span)
    return String(decoding: scanner.key, as: UTF8.self)
  }

  private func fault(_ document: String) -> JSONFault.Reason? {
    fault(Array(document.utf8))
  }

  private func fault(_ document: [UInt8]) -> JSONFault.Reason? {
    var scanner = JSONScanner(KeyField(named: "id"))
    do throws(JSONFault) {
      try scanner.scan(ContiguousArray(document).span)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func textOfStringsAndNumbers() throws {
    #expect(try key(#"{"id":"a"}"#) == "a")
    #expect(try key(" \t\r\n{ \"id\" : \"a\" } ") == "a")
    #expect(try key(#"{"id":""}"#) == "")
    #expect(try key(#"{"id":"\"\\\/\b\f\n\r\t"}"#) == "\"\\/\u{8}\u{C}\n\r\t")
    #expect(try key(#"{"id":"\u0041\u00e9\u20AC\uD83C\uDFD4\u0000"}"#) == "Aé€🏔\0")
    #expect(try key(#"{"id":"é€🏔"}"#) == "é€🏔")
    for number in ["0", "-0", "1", "-12.50", "1e5", "1E+5", "1.0e-10", "123456789012345678901234567890"] {
      #expect(try key("{\"id\":\(number)}") == number)
    }
  }

  @Test func onlyTheOutermostObjectsFieldCounts() throws {
    #expect(try key(#"{"a":{"id":1},"b":[{"id":2}],"id":3,"c":{"id":4}}"#) == "3")
    #expect(try key(#"{"a":"id","id":"b"}"#) == "b")
    #expect(try key(#"{"idx":1,"i":2,"ID":3,"id":4}"#) == "4")
    #expect(fault(#"{"a":{"id":1}}"#) == .fieldMissing)
    #expect(fault("{}") == .fieldMissing)
  }

  @Test func nameIsComparedWithoutItsEscapes() throws {
    #expect(try key(#"{"\u0069\u0064":1}"#) == "1")
    #expect(try key(#"{"a\/b":1}"#, field: "a/b") == "1")
    #expect(try key(#"{"\ud83c\udfd4":1}"#, field: "🏔") == "1")
    #expect(try key(#"{"":1}"#, field: "") == "1")
    #expect(fault(#"{"id":1,"\u0069d":1}"#) == .fieldTwice)
    #expect(fault(#"{"\ud800":1}"#) == .fieldMissing)
  }

  @Test func fieldOfAnotherKind() {
    for value in ["null", "true", "false", "{}", "[]", "[1]", #"{"id":1}"#] {
      #expect(fault("{\"id\":\(value)}") == .fieldNotText)
    }
    for half in [#"\ud800"#, #"\udfff"#, #"\ud800x"#, #"\ud800\ud800"#, #"\ud800\u0041"#, #"\ud800\n"#] {
      #expect(fault("{\"id\":\"\(half)\"}") == .fieldHasLoneSurrogate)
      // Elsewhere it is what the grammar allows.
      #expect(fault("{\"id\":1,\"x\":\"\(half)\"}") == nil)
    }
  }

  @Test(arguments: [
    "", " ", "x", "[]", "1", "\"id\"", "null", "{", "{\"", "{\"id", "{\"id\"", "{\"id\":", "{\"id\":1", "{\"id\":1,",
    "{\"id\":1,}", "{,\"id\":1}", "{\"id\" 1}", "{\"id\":1 \"a\":2}", "{id:1}", "{'id':1}", "{\"id\":1}x",
    "{\"id\":1}{}",
    "{\"id\":01}", "{\"id\":+1}", "{\"id\":.5}", "{\"id\":1.}", "{\"id\":1e}", "{\"id\":1e+}", "{\"id\":-}",
    "{\"id\":0x1}",
    "{\"id\":1.2.3}", "{\"id\":--1}", "{\"id\":NaN}", "{\"id\":Infinity}", "{\"id\":tru}", "{\"id\":1,\"a\":truex}",
    "{\"id\":nul}",
    "{\"id\":\"a}", "{\"id\":\"\\\"}", "{\"id\":\"\\x\"}", "{\"id\":\"\\u12\"}", "{\"id\":\"\\u12g4\"}",
    "{\"id\":\"\\u",
    "{\"id\":\"\n\"}", "{\"id\":\"\0\"}", "{\"id\":\"\u{1F}\"}", "{\"id\":1,\"a\":[1,]}", "{\"id\":1,\"a\":[,1]}",
    "{\"id\":1,\"a\":[1 2]}", "{\"id\":1,\"a\":[}", "{\"id\":1,\"a\":{]}", "{\"id\":1,\"a\":[1}",
    "{\"id\":1,\"a\":{\"b\"}}",
    "{\"id\":1,\"a\":{\"b\":1,}}", "{\"id\":1,\"a\":{1:2}}", "{\"id\":1,\u{A0}\"a\":1}", "{\"id\":1}\0",
    "\u{FEFF}{\"id\":1}",
    "{\"id\":1,/*c*/\"a\":1}",
  ])
  func garbageIsRefused(document: String) {
    let reason = fault(document)
    #expect(reason != nil)
    #expect(reason != .fieldMissing && reason != .fieldNotText)
  }

  @Test func faultNamesItsPlace() {
    var scanner = JSONScanner(KeyField(named: "id"))
    let document = Array(#"{"id":1,"a":[1,x]}"#.utf8)
    #expect(throws: JSONFault(.unexpected(UInt8(ascii: "x"), wanted: "a value"), at: 15)) {
      try scanner.scan(ContiguousArray(document).span)
    }
    let fault = JSONFault(.unexpected(0x07, wanted: "a value"), at: 15)
    #expect(fault.description(field: "id") == "byte 0x07 where a value was expected (byte 16)")
  }

  @Test func invalidUTF8IsRefusedAnywhereInAString() throws {
    let malformed: [[UInt8]] = [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x20], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
      [0xED, 0xA0, 0x80],
      [0xED, 0xBF, 0xBF], [0xEF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x8F], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80],
      [0xFE], [0xFF],
    ]
    for bytes in malformed {
      for padding in 0..<17 {
        let text = [UInt8](repeating: 0x61, count: padding)
        #expect(fault(Array(#"{"id":1,"x":""#.utf8) + text + bytes + text + Array(#""}"#.utf8)) == .invalidUTF8)
        #expect(fault(Array(#"{"id":1,""#.utf8) + text + bytes + Array(#"":1}"#.utf8)) == .invalidUTF8)
      }
    }
    for scalar in [
      "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}",
    ] {
      #expect(try key("{\"id\":\"\(scalar)\"}") == scalar)
    }
  }

  @Test func everyByteInEveryPlaceOfAStringIsTreatedAlike() {
    // Covers the eight-byte step: each byte value at each place of a word, and behind its end.
    for byte in UInt8.min...UInt8.max {
      for place in 0..<20 {
        var text = [UInt8](repeating: 0x61, count: 20)
        text[place] = byte
        let reason = fault(Array(#"{"id":""#.utf8) + text + Array(#""}"#.utf8))
        switch byte {
        case 0..<0x20: #expect(reason == .controlCharacterInString(byte))
        case UInt8(ascii: "\""): #expect(reason != nil)
        // A backslash before "a", or before the closing quote.
        case UInt8(ascii: "\\"): #expect(reason == (place == 19 ? .unexpectedEnd : .badEscape))
        case 0x80...: #expect(reason == .invalidUTF8)
        default: #expect(reason == nil)
        }
      }
    }
  }

  @Test func depthIsLimited() throws {
    let limit = JSONScanner.maximumDepth
    func nested(_ depth: Int) -> String {
      "{\"id\":1,\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
    }
    #expect(try key(nested(limit - 1)) == "1")
    #expect(fault(nested(limit)) == .nestedTooDeeply)
    let objects = String(repeating: "{\"a\":", count: limit - 1) + "0" + String(repeating: "}", count: limit - 1)
    #expect(try key("{\"id\":1,\"a\":\(objects)}") == "1")
    #expect(fault("{\"id\":1,\"a\":" + String(repeating: "[", count: 1_000_000)) == .nestedTooDeeply)
    #expect(fault(String(repeating: "{\"a\":", count: 1_000_000)) == .nestedTooDeeply)
    #expect(fault("{\"id\":" + String(repeating: "[", count: 1_000_000)) == .nestedTooDeeply)
    // Brackets of both kinds in an order without a period, closed wrongly at one depth.
    for depth in stride(from: 1, to: limit - 1, by: 50) {
      let open = (0..<depth).map { $0.nonzeroBitCount % 2 == 0 ? "[" : "{\"a\":" }.joined()
      let close = (0..<depth).reversed().map { $0.nonzeroBitCount % 2 == 0 ? "]" : "}" }.joined()
      #expect(fault("{\"id\":1,\"a\":\(open)0\(close)}") == nil)
      let wrong = close.first == "]" ? "}" + close.dropFirst() : "]" + close.dropFirst()
      #expect(fault("{\"id\":1,\"a\":\(open)0\(wrong)}") != nil)
    }
  }

  @Test func scannerForgetsTheLastDocument() throws {
    var scanner = JSONScanner(KeyField(named: "id"))
    try scanner.scan(ContiguousArray(#"{"id":"long enough"}"#.utf8).span)
    try scanner.scan(ContiguousArray(#"{"id":7}"#.utf8).span)
    #expect(scanner.key == Array("7".utf8))
  }

  @Test func agreesWithFoundationOnMutatedDocuments() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(state: seed)
    let base = Array(#"{"id":"a\u0000b","n":[-1.5e2,0,true,null],"o":{"x":"\n\"","y":[]},"s":"plain text here"}"#.utf8)
    // No "d" or "e" to insert: lone surrogates and infinite numbers are where the two may differ.
    let alphabet = Array(#"{}[]",:\/tfn019.+- abu"#.utf8)
    for round in 0..<5000 {
      var document = base
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<document.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: document.remove(at: place)
        case 1: document.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
        default: document[place] = alphabet.randomElement(using: &random) ?? 0
        }
      }
      let expected = (try? JSONSerialization.jsonObject(with: Data(document))) is [String: Any]
      let reason = fault(document)
      // What is said about the field is said of documents that are in order.
      let accepted = [nil, .fieldMissing, .fieldNotText, .fieldHasLoneSurrogate].contains(reason)
      guard accepted != expected, reason != .fieldTwice else { continue }
      // Foundation lets a comma end an object or array.
      let text = String(decoding: document, as: UTF8.self)
      if !accepted, text.contains(/,[ ]*[}\]]/) { continue }
      // And refuses numbers that are infinite.
      if accepted, text.contains(/[eE][+-]?[0-9]{3}/) { continue }
      Issue.record(
        "seed \(seed), round \(round): \(text), \(String(describing: reason))"
      )
      return
    }
  }
}

/// A small generator whose sequence depends on the seed alone.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
