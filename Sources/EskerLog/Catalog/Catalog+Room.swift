internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Catalog {
  /// A sixteenth of the address space.
  private static let largestWithSpareAddresses = 512 << 30
  /// The number of segments that a capacity is divided into; down to a quarter of that where each edit of the manifest would write
  /// as many bytes as a segment has.
  private static let segmentsOfCapacity = 64
  private static let smallestUseful = 64 << 10
  /// With fewer records than that, what is left behind the last one matters.
  private static let fewRecords = 16
  /// How many records of the usual size a segment has room for, if they take no large part of the capacity.
  private static let leastRecords = 3

  /// The share of a capacity that one segment may take.
  static func segmentSize(of capacity: Int) -> Int {
    max(capacity / segmentsOfCapacity, min(smallestUseful, capacity / segmentsOfCapacity * 4))
  }

  /// The size in bytes up to which a segment grows in a store with a capacity limit: a small part of the capacity, so
  /// that little is unused, and little evicted at once.
  func segmentSize(of capacity: Int) -> Int {
    let whole = max(16 << 10, min(env.settings.segmentSize, Self.segmentSize(of: capacity)) & ~4095)
    let record = usualRecordSize.load(ordering: .relaxed)
    // The footer goes into the last page too.
    guard record > whole / Self.fewRecords else { return whole - whole / 64 - 256 }
    // Few records of about that size: as many as fit, or else the last one that does not would leave much of the segment empty.
    let most = max(whole, min(env.settings.segmentSize, capacity / 16))
    let count = max(1, min(most / record, max(Self.leastRecords, whole / record)))
    return min(most, (count * (record + record / 64) + 8191) & ~4095)
  }

  /// Bytes that stay free for what a merge writes before its inputs are removed.
  var mergeRoom: Int { (isSmallCache ? gatheredSize / 4 * 3 : gatheredSize) + 4096 }

  /// Bytes of segments that are merged at once. Those of a small cache are so small that the survivors of a single one
  /// would waste much of their last page.
  var gatheredSize: Int { max(usualSegmentSize, min(2 * usualSegmentSize, 64 << 10)) }

  /// Whether a segment of a cache has so few pages that the space kept free and the bytes of an edit matter.
  var isSmallCache: Bool { env.settings.capacity != nil && usualSegmentSize < 64 << 10 }

  /// Bytes of all files; those still being written count with their planned size.
  ///
  /// Waits for no edit. A cache writes no checkpoint before it is closed, and counts statistics whether they are published or not.
  ///
  /// - Complexity: O(segments), with a system call for the reserve and for each file that no list contains.
  private var footprint: Int {
    let (listed, unlisted) = extents
    let fixed = Self.wholePages(LockFile.length) + Self.wholePages(StatisticsImage.length)
    return (unlisted + ["\(env.path)/\(FileName.reserve)"]).reduce(listed + fixed) { $0 + bytes(of: $1) }
  }

  /// Bytes of a file in whole pages; 0 if there is none.
  func bytes(of path: String) -> Int {
    Self.wholePages((try? env.platform.fileSystem.status(path))??.size ?? 0)
  }

  static func wholePages(_ bytes: Int) -> Int { (bytes + 4095) & ~4095 }

  /// Whether the files may take this many more bytes.
  func hasRoom(for bytes: Int) -> Bool {
    guard let capacity = env.settings.capacity else { return true }
    // The manifest grows with the number of segments.
    return footprint + bytes + 4096 <= capacity
  }

  /// Whether a new segment of this many bytes leaves room for the merge that makes room for the next one.
  func hasRoom(forSegment bytes: Int) -> Bool {
    env.settings.capacity == nil || hasRoom(for: bytes + mergeRoom)
  }

  /// Reserves space for removals and merges on a full volume; a small cache evicts without it.
  func fillReserve() {
    let length = reserveLength
    if length >= 128 << 10, hasRoom(for: length) { reserve.fill(to: length) }
  }

  /// Bytes to reserve for removals and merges: at least twice what a new segment takes at first.
  var reserveLength: Int {
    let length = max(128 << 10, min(usualSegmentSize / 8, recordBytes / 16))
    return min(length, (env.settings.capacity ?? .max) / 64)
  }

  /// The size in bytes up to which a new segment grows: an eighth of the store, within limits, so that merging a store of
  /// a few segments does not need as much space again.
  var usualSegmentSize: Int {
    if let capacity = env.settings.capacity { return segmentSize(of: capacity) }
    let least = 32 << 20
    guard env.settings.segmentSize > least else { return env.settings.segmentSize }
    return min(env.settings.segmentSize, max(least, recordBytes / 8 / least * least))
  }

  /// The size in bytes up to which the tail grows as long as some of what is written takes the room of what died there: the larger it is, the
  /// more of it does, and the less is written. Of a million small records that are overwritten at random, three segments hold all.
  ///
  /// A segment keeps its addresses, those it does not use too: so not where they may become scarce.
  var largestTailSize: Int {
    guard env.settings.capacity == nil, env.reusesSpace, recordBytes < Self.largestWithSpareAddresses else {
      return usualSegmentSize
    }
    return max(env.settings.segmentSize, min(3 * env.settings.segmentSize, 1 << 30))
  }
}
