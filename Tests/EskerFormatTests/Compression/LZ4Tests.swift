import Testing

@Suite struct LZ4Tests {
  static func record(_ number: Int) -> [UInt8] {
    Array(#"{"id":\#(number),"name":"City \#(number % 97)","country":"NO","population":\#(number * 31 % 99_991)}"#.utf8)
  }

  static let dictionary = (0..<900).flatMap { record($0 * 7) }

  /// The copied state must be as good as a dictionary that was loaded for the block: the very same bytes come out.
  @Test(arguments: LZ4Codec.all, [0, 4, 9] as [Int32])
  func copiedStateEqualsPlainLoading(codec: LZ4Codec, level: Int32) {
    let compressor = codec.compressor(level: level, dictionary: Self.dictionary)
    for number in 0..<100 {
      let source = Self.record(number)
      #expect(compressor(source) == codec.compressPlainly(source, level: level, dictionary: Self.dictionary))
    }
  }

  /// A block depends on nothing but its source and the dictionary: not on what was compressed before, nor on what did not fit.
  @Test(arguments: LZ4Codec.all, [0, 4, 9, 12] as [Int32])
  func blocksAreIndependent(codec: LZ4Codec, level: Int32) throws {
    var random = Seeded(24)
    let used = codec.compressor(level: level, dictionary: Self.dictionary)
    for number in 0..<20 {
      let source = number % 10 == 9 ? random.bytes(20_000) : Self.record(number) + Self.record(number * 3)
      let block = try #require(codec.compressor(level: level, dictionary: Self.dictionary)(source))
      #expect(used(source, capacity: block.count - 1) == nil)
      #expect(used(source) == block)
    }
  }

  @Test(arguments: LZ4Codec.all)
  func dictionaryHalvesRecords(codec: LZ4Codec) throws {
    let source = Self.record(123_456)
    let without = try #require(codec.compressor(level: 0)(source)).count
    #expect(try #require(codec.compressor(level: 0, dictionary: Self.dictionary)(source)).count < without / 2)
  }

  @Test(arguments: LZ4Codec.all)
  func whatDoesNotFitIsRefused(codec: LZ4Codec) {
    var random = Seeded(22)
    let compressor = codec.compressor(level: 0)
    let source = random.bytes(500)
    #expect(compressor(source, capacity: 499) == nil)
    #expect(compressor(source, capacity: 0) == nil)
    #expect(codec.longest(0x7e00_0000) == 0x7e7e_7e8e)
    #expect(codec.longest(0x7e00_0001) == nil)
    #expect(codec.longest(Int(Int32.max)) == nil)
    #expect(codec.longest(Int(Int32.max) + 1) == nil)
    #expect(codec.longest(-1) == nil)
  }

  /// Two libraries that check the same things: what one refuses, the other refuses, and what they accept is the same.
  @Test(arguments: [0, 4] as [Int32])
  func damagedBlocksNeverEscapeTheirBuffers(level: Int32) throws {
    var random = Seeded(23)
    let source = Self.record(77)
    let block = try #require(LZ4Codec.engine.compressor(level: level, dictionary: Self.dictionary)(source))
    for _ in 0..<5_000 {
      var damaged = Bool.random(using: &random) ? block : random.bytes(Int.random(in: 0..<60, using: &random))
      if !damaged.isEmpty {
        damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
      }
      let plain = LZ4Codec.engine.decompress(damaged, source.count, Self.dictionary)
      #expect(LZ4Codec.bundled.decompress(damaged, source.count, Self.dictionary) == plain)
    }
  }
}
