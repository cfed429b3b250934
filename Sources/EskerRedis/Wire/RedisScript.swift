#if Redis
  /// A script that servers keep under the digest of its text.
  final class RedisScript: Sendable {
    let text: String
    let digest: String
    let isReadOnly: Bool

    init(_ text: String, isReadOnly: Bool = false) {
      self.text = text
      digest = SHA1.digest(Array(text.utf8))
      self.isReadOnly = isReadOnly
    }
  }

  /// SHA-1, by which servers name scripts. Nothing is secured by it.
  enum SHA1 {
    /// The digest in 40 hexadecimal digits.
    static func digest(_ message: [UInt8]) -> String {
      var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
      var bytes = message + [0x80]
      while bytes.count % 64 != 56 { bytes.append(0) }
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: (message.count * 8) >> shift))
      }
      for block in stride(from: 0, to: bytes.count, by: 64) { update(&state, bytes[block..<(block + 64)]) }
      return state.map { word in
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
      }.joined()
    }

    private static func update(_ state: inout [UInt32], _ block: ArraySlice<UInt8>) {
      var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
        block[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      }
      for index in 16..<80 {
        words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
      }
      var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
      for index in 0..<80 {
        let (mix, constant): (UInt32, UInt32) =
          switch index {
          case ..<20: (b & c | ~b & d, 0x5A82_7999)
          case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
          case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
          default: (b ^ c ^ d, 0xCA62_C1D6)
          }
        (a, b, c, d, e) = (rotate(a, 5) &+ mix &+ e &+ constant &+ words[index], a, rotate(b, 30), c, d)
      }
      for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
  }
#endif
