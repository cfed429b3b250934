import Testing

/// Blocks byte by byte: those of liblz4 1.9.4, and what no LZ4 writes. The system's library and the package's read them alike.
@Suite struct LZ4BlockTests {
  /// A block, what it decompresses to, and the dictionary.
  struct Sample: CustomTestStringConvertible {
    var testDescription: String
    var block: [UInt8]
    var plain: [UInt8]
    var dictionary: [UInt8] = []

    init(_ name: String, _ block: [UInt8], _ plain: String, dictionary: String = "") {
      testDescription = name
      self.block = block
      self.plain = Array(plain.utf8)
      self.dictionary = Array(dictionary.utf8)
    }
  }

  static let vienna = #"{"city":"Vienna","country":"Austria"}"#
  static let text = vienna + #"{"city":"Graz","country":"Austria"}{"city":"Wien","country":"Austria"}"#
  static let salzburg = #"{"city":"Salzburg","country":"Austria"}"#

  static let samples = [
    Sample("empty", [0x00], ""),
    Sample("one byte", [0x10, 0x61], "a"),
    Sample(
      "a run",
      [0x1f, 0x61, 0x01, 0x00, 0xff, 0x14, 0x50] + Array("aaaaa".utf8),
      String(repeating: "a", count: 300)
    ),
    Sample("incompressible", [0xf0, 0x31] + Array(0..<64), String(decoding: Array(0..<64), as: UTF8.self)),
    Sample(
      "text, fast",
      [0xf5, 0x16] + Array(vienna.utf8) + [0x25, 0x00, 0x4f] + Array("Graz".utf8) + [0x23, 0x00, 0x0c, 0x4d]
        + Array("Wien".utf8) + [0x23, 0x00, 0x50] + Array("ria\"}".utf8),
      text
    ),
    Sample(
      "text, high",
      [0xf0, 0x09] + Array(#"{"city":"Vienna","countr"#.utf8) + [0x13, 0x00, 0x95] + Array(#"Austria"}"#.utf8)
        + [0x25, 0x00, 0x4f] + Array("Graz".utf8) + [0x23, 0x00, 0x0c, 0x4d] + Array("Wien".utf8) + [0x23, 0x00, 0x50]
        + Array("ria\"}".utf8),
      text
    ),
    Sample(
      "against a dictionary",
      [0x05, 0x27, 0x00, 0x6d] + Array("Vienna".utf8) + [0x25, 0x00, 0x50] + Array("ria\"}".utf8),
      vienna,
      dictionary: salzburg
    ),
  ]

  @Test(arguments: samples, LZ4Codec.all)
  func fixedBlocksDecompress(sample: Sample, codec: LZ4Codec) {
    #expect(codec.decompress(sample.block, sample.plain.count, sample.dictionary) == sample.plain)
  }

  /// The system's library may be of another version, which may find other matches.
  @Test(arguments: samples.filter { !$0.testDescription.hasSuffix("high") })
  func theFastLevelWritesTheSameBlocks(sample: Sample) {
    #expect(LZ4Codec.bundled.compressor(level: 0, dictionary: sample.dictionary)(sample.plain) == sample.block)
  }

  @Test(arguments: samples, LZ4Codec.all)
  func onlyTheExactLengthIsRight(sample: Sample, codec: LZ4Codec) {
    for length in [0, 1, sample.plain.count - 1, sample.plain.count + 1, sample.plain.count + 1_000]
    where length >= 0 && length != sample.plain.count {
      #expect(codec.decompress(sample.block, length, sample.dictionary) == nil, "\(length) bytes")
    }
  }

  @Test(arguments: samples, LZ4Codec.all)
  func aTruncatedBlockIsRefused(sample: Sample, codec: LZ4Codec) {
    for length in 0..<sample.block.count {
      let part = Array(sample.block[..<length])
      #expect(codec.decompress(part, sample.plain.count, sample.dictionary) == nil, "\(length) bytes")
    }
  }

  @Test(arguments: samples, LZ4Codec.all)
  func trailingBytesAreRefused(sample: Sample, codec: LZ4Codec) {
    for rest in [[0], [0, 0], [0x10, 0x61], [UInt8](repeating: 0xff, count: 40)] as [[UInt8]] {
      #expect(codec.decompress(sample.block + rest, sample.plain.count, sample.dictionary) == nil)
    }
  }

  /// A match that begins one byte before the dictionary is refused, and one that begins with it is not.
  @Test(arguments: LZ4Codec.all)
  func anOffsetBeyondTheStartIsRefused(codec: LZ4Codec) {
    let dictionary: [UInt8] = [1, 2, 3, 4]
    let literals = [UInt8](repeating: 5, count: 12)
    func block(offset: UInt8) -> [UInt8] { [0x10, 9, offset, 0, 0xc0] + literals }
    #expect(codec.decompress(block(offset: 5), 17, dictionary) == [9, 1, 2, 3, 4] + literals)
    #expect(codec.decompress(block(offset: 6), 17, dictionary) == nil)
    #expect(codec.decompress(block(offset: 1), 17) == [9, 9, 9, 9, 9] + literals)
    #expect(codec.decompress(block(offset: 2), 17) == nil)
  }

  /// Lengths that go on for the whole block, of literals and of a match.
  @Test(arguments: [[0xf0], [0x1f, 0x61, 0x01, 0x00]] as [[UInt8]], LZ4Codec.all)
  func lengthsWithoutEndAreRefused(start: [UInt8], codec: LZ4Codec) {
    for count in [1, 10, 1_000, 100_000] {
      let block = start + [UInt8](repeating: 0xff, count: count)
      #expect(codec.decompress(block, 1_000) == nil)
      #expect(codec.decompress(block + [0], 1_000) == nil)
    }
  }
}
