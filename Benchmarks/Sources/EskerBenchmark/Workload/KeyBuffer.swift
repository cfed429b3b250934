import CLimits

/// Keys of 16 bytes, contiguous and in the order in which a workload uses them.
///
/// Created before the clock starts, so that both sides of a comparison only read memory to get the next key.
final class KeyBuffer {
  static let keyLength = 16

  /// How keys are made from their numbers.
  enum Shape {
    /// They look random.
    case scattered
    /// They have the order of their numbers.
    case ascending
    /// They look random, but for a first half that those of a group share; the members of a group come long after one another.
    case grouped(count: Int)
  }

  let base: UnsafeMutablePointer<UInt8>
  let count: Int
  /// The sum of the key numbers: what the stamps of the values add up to if every key is found.
  let checksum: UInt64

  /// Takes key numbers in order of use.
  init(numbers: some Collection<UInt64>, shape: Shape = .scattered) {
    base = .allocate(capacity: max(numbers.count, 1) * Self.keyLength)
    count = numbers.count
    var place = base
    var sum: UInt64 = 0
    for number in numbers {
      switch shape {
      case .scattered: bench_key(number, place)
      case .ascending: bench_ascending_key(number, place)
      case .grouped(let groups): bench_grouped_key(number, UInt64(groups), place)
      }
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
