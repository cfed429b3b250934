import Esker
import Foundation
import Testing

@Suite struct SpanTests {
  struct Picture: Sendable {
    var pixels: Data
    init(data: Data) throws { pixels = data }
  }

  @Test(arguments: [0, 1, 15, 70_000])
  func aSpanBecomesDataAndText(count: Int) {
    let bytes = ContiguousArray((0..<count).map { UInt8(32 + $0 % 90) })
    #expect(Data(bytes.span.bytes) == Data(bytes))
    #expect(String(validating: bytes.span.bytes) == String(decoding: bytes, as: UTF8.self))
  }

  @Test func whatIsNotUTF8IsNoText() {
    let bytes: ContiguousArray<UInt8> = [65, 255]
    #expect(String(validating: bytes.span.bytes) == nil)
  }

  @Test func aTypeThatTakesDataNeedsTwoClosures() throws {
    try withTemporaryStore { store in
      let png = Transformer<Picture>(id: "png", encode: { $0.pixels }, decode: { try Picture(data: Data($0)) })
      let pictures = try store.storage("pictures", transformer: png)
      try pictures.set(Picture(data: Data([1, 2, 3])), forKey: "a")
      #expect(try pictures.value(forKey: "a")?.pixels == Data([1, 2, 3]))
    }
  }

  @Test func anEntryPrintsWhatIsKnownOfIt() {
    let entry = Entry("Vienna", origin: .log, expiry: .after(.seconds(60)), version: SequenceNumber(rawValue: 3))
    #expect("\(entry)" == "Vienna (from the log, version #3, expires after 60.0 seconds)")
    #expect("\(Entry(7, origin: .memory))" == "7 (from memory)")
    #expect("\(Entry(7, origin: .back))" == "7 (from behind)")
  }
}
