internal import EskerIndex

/// The keys of one keyspace in a snapshot, in order: sorted once, as nothing changes.
final class SnapshotOrder: Sendable {
  private struct Row {
    var key: Range<Int>
    var address: UInt64
  }

  /// The keys one after the other.
  private let bytes: [UInt8]
  private let rows: [Row]
  /// What stands for keys that cannot be read.
  let damaged: [Snapshot.Entry]

  init(of entries: some Sequence<Snapshot.Entry>) {
    var (bytes, rows, damaged): ([UInt8], [Row], [Snapshot.Entry]) = ([], [], [])
    for entry in entries {
      let start = bytes.count
      do throws(StoreError) {
        // Safety: the key is copied while it is lent.
        try entry.withKey { (key) throws(StoreError) in
          unsafe key.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        }
        rows.append(Row(key: start..<bytes.count, address: entry.address))
      } catch {
        damaged.append(entry)
      }
    }
    // Safety: the array does not change while it is lent, and each range is within it.
    unsafe bytes.withUnsafeBytes { bytes in
      rows.sort { left, right in
        let left = unsafe UnsafeRawBufferPointer(rebasing: bytes[left.key])
        return unsafe KeyTree.compare(left, UnsafeRawBufferPointer(rebasing: bytes[right.key])) < 0
      }
    }
    (self.bytes, self.rows, self.damaged) = (bytes, rows, damaged)
  }

  /// The places of the keys of a range.
  func places(of range: KeyRange) -> Range<Int> {
    let start = range.lower.map { end in
      rows.partitioningIndex { row in !precedes(row, end) && (end.isIncluded || !bytes[row.key].elementsEqual(end.key))
      }
    }
    let end = range.upper.map { end in
      rows.partitioningIndex { row in !precedes(row, end) && (!end.isIncluded || !bytes[row.key].elementsEqual(end.key))
      }
    }
    let (first, last) = (start ?? 0, end ?? rows.count)
    return first..<max(first, last)
  }

  private func precedes(_ row: Row, _ end: KeyRange.End) -> Bool {
    bytes[row.key].lexicographicallyPrecedes(end.key)
  }

  /// The address of the entry at a place.
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
