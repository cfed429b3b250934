import Foundation
import Testing

@testable import esker_tool

@Suite struct LineReaderTests {
  /// The lines of `text`, nil for each that is too long.
  private func lines(_ text: [UInt8], limit: Int, bufferSize: Int) throws -> [[UInt8]?] {
    let scratch = try Scratch()
    var reader = LineReader(try InputFile(scratch.file("in", text)), limit: limit, bufferSize: bufferSize)
    var lines: [[UInt8]?] = []
    while true {
      switch try reader.next() {
      case .text(let range): lines.append(Array(reader.buffer[range]))
      case .tooLong: lines.append(nil)
      case .end:
        #expect(reader.lineNumber == lines.count)
        #expect(reader.bytesConsumed == text.count)
        return lines
      }
      #expect(reader.lineNumber == lines.count)
    }
  }

  @Test func lastLineNeedsNoNewline() throws {
    #expect(try lines(Array("a\nb".utf8), limit: 10, bufferSize: 64) == [[0x61], [0x62]])
    #expect(try lines(Array("a\nb\n".utf8), limit: 10, bufferSize: 64) == [[0x61], [0x62]])
    #expect(try lines([], limit: 10, bufferSize: 64) == [])
    #expect(try lines(Array("\n\n".utf8), limit: 10, bufferSize: 64) == [[], []])
  }

  @Test func lineBeyondTheLimitIsSkippedAlone() throws {
    let long = [UInt8](repeating: 0x61, count: 100_000)
    let text = Array("a\n".utf8) + long + Array("\nb\n".utf8) + long
    #expect(try lines(text, limit: 99_999, bufferSize: 64) == [[0x61], nil, [0x62], nil])
    #expect(try lines(text, limit: 100_000, bufferSize: 64) == [[0x61], long, [0x62], long])
    #expect(try lines(text, limit: 10, bufferSize: 1 << 20) == [[0x61], nil, [0x62], nil])
  }

  @Test func anyTextIsCutAtItsNewlines() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(state: seed)
    for round in 0..<50 {
      var text: [UInt8] = []
      for _ in 0..<Int.random(in: 0...40, using: &random) {
        let count = Int.random(in: 0...(Bool.random(using: &random) ? 5 : 20_000), using: &random)
        text += [UInt8](repeating: UInt8.random(in: 0x20...0xFF, using: &random), count: count)
        text.append(0x0A)
      }
      if Bool.random(using: &random), !text.isEmpty { text.removeLast() }
      let limit = Int.random(in: 1...25_000, using: &random)
      var expected = text.split(separator: 0x0A, omittingEmptySubsequences: false).map { Optional(Array($0)) }
      if expected.last == [] { expected.removeLast() }
      expected = expected.map { ($0?.count ?? 0) > limit ? nil : $0 }
      let found = try lines(text, limit: limit, bufferSize: Int.random(in: 1...5000, using: &random))
      #expect(found == expected, "seed \(seed), round \(round)")
    }
  }
}
