import Foundation
import Testing

@testable import esker_tool

@Suite struct CSVReaderTests {
  private func rows(_ text: [UInt8], bufferSize: Int) throws -> [[[UInt8]]?] {
    let scratch = try Scratch()
    var lines = LineReader(try InputFile(scratch.file("in", text)), limit: 1 << 20, bufferSize: bufferSize)
    var reader = CSVReader(limit: 1 << 20)
    var rows: [[[UInt8]]?] = []
    while true {
      switch try reader.next(&lines) {
      case .fields: rows.append((0..<reader.count).map { Array(reader.text[reader.range(of: $0)]) })
      case .bad: rows.append(nil)
      case .blank: continue
      case .end: return rows
      }
    }
  }

  @Test func whatIsWrittenIsReadWhateverTheBytes() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(state: seed)
    let alphabet: [UInt8] = Array("\",\r\nab ".utf8) + [0xFF, 0]
    for round in 0..<60 {
      var writer = CSVWriter()
      var expected: [[[UInt8]]?] = []
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let row = (0..<Int.random(in: 1...5, using: &random)).map { _ in
          (0..<Int.random(in: 0...8, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        }
        for field in row { writer.field(ContiguousArray(field).span) }
        writer.newline()
        // A row of one empty field is a blank line.
        if row != [[]] { expected.append(row) }
      }
      let found = try rows(writer.bytes, bufferSize: Int.random(in: 1...100, using: &random))
      #expect(found == expected, "seed \(seed), round \(round)")
    }
  }

  @Test func anyBytesAreReadToTheirEnd() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(state: seed)
    let alphabet: [UInt8] = Array("\",\r\na".utf8)
    for _ in 0..<200 {
      let text = (0..<Int.random(in: 0...60, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      _ = try rows(text, bufferSize: 8)
    }
  }

  @Test(arguments: 3...20, [4, 64])
  func aRowTooLongEndsWhereItsQuoteIsClosed(limit: Int, bufferSize: Int) throws {
    let scratch = try Scratch()
    let text = "1,\"first\n2,x\n\n3,\"\"third\"\"\n4,x\",5\n6,x\n\"7\n,\",\"\",x"
    var lines = LineReader(try InputFile(scratch.file("in", text.utf8)), limit: limit, bufferSize: bufferSize)
    var reader = CSVReader(limit: limit)
    #expect(try reader.next(&lines) == .bad("longer than \(limit) bytes: see --max-line"))
    #expect(reader.lineNumber == 1)
    #expect(reader.text.count <= limit)
    #expect(try reader.next(&lines) == .fields)
    #expect(reader.lineNumber == 6)
    #expect(reader.field(0) == "6")
    // A last row of two lines, too long at the second if at all.
    if limit < 8 {
      #expect(try reader.next(&lines) == .bad("longer than \(limit) bytes: see --max-line"))
    } else {
      #expect(try reader.next(&lines) == .fields)
    }
    #expect(reader.lineNumber == 7)
    #expect(try reader.next(&lines) == .end)
  }

  @Test func aRowTooLongWhoseQuoteIsNeverClosedIsTheLast() throws {
    let scratch = try Scratch()
    var lines = LineReader(try InputFile(scratch.file("in", "1,\"a long text\n2,x\n3,x".utf8)), limit: 8)
    var reader = CSVReader(limit: 8)
    #expect(try reader.next(&lines) == .bad("longer than 8 bytes: see --max-line"))
    #expect(try reader.next(&lines) == .end)
  }

  @Test func lineEndsQuotesAndEmptyFieldsAreAsTheStandardHasThem() throws {
    let text = "aaa,\"b \r\nbb\",\"ccc\"\r\nzzz,\"y\"\"y\",\r\n,,\n"
    let found = try rows(Array(text.utf8), bufferSize: 64).map { row in row?.map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(found == [["aaa", "b \r\nbb", "ccc"], ["zzz", "y\"y", ""], ["", "", ""]])
  }
}
