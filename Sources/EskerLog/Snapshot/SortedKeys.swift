internal import EskerIndex

/// Keys and the addresses of their records, sorted once.
struct SortedKeys {
  private struct Row {
    var key: Range<Int>
    var address: UInt64
  }

  /// The keys one after the other.
  private var bytes: [UInt8] = []
  private var rows: [Row] = []

  var count: Int { rows.count }

  /// Appends the key of an entry, which is to be sorted in.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)``.
  mutating func append(_ entry: Snapshot.Entry) throws(StoreError) {
    let start = bytes.count
    // Safety: the key is copied while it is lent.
    try entry.withKey { (key) throws(StoreError) in
      unsafe key.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
    rows.append(Row(key: start..<bytes.count, address: entry.address))
  }

  /// Appends the keys of another, which are to be sorted in.
  mutating func append(_ other: SortedKeys) {
    let start = bytes.count
    bytes += other.bytes
    rows += other.rows.map { Row(key: start + $0.key.lowerBound..<start + $0.key.upperBound, address: $0.address) }
  }

  /// Sorts what was appended. O(n) for a few sorted parts, one behind the other.
  mutating func sort() {
    // Safety: the array does not change while it is lent, and each range is within it.
    unsafe bytes.withUnsafeBytes { bytes in
      rows.sort { left, right in
        let left = unsafe UnsafeRawBufferPointer(rebasing: bytes[left.key])
        return unsafe KeyTree.compare(left, UnsafeRawBufferPointer(rebasing: bytes[right.key])) < 0
      }
    }
  }

  /// The places of the first keys of a range, at most `limit`.
  func places(of range: KeyRange, _ direction: KeyRange.Direction, limit: Int) -> Range<Int> {
    let first = range.lower.map { end in
      rows.partitioningIndex { row in !precedes(row, end) && (end.isIncluded || !bytes[row.key].elementsEqual(end.key))
      }
    }
    let last = range.upper.map { end in
      rows.partitioningIndex { row in !precedes(row, end) && (!end.isIncluded || !bytes[row.key].elementsEqual(end.key))
      }
    }
    let places = (first ?? 0)..<max(first ?? 0, last ?? rows.count)
    switch direction {
    case .ascending: return places.prefix(limit).startIndex..<places.prefix(limit).endIndex
    case .descending: return places.suffix(limit).startIndex..<places.suffix(limit).endIndex
    }
  }

  private func precedes(_ row: Row, _ end: KeyRange.End) -> Bool {
    bytes[row.key].lexicographicallyPrecedes(end.key)
  }

  func key(_ place: Int) -> ArraySlice<UInt8> { bytes[rows[place].key] }

  /// The address of the record at a place.
  func address(_ place: Int) -> UInt64 { rows[place].address }
}

extension Array {
  /// The first index whose element meets a condition, which all behind it meet, too.
  fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
