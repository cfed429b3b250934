/// A store's keys in order: what each scan of it must find.
struct SortedKeys {
  /// The first halves of the keys, as numbers with their order. Only keys of one group share theirs.
  private let halves: [UInt64]
  /// The sums of what the first entries, so many, begin with.
  private let sums: [UInt64]

  /// Takes the keys by number; the numbers are what values begin with.
  init(_ keys: KeyBuffer, isOfKeys: Bool) {
    let entries = (0..<keys.count).map { (half: SortedKeys.half(of: keys[$0]), number: UInt64($0)) }
      .sorted { $0.half < $1.half }
    halves = entries.map(\.half)
    var sums: [UInt64] = [0]
    sums.reserveCapacity(keys.count + 1)
    var sum: UInt64 = 0
    for entry in entries {
      sum &+= isOfKeys ? UInt64(bigEndian: entry.half) : entry.number
      sums.append(sum)
    }
    self.sums = sums
  }

  /// What scans from these keys must find.
  func tally(of kind: ScanKind, from keys: KeyBuffer) -> Tally {
    (0..<keys.count).reduce(into: Tally()) { $0 += tally(of: kind.range(from: keys[$1])) }
  }

  private func tally(of range: ScanRange) -> Tally {
    let half = range.start.isEmpty ? 0 : SortedKeys.half(of: range.start)
    let first = count { $0 < half }
    let end = range.isPrefix ? count { $0 <= half } : halves.count
    let hits = min(end - first, range.limit)
    return Tally(hits: hits, checksum: sums[first + hits] &- sums[first])
  }

  private static func half(of key: UnsafeRawBufferPointer) -> UInt64 {
    UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
  }

  /// The number of halves, from the least on, that satisfy a predicate which only the greater ones do not.
  private func count(while isBelow: (UInt64) -> Bool) -> Int {
    var (low, high) = (0, halves.count)
    while low < high {
      let middle = (low + high) / 2
      if isBelow(halves[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
