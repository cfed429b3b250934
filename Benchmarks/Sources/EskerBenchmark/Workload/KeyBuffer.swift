import CLimits

/// Keys of 16 bytes, contiguous and in the order in which a workload uses them.
///
/// Created before the clock starts, so that both sides of a comparison only read memory to get the next key.
final class KeyBuffer {
  static let keyLength = 16

  let base: UnsafeMutablePointer<UInt8>
  let count: Int
  /// The sum of the key numbers: what the stamps of the values add up to if every key is found.
  let checksum: UInt64

  /// Takes key numbers in order of use; the keys themselves look random, or ascend with their numbers.
  init(numbers: some Collection<UInt64>, isAscending: Bool = false) {
    base = .allocate(capacity: max(numbers.count, 1) * Self.keyLength)
    count = numbers.count
    var place = base
    var sum: UInt64 = 0
    for number in numbers {
      if isAscending { bench_ascending_key(number, place) } else { bench_key(number, place) }
      sum &+= number
      place += Self.keyLength
    }
    checksum = sum
  }

  deinit {
    base.deallocate()
  }

  /// The key of operation `index`.
  @inline(__always)
  subscript(index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + index * Self.keyLength, count: Self.keyLength)
  }

  /// Windows of at most `length` keys, for calls that take several.
  func windows(of length: Int) -> [KeyWindow] {
    stride(from: 0, to: count, by: length).map { start in
      KeyWindow(
        base: base + start * Self.keyLength,
        keys: (start..<min(start + length, count)).map { self[$0] }
      )
    }
  }
}
