import ArgumentParser

/// What becomes of MMKV's values that are neither text nor data. A file does not say which kind they are: the program knows.
enum MMKVNumbers: String, ExpressibleByArgument, CaseIterable {
  /// Their bytes, as they are in the file.
  case bytes
  /// Digits, if they are whole numbers or flags.
  case integers
  /// The same, but eight bytes are a number with a fraction.
  case doubles
}

struct MMKVOptions: ParsableArguments {
  @Option(
    help:
      "What becomes of numbers and flags in a file of MMKV, which does not tell them apart: bytes as they are there, integers or doubles as digits."
  )
  var numbers: MMKVNumbers?

  var isEmpty: Bool { numbers == nil }
}

/// A value of MMKV's, as it is stored.
enum MMKVValue {
  /// What is stored for a value: text and data without the length that MMKV puts before them.
  static func stored(_ bytes: ArraySlice<UInt8>, _ numbers: MMKVNumbers) -> [UInt8] {
    if let text = text(bytes), numbers == .bytes || !isNumber(bytes, numbers) { return Array(text) }
    if numbers == .doubles, bytes.count == 8 {
      let bits = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return digits(of: Double(bitPattern: bits))
    }
    if numbers != .bytes, let number = integer(bytes) { return Array("\(number)".utf8) }
    return Array(bytes)
  }

  /// Whether what may be text is a number: a zero, or a number with a fraction whose first byte is 7 by chance.
  private static func isNumber(_ bytes: ArraySlice<UInt8>, _ numbers: MMKVNumbers) -> Bool {
    if bytes.count == 1 { return true }
    return numbers == .doubles && bytes.count == 8 && !UTF8Check.isValid(ContiguousArray(bytes.dropFirst()).span)
  }

  /// What is behind a length of as many bytes; nil if that is not how the bytes begin.
  private static func text(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let end = bytes.firstIndex(where: { $0 < 0x80 }), end - bytes.startIndex < 5,
      let length = integer(bytes[...end]), length == bytes.endIndex - end - 1
    else { return nil }
    return bytes[(end + 1)...]
  }

  /// A number of seven bits in a byte, the least significant first, that takes all bytes; nil if they are none.
  private static func integer(_ bytes: ArraySlice<UInt8>) -> Int64? {
    guard (1...10).contains(bytes.count), let last = bytes.last, last < 0x80,
      bytes.dropLast().allSatisfy({ $0 >= 0x80 }), bytes.count < 10 || last <= 1
    else { return nil }
    return Int64(bitPattern: bytes.reversed().reduce(UInt64(0)) { $0 << 7 | UInt64($1 & 0x7F) })
  }

  private static func digits(of number: Double) -> [UInt8] {
    guard number.isFinite else { return Array("\(number)".utf8) }
    var writer = JSONWriter()
    writer.value(number)
    return writer.bytes
  }
}
