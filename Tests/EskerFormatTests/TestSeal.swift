import CEskerShims

/// Gives bytes the checksums that make nonsense look like a record.
enum TestSeal {
  static func seal(_ memory: AlignedBytes, extensionWords: Int, salt: UInt32 = 1, offsetUnits: UInt32 = 2) {
    let bodyOffset = 32 + 8 * extensionWords
    let body = esker_crc32c(0, memory.start + bodyOffset, memory.buffer.count - bodyOffset)
    let word = esker_record_first_word(salt, offsetUnits, body, memory.start, UInt32(extensionWords))
    memory.start.storeBytes(of: word.littleEndian, as: UInt64.self)
  }
}
