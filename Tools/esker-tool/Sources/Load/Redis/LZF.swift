/// The compression of strings in RDB files, LibLZF's: literal bytes, and copies of what came up to 8 KiB before.
enum LZF {
  /// The bytes that were compressed; nil if these are not what `count` bytes are compressed to.
  static func decompress(_ input: Span<UInt8>, count: Int) -> [UInt8]? {
    var output: [UInt8] = []
    // What the input claims is not believed before it is there.
    output.reserveCapacity(min(count, input.count * 4))
    var index = 0
    while index < input.count {
      let control = Int(input[index])
      index += 1
      if control < 32 {
        let end = index + control + 1
        guard end <= input.count, output.count + control + 1 <= count else { return nil }
        output.append(contentsOf: input.extracting(index..<end))
        index = end
        continue
      }
      var length = control >> 5
      if length == 7 {
        guard index < input.count else { return nil }
        length += Int(input[index])
        index += 1
      }
      length += 2
      guard index < input.count else { return nil }
      let start = output.count - ((control & 31) << 8 | Int(input[index])) - 1
      index += 1
      guard start >= 0, output.count + length <= count else { return nil }
      // Byte by byte: a copy may reach into itself.
      for place in start..<start + length { output.append(output[place]) }
    }
    return output.count == count ? output : nil
  }
}
