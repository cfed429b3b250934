import EskerFormat
import Testing

@Suite struct KeyHashTests {
  static let hash = KeyHash(seedLow: 0x0123_4567_89ab_cdef, seedHigh: 0xfedc_ba98_7654_3210)

  @Test func everyBitOfTheKeyChangesHalfOfTheHash() {
    var random = Seeded(11)
    // Lengths on both sides of every branch.
    for length in [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 32, 33, 48, 49, 64, 96, 97, 145, 200] {
      let rounds = 120
      var changed = Array(repeating: 0, count: 64)
      var trials = 0
      for _ in 0..<rounds {
        var key = random.bytes(length)
        let before = key.withUnsafeBytes { Self.hash.hash($0) }
        for bit in stride(from: 0, to: length * 8, by: max(1, length / 8)) {
          key[bit / 8] ^= 1 << (bit % 8)
          let difference = before ^ key.withUnsafeBytes { Self.hash.hash($0) }
          key[bit / 8] ^= 1 << (bit % 8)
          #expect(difference != 0)
          for output in 0..<64 where difference >> UInt64(output) & 1 == 1 { changed[output] += 1 }
          trials += 1
        }
      }
      for output in 0..<64 {
        let share = Double(changed[output]) / Double(trials)
        // One byte has only 256 values to average over.
        let tolerance = length == 1 ? 0.2 : 0.1
        #expect(abs(share - 0.5) < tolerance, "length \(length), bit \(output) of the hash: \(share)")
      }
    }
  }

  /// Keys as applications number them.
  @Test(arguments: ["little-endian", "big-endian", "decimal", "padded"])
  func sequentialKeysFillBucketsEvenly(_ style: String) {
    let count: UInt64 = 1 << 18
    var low = Array(repeating: 0, count: 1 << 14)
    var high = low
    var hashes = Set<UInt64>(minimumCapacity: Int(count))
    for number in 0..<count {
      let hash = Self.hash(of: number, style)
      low[Int(hash & 0xfffff) >> 6] += 1
      high[Int(hash >> 40) >> 10] += 1
      hashes.insert(hash)
    }
    #expect(hashes.count == Int(count))
    for counts in [low, high] {
      // Chi-squared over 16,384 cells of 16 expected: mean 16,383, deviation 181. Six deviations either way.
      let chiSquared = counts.reduce(0.0) { $0 + Double(($1 - 16) * ($1 - 16)) / 16 }
      #expect(abs(chiSquared - 16_383) < 1_100, "\(style): \(chiSquared)")
    }
  }

  static func hash(of number: UInt64, _ style: String) -> UInt64 {
    switch style {
    case "little-endian": return withUnsafeBytes(of: number.littleEndian) { hash.hash($0) }
    case "big-endian": return withUnsafeBytes(of: number.bigEndian) { hash.hash($0) }
    case "decimal": return "user:\(number)".utf8.withContiguousStorageIfAvailable { hash.hash(.init($0)) } ?? 0
    default: return withUnsafeBytes(of: (number.littleEndian, 0 as UInt64)) { hash.hash($0) }
    }
  }

  @Test func keysOfZerosDifferByLength() {
    let zeros = Array(repeating: 0 as UInt8, count: 2_000)
    let hashes = Set(
      (0...2_000).map { length in zeros.withUnsafeBytes { Self.hash.hash(.init(rebasing: $0[..<length])) } }
    )
    #expect(hashes.count == 2_001)
  }

  @Test func everyByteOfALongKeyCounts() {
    var key = Array(repeating: 0x61 as UInt8, count: 65_535)
    var hashes = Set([key.withUnsafeBytes { Self.hash.hash($0) }])
    for index in stride(from: 0, to: key.count, by: 13) {
      key[index] ^= 0x80
      hashes.insert(key.withUnsafeBytes { Self.hash.hash($0) })
      key[index] ^= 0x80
    }
    #expect(hashes.count == 1 + (65_535 + 12) / 13)
  }

  @Test func everySeedBitAndTheKeyspaceChangeEverything() {
    let key = Array("user:1042".utf8)
    func value(_ low: UInt64, _ high: UInt64, _ keyspace: UInt64) -> UInt64 {
      key.withUnsafeBytes {
        KeyHash(seedLow: low, seedHigh: high, keyspace: KeyspaceTag(rawValue: keyspace)).hash($0)
      }
    }
    let base = value(1, 2, 3)
    for bit in 0..<64 {
      let mask: UInt64 = 1 << UInt64(bit)
      for other in [value(1 ^ mask, 2, 3), value(1, 2 ^ mask, 3), value(1, 2, 3 ^ mask)] {
        #expect((16...48).contains((other ^ base).nonzeroBitCount), "bit \(bit)")
      }
    }
  }

  @Test func emptyKeyHasOneHash() {
    let some = [1 as UInt8]
    let fromPointer = some.withUnsafeBytes { Self.hash.hash(UnsafeRawBufferPointer(rebasing: $0[..<0])) }
    #expect(fromPointer == Self.hash.emptyHash)
    #expect(Self.hash.hash(UnsafeRawBufferPointer(start: nil, count: 0)) == Self.hash.emptyHash)
  }

  /// The hash is on disk: these values hold on every platform, for ever.
  @Test(arguments: zip([0, 1, 3, 4, 7, 8, 15, 16, 17, 32, 48, 49, 100, 1_000, 65_535], golden))
  func hashOfCountingBytesIsGolden(length: Int, expected: UInt64) {
    let key = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    #expect(key.withUnsafeBytes { Self.hash.hash($0) } == expected)
  }

  static let golden: [UInt64] = [
    0xcecc_499c_356f_3418, 0xd13d_75ed_a947_ae93, 0x5eca_88aa_8e67_edc3, 0x550f_500e_384c_8e17,
    0x49fe_4310_a708_0d0e, 0x3beb_9a8d_e1ca_db28, 0x49f2_e1ec_7391_49d5, 0xd755_06e7_5ecc_e9d4,
    0x5437_2110_b201_192e, 0xd7e8_f37e_c66e_ffd2, 0xfdc2_d056_4158_2ac2, 0xe019_76cd_b35a_ab00,
    0x374e_b6d6_fe62_b554, 0xa375_12d7_a071_5682, 0xfb3b_7e85_3ca9_4172,
  ]

  @Test func hashInAKeyspaceIsGolden() {
    let hash = KeyHash(seedLow: 7, seedHigh: 8, keyspace: KeyspaceTag(id: 3, incarnation: 1))
    #expect(Array("user:1042".utf8).withUnsafeBytes { hash.hash($0) } == 0x114a_3357_0894_0a9d)
  }
}
