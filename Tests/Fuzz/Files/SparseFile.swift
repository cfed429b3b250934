/// A file in which most bytes are zero, as short bytes: its length, then pieces, each with how many zeros precede it.
///
/// Any bytes are a file, so a mutation always leads to one.
struct SparseFile {
  /// The longest file that an input can describe. The smallest index takes 264 KiB in a checkpoint.
  static let longest = 384 << 10

  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a file from the front of an input.
  init(readingFrom input: inout ArraySlice<UInt8>) {
    let length = min(Int(Self.number(&input, bytes: 3)), Self.longest)
    let pieces = Int(Self.number(&input, bytes: 2))
    bytes = [UInt8](repeating: 0, count: length)
    var offset = 0
    for _ in 0..<pieces where !input.isEmpty {
      offset += Int(Self.number(&input, bytes: 2))
      let count = Int(Self.number(&input, bytes: 2))
      let piece = input.prefix(count)
      input = input.dropFirst(piece.count)
      let end = min(length, offset + piece.count)
      if offset < end { bytes.replaceSubrange(offset..<end, with: piece.prefix(end - offset)) }
      offset += piece.count
    }
  }

  private static func number(_ input: inout ArraySlice<UInt8>, bytes count: Int) -> UInt32 {
    let digits = input.prefix(count)
    input = input.dropFirst(count)
    return digits.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The input for this file.
  func encoded() -> [UInt8] {
    var pieces: [(zeros: Int, bytes: ArraySlice<UInt8>)] = []
    var offset = 0
    while let start = bytes[offset...].firstIndex(where: { $0 != 0 }) {
      var end = start
      // Up to eight zeros between two others are cheaper than another piece.
      while end < bytes.count, end - start < 0xffff, bytes[end..<min(end + 8, bytes.count)].contains(where: { $0 != 0 })
      {
        end += 1
      }
      var zeros = start - offset
      while zeros > 0xffff {
        pieces.append((0xffff, []))
        zeros -= 0xffff
      }
      pieces.append((zeros, bytes[start..<end]))
      offset = end
    }
    var result: [UInt8] = []
    Self.append(bytes.count, bytes: 3, to: &result)
    Self.append(pieces.count, bytes: 2, to: &result)
    for piece in pieces {
      Self.append(piece.zeros, bytes: 2, to: &result)
      Self.append(piece.bytes.count, bytes: 2, to: &result)
      result += piece.bytes
    }
    return result
  }

  private static func append(_ number: Int, bytes count: Int, to result: inout [UInt8]) {
    for index in 0..<count { result.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
  }
}
