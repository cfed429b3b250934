import Testing

/// A store that one platform wrote is read on another: each LZ4 reads what either wrote.
@Suite struct LZ4ExchangeTests {
  /// Which one writes, at which level, and whether against a dictionary.
  struct Case: CustomTestStringConvertible, Sendable {
    let writer: LZ4Codec
    let level: Int32
    let hasDictionary: Bool

    var testDescription: String {
      "\(writer.testDescription), level \(level), \(hasDictionary ? "dictionary" : "alone")"
    }

    static let all = LZ4Codec.all.flatMap { writer in
      LZ4Codec.levels.flatMap { level in
        [true, false].map { Case(writer: writer, level: level, hasDictionary: $0) }
      }
    }
  }

  /// Nothing, text, what cannot be compressed, runs, what repeats the dictionary, and lengths where blocks change their form.
  static let sources: [[UInt8]] = {
    var random = Seeded(21)
    let noise = random.bytes(70_000)
    var sources = (0..<40).map { LZ4Tests.record($0 * 7 + 1) }
    for length in [0, 1, 4, 5, 11, 12, 13, 14, 15, 16, 254, 255, 256, 4_095, 4_096, 65_535, 65_536, 65_537] {
      sources.append(Array(noise[..<length]))
      sources.append(Array(repeating: 7, count: length))
    }
    sources.append(Array(LZ4Tests.dictionary.suffix(65_536)))
    sources.append(Array(repeating: 9, count: 300_000))
    return sources
  }()

  @Test(arguments: Case.all)
  func eachReadsWhatEitherWrote(given: Case) throws {
    let dictionary = given.hasDictionary ? LZ4Tests.dictionary : []
    let compressor = given.writer.compressor(level: given.level, dictionary: dictionary)
    for source in Self.sources {
      let block = try #require(compressor(source))
      for reader in LZ4Codec.all {
        #expect(
          reader.decompress(block, source.count, dictionary) == source,
          "\(reader.testDescription), \(source.count)"
        )
        #expect(reader.decompress(block, source.count + 1, dictionary) == nil)
        if !source.isEmpty { #expect(reader.decompress(block, source.count - 1, dictionary) == nil) }
      }
    }
  }

  /// A dictionary of any length, of which the last 64 KiB count.
  @Test(arguments: LZ4Codec.all, [0, 4, 9] as [Int32])
  func dictionariesOfAnyLength(writer: LZ4Codec, level: Int32) throws {
    var random = Seeded(31)
    let noise = random.bytes(70_000)
    for length in [0, 1, 3, 4, 7, 8, 65_535, 65_536, 65_537, 70_000] {
      let dictionary = Array(noise.prefix(length))
      let compressor = writer.compressor(level: level, dictionary: dictionary)
      for source in [Array(dictionary.suffix(300)) + noise.prefix(50), Array(dictionary.prefix(300)), noise] {
        let block = try #require(compressor(source))
        for reader in LZ4Codec.all {
          #expect(reader.decompress(block, source.count, dictionary) == source, "\(length) bytes of dictionary")
        }
      }
    }
  }
}
