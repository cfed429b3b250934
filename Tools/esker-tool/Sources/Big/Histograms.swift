import Esker

/// How many values have which length, in powers of two.
struct SizeHistogram {
  struct Bucket {
    /// The longest.
    let upTo: Int
    var values = 0
    var bytes = 0
  }

  private var buckets: [Bucket] = (0..<40).map { Bucket(upTo: $0 == 0 ? 0 : 1 << ($0 - 1)) }

  mutating func add(_ length: Int) {
    let bucket = length < 2 ? length : Int.bitWidth - (length - 1).leadingZeroBitCount + 1
    buckets[min(bucket, buckets.count - 1)].values += 1
    buckets[min(bucket, buckets.count - 1)].bytes += length
  }

  /// From the first that has values to the last.
  var filled: ArraySlice<Bucket> { buckets.trimmed { $0.values > 0 } }
}

/// How many values have how long left.
struct LifetimeHistogram {
  struct Bucket {
    /// In seconds; nil for longer than all others.
    let upTo: Int64?
    var values = 0
  }

  private(set) var buckets: [Bucket] =
    ([60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000] + [nil]).map { Bucket(upTo: $0) }
  /// Values that do not expire.
  private(set) var never = 0

  mutating func add(_ expiry: Expiry, at now: WallTime) {
    guard case .at(let time) = expiry else {
      never += 1
      return
    }
    let (left, isFar) = time.millisecondsSince1970.subtractingReportingOverflow(now.millisecondsSince1970)
    let bucket = isFar ? nil : buckets.firstIndex { $0.upTo.map { left <= $0 * 1000 } ?? true }
    buckets[bucket ?? buckets.count - 1].values += 1
  }

  /// From the first that has values to the last.
  var filled: ArraySlice<Bucket> { buckets.trimmed { $0.values > 0 } }
}

extension Array {
  /// From the first element of which something holds to the last.
  fileprivate func trimmed(where isWanted: (Element) -> Bool) -> ArraySlice<Element> {
    guard let first = firstIndex(where: isWanted), let last = lastIndex(where: isWanted) else { return [] }
    return self[first...last]
  }
}
