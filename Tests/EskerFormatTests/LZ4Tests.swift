import CLZ4
import EskerFormat
import Testing

@Suite struct LZ4Tests {
  static func record(_ number: Int) -> [UInt8] {
    Array(#"{"id":\#(number),"name":"City \#(number % 97)","country":"NO","population":\#(number * 31 % 99_991)}"#.utf8)
  }

  static let dictionary = (0..<900).flatMap { record($0 * 7) }

  static func compress(_ source: [UInt8], _ compressor: inout LZ4Compressor, capacity: Int? = nil) -> [UInt8]? {
    var target = [UInt8](repeating: 0xcc, count: capacity ?? LZ4.bound(source.count) ?? 0)
    let length = source.withUnsafeBytes { source in
      target.withUnsafeMutableBytes { compressor.compress(source, into: $0) }
    }
    return length.map { Array(target[..<$0]) }
  }

  static func decompress(_ block: [UInt8], _ count: Int, _ dictionary: [UInt8] = []) -> [UInt8]? {
    var target = [UInt8](repeating: 0xcc, count: count)
    let done = block.withUnsafeBytes { block in
      dictionary.withUnsafeBytes { dictionary in
        target.withUnsafeMutableBytes { LZ4.decompress(block, into: $0, dictionary: dictionary) }
      }
    }
    return done ? target : nil
  }

  @Test(arguments: [LZ4Level.fast, .high(4), .high(9)], [true, false])
  func roundTripKeepsEveryByte(level: LZ4Level, withDictionary: Bool) throws {
    var random = Seeded(21)
    let dictionary = withDictionary ? Self.dictionary : []
    var compressor = LZ4Compressor(level: level, dictionary: dictionary)
    var sources = (0..<200).map { Self.record($0) }
    sources += [[], [7], random.bytes(1_000), Array(repeating: 9, count: 300_000), dictionary]
    for source in sources {
      let block = try #require(Self.compress(source, &compressor))
      #expect(Self.decompress(block, source.count, dictionary) == source)
      #expect(Self.decompress(block, source.count + 1, dictionary) == nil)
      if !source.isEmpty { #expect(Self.decompress(block, source.count - 1, dictionary) == nil) }
    }
  }

  /// The copied state must be as good as a dictionary that was loaded for the block: the very same bytes come out.
  @Test func copiedStateEqualsPlainLoading() throws {
    var fast = LZ4Compressor(level: .fast, dictionary: Self.dictionary)
    var high = LZ4Compressor(level: .high(4), dictionary: Self.dictionary)
    let window = Array(Self.dictionary.suffix(65_536))
    for number in 0..<300 {
      let source = Self.record(number)
      var block = [CChar](repeating: 0, count: 1_000)
      try window.withUnsafeBytes { window in
        try source.withUnsafeBytes { source in
          let windowStart = try #require(window.baseAddress).assumingMemoryBound(to: CChar.self)
          let start = try #require(source.baseAddress).assumingMemoryBound(to: CChar.self)
          let stream = LZ4_createStream()
          defer { LZ4_freeStream(stream) }
          LZ4_loadDict(stream, windowStart, Int32(window.count))
          let length = LZ4_compress_fast_continue(stream, start, &block, Int32(source.count), 1_000, 1)
          #expect(Self.compress(Array(source), &fast) == block[..<Int(length)].map { UInt8(bitPattern: $0) })
          let streamHC = LZ4_createStreamHC()
          defer { LZ4_freeStreamHC(streamHC) }
          LZ4_resetStreamHC_fast(streamHC, 4)
          LZ4_loadDictHC(streamHC, windowStart, Int32(window.count))
          let lengthHC = LZ4_compress_HC_continue(streamHC, start, &block, Int32(source.count), 1_000)
          #expect(Self.compress(Array(source), &high) == block[..<Int(lengthHC)].map { UInt8(bitPattern: $0) })
        }
      }
    }
  }

  @Test func dictionaryHalvesRecords() throws {
    var plain = LZ4Compressor(level: .fast)
    var primed = LZ4Compressor(level: .fast, dictionary: Self.dictionary)
    let source = Self.record(123_456)
    let without = try #require(Self.compress(source, &plain)).count
    #expect(try #require(Self.compress(source, &primed)).count < without / 2)
  }

  @Test func whatDoesNotFitIsRefused() {
    var random = Seeded(22)
    var compressor = LZ4Compressor(level: .fast)
    let source = random.bytes(500)
    #expect(Self.compress(source, &compressor, capacity: 499) == nil)
    #expect(Self.compress(source, &compressor, capacity: 0) == nil)
    #expect(LZ4.bound(Int(Int32.max)) == nil)
    #expect(LZ4.bound(-1) == nil)
  }

  @Test func damagedBlocksNeverEscapeTheirBuffers() throws {
    var random = Seeded(23)
    var compressor = LZ4Compressor(level: .fast, dictionary: Self.dictionary)
    let source = Self.record(77)
    let block = try #require(Self.compress(source, &compressor))
    for _ in 0..<10_000 {
      var damaged = Bool.random(using: &random) ? block : random.bytes(Int.random(in: 0..<60, using: &random))
      if !damaged.isEmpty {
        damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
      }
      // A guard zone on either side shows a write outside.
      var target = [UInt8](repeating: 0xcc, count: 64 + source.count + 64)
      damaged.withUnsafeBytes { block in
        Self.dictionary.withUnsafeBytes { dictionary in
          target.withUnsafeMutableBytes { target in
            let middle = UnsafeMutableRawBufferPointer(rebasing: target[64..<(64 + source.count)])
            _ = LZ4.decompress(block, into: middle, dictionary: dictionary)
          }
        }
      }
      #expect(target.prefix(64).allSatisfy { $0 == 0xcc } && target.suffix(64).allSatisfy { $0 == 0xcc })
    }
  }
}
