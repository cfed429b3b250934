import EskerFormat

/// A small deterministic generator (splitmix64): a failing case is named by its seed.
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}

/// Pairs of hexadecimal digits as bytes; white space is for people.
func bytes(hex text: String) -> [UInt8] {
  text.split(whereSeparator: { $0 == " " || $0 == "\n" }).flatMap { word in
    stride(from: 0, to: word.utf8.count, by: 2).compactMap { offset in
      let start = word.index(word.startIndex, offsetBy: offset)
      return UInt8(word[start..<word.index(start, offsetBy: 2)], radix: 16)
    }
  }
}

func hex(_ bytes: some Collection<UInt8>) -> String {
  bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

/// Bytes at an address aligned to 16, with nothing readable promised after them.
final class AlignedBytes {
  let buffer: UnsafeMutableRawBufferPointer

  init(_ bytes: [UInt8]) {
    buffer = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
    buffer.copyBytes(from: bytes)
  }

  init(zeros count: Int) {
    buffer = .allocate(byteCount: max(count, 1), alignment: 16)
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { buffer.deallocate() }

  var start: UnsafeMutableRawPointer { buffer.baseAddress.unsafelyUnwrapped }
  var bytes: [UInt8] { Array(buffer) }
}
