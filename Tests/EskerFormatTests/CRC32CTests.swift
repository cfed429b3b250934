import CEskerShims
import EskerFormat
import Testing

@Suite struct CRC32CTests {
  @Test func publishedVectorsMatch() {
    // RFC 3720, B.4, and the check value of the catalogue of parametrised CRC algorithms.
    let vectors: [([UInt8], UInt32)] = [
      (Array(repeating: 0, count: 32), 0x8a91_36aa),
      (Array(repeating: 0xff, count: 32), 0x62a8_ab43),
      (Array(0..<32), 0x46dd_794e),
      (Array((0..<32).reversed()), 0x113f_db5c),
      (
        bytes(
          hex: """
            01c00000 00000000 00000000 00000000 14000000 00000400
            00000014 00000018 28000000 00000000 02000000 00000000
            """
        ), 0xd996_3a56
      ),
      (Array("123456789".utf8), 0xe306_9283),
      ([], 0),
    ]
    for (data, expected) in vectors {
      #expect(CRC32C.checksum(of: ContiguousArray(data).span.bytes) == expected)
      #expect(data.withUnsafeBytes { esker_crc32c_portable(0, $0.baseAddress, $0.count) } == expected)
    }
  }

  @Test func everyLengthAndAlignmentMatchesThePortablePath() {
    var random = Seeded(1)
    let data = AlignedBytes(random.bytes(8_192))
    for length in 0..<1_100 {
      for offset in 0..<8 {
        let start = data.start + offset
        #expect(esker_crc32c(77, start, length) == esker_crc32c_portable(77, start, length))
      }
    }
    for length in stride(from: 1_100, to: 8_192, by: 29) {
      #expect(esker_crc32c(0, data.start, length) == esker_crc32c_portable(0, data.start, length))
      #expect(esker_crc32c_steps(0, data.start, length / 8) == esker_crc32c_portable(0, data.start, length / 8 * 8))
    }
  }

  @Test func partsChainToTheWhole() {
    var random = Seeded(2)
    let data = random.bytes(1_500)
    let whole = CRC32C.checksum(of: ContiguousArray(data).span.bytes)
    for cut in stride(from: 0, through: data.count, by: 7) {
      let head = CRC32C.checksum(of: ContiguousArray(data[..<cut]).span.bytes)
      #expect(CRC32C.checksum(of: ContiguousArray(data[cut...]).span.bytes, continuing: head) == whole)
    }
  }

  @Test func oneWordIsOneStep() {
    let word: UInt64 = 0x0807_0605_0403_0201
    let expected = CRC32C.checksum(of: ContiguousArray<UInt8>(1...8).span.bytes)
    #expect(~esker_crc32c_word(~0, word) == expected)
  }

  @Test func bodyChecksumIsThatOfTheJoinedAndPaddedBytes() {
    var random = Seeded(3)
    for keyLength in 0..<40 {
      for valueLength in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 100, 101, 333] {
        let key = AlignedBytes(random.bytes(keyLength))
        let value = AlignedBytes(random.bytes(valueLength))
        let joined = key.bytes.prefix(keyLength) + value.bytes.prefix(valueLength)
        let padded = joined + Array(repeating: 0, count: -joined.count & 7)
        #expect(
          esker_record_body_checksum(key.start, keyLength, value.start, valueLength)
            == padded.withUnsafeBytes { esker_crc32c_portable(0, $0.baseAddress, $0.count) },
          "key \(keyLength), value \(valueLength)"
        )
      }
    }
  }
}
