/// Some keys one after the other, copied so that no lock is held while they are looked up. Its memory is used again.
struct KeyBatch {
  private(set) var bytes: [UInt8] = []
  private var ends: [Int] = []

  var count: Int { ends.count }
  var isEmpty: Bool { ends.isEmpty }

  /// Where the key at a position is within the bytes.
  func place(_ position: Int) -> Range<Int> { (position == 0 ? 0 : ends[position - 1])..<ends[position] }

  /// The last key.
  var last: ArraySlice<UInt8>? { isEmpty ? nil : bytes[place(count - 1)] }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  mutating func append(_ key: some Collection<UInt8>) {
    bytes.append(contentsOf: key)
    ends.append(bytes.count)
  }

  /// Appends a key that comes in two parts, unless it lies beyond the end of a range; whether it does not.
  ///
  /// Safety: the caller keeps both parts until this returns.
  mutating func append(
    _ prefix: UnsafeRawBufferPointer,
    _ rest: UnsafeRawBufferPointer,
    unlessBeyond end: KeyRange.End?,
    _ direction: KeyRange.Direction
  ) -> Bool {
    let start = bytes.count
    unsafe bytes.append(contentsOf: prefix)
    unsafe bytes.append(contentsOf: rest)
    if let end {
      let isBeyond =
        switch direction {
        case .ascending: end.key.lexicographicallyPrecedes(bytes[start...])
        case .descending: bytes[start...].lexicographicallyPrecedes(end.key)
        }
      if isBeyond || !end.isIncluded && bytes[start...].elementsEqual(end.key) {
        bytes.removeSubrange(start...)
        return false
      }
    }
    ends.append(bytes.count)
    return true
  }
}
