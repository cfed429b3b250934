import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

/// Strings of JSON, written in place, are those that the writer of documents makes.
@Suite struct OutputBufferTests {
  private func quoted(_ text: [UInt8], behind start: [UInt8] = []) -> String? {
    // Exactly as much room as may be needed.
    var buffer = OutputBuffer(capacity: start.count + OutputBuffer.room(quoting: text.count))
    buffer.append(start)
    let isText = text.lend(0..<text.count) { buffer.append(quoting: $0) }
    let bytes = buffer.lend { [UInt8](copying: $0) }
    #expect(bytes.starts(with: start))
    if !isText { #expect(bytes == start) }
    return isText ? String(decoding: bytes.dropFirst(start.count), as: UTF8.self) : nil
  }

  private func expected(_ text: [UInt8]) -> String? {
    guard UTF8Check.isValid(ContiguousArray(text).span), String(validating: text, as: UTF8.self) != nil else {
      return nil
    }
    var writer = JSONWriter()
    writer.value(utf8: ContiguousArray(text).span)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test func everyCharacterAtEveryPlaceOfAWord() {
    for scalar in (0..<0x180).map({ UInt32($0) }) + [0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF] {
      guard let scalar = Unicode.Scalar(scalar) else { continue }
      for before in 0..<17 {
        for behind in [0, 1, 7, 8, 9] {
          let text =
            Array("abcdefghijklmnopq".utf8.prefix(before)) + Array(String(scalar).utf8)
            + Array("zyxwvutsr".utf8.prefix(behind))
          #expect(quoted(text) == expected(text))
        }
      }
    }
  }

  @Test func bytesThatAreNoTextAreRefusedWithNothingAdded() {
    for bad: [UInt8] in [[0x80], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF]] {
      for before in 0..<9 {
        let text = Array("\"bcdefgh\\".utf8.prefix(before)) + bad
        #expect(quoted(text, behind: Array("start".utf8)) == nil)
        #expect(quoted(text + Array("some text".utf8), behind: Array("start".utf8)) == nil)
      }
    }
  }

  @Test func randomBytesAreQuotedAsByTheWriter() {
    var random = SeededGenerator(announcedFor: "quoting")
    let parts = ["\"", "\\", "\n", "\u{1}", "\u{7F}", "a", "bc", "é", "漢", "🏔", "0123456789abcdef"].map {
      Array($0.utf8)
    }
    for _ in 0..<20_000 {
      var text: [UInt8] = []
      for _ in 0..<Int.random(in: 0..<12, using: &random) {
        if random.oneIn(60) { text.append(UInt8.random(in: 0...255, using: &random)) }
        text += parts[Int.random(in: 0..<parts.count, using: &random)]
      }
      #expect(quoted(text) == expected(text))
    }
  }
}
