internal import EskerIndex

/// Some keys one after the other, copied so that no lock is held while they are looked up. Its memory is used again.
struct KeyBatch {
  /// The keys, and room for more behind them.
  private(set) var bytes: [UInt8] = []
  private var used = 0
  private var ends: [Int] = []

  var count: Int { ends.count }
  var isEmpty: Bool { ends.isEmpty }

  /// Where the key at a position is within the bytes.
  func place(_ position: Int) -> Range<Int> { (position == 0 ? 0 : ends[position - 1])..<ends[position] }

  /// The last key.
  var last: ArraySlice<UInt8>? { isEmpty ? nil : bytes[place(count - 1)] }

  /// Calls `body` with each key.
  ///
  /// Safety: the array does not change while it is lent; each place is within it.
  func forEach(_ body: (UnsafeRawBufferPointer) -> Void) {
    unsafe bytes.withUnsafeBytes { bytes in
      for position in 0..<count { unsafe body(UnsafeRawBufferPointer(rebasing: bytes[place(position)])) }
    }
  }

  mutating func removeAll() {
    used = 0
    ends.removeAll(keepingCapacity: true)
  }

  /// Appends a key that comes in two parts, unless it lies beyond the end of a range; whether it does not.
  ///
  /// Safety: the caller keeps both parts until this returns. There is room for them in the array, which is lent meanwhile.
  mutating func append(
    _ prefix: UnsafeRawBufferPointer,
    _ rest: UnsafeRawBufferPointer,
    unlessBeyond end: KeyRange.End? = nil,
    _ direction: KeyRange.Direction = .ascending
  ) -> Bool {
    let key = used..<used + prefix.count + rest.count
    if key.upperBound > bytes.count { bytes += [UInt8](repeating: 0, count: max(2048, bytes.count, key.count)) }
    let isWithin = unsafe bytes.withUnsafeMutableBytes { bytes in
      let place = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[key])
      unsafe place.copyMemory(from: prefix)
      unsafe UnsafeMutableRawBufferPointer(rebasing: place[prefix.count...]).copyMemory(from: rest)
      guard let end else { return true }
      let order = unsafe end.key.withUnsafeBytes { unsafe KeyTree.compare(UnsafeRawBufferPointer(place), $0) }
      if order == 0 { return end.isIncluded }
      return direction == .ascending ? order < 0 : order > 0
    }
    guard isWithin else { return false }
    used = key.upperBound
    ends.append(used)
    return true
  }
}
