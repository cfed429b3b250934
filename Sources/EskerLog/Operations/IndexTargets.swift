internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// The places that the index points to, sorted by segment, for a verification.
///
/// Following each index entry would mean a cache miss at a random place. So the entries are first sorted by segment, and
/// then compared with what the walk over the segment has found; in rounds of some segments each, so that the lists stay
/// small.
struct IndexTargets: Sendable {
  /// For each segment of the round, the offsets of records in units of eight bytes.
  private(set) var lists: [[UInt32]]
  private(set) var report = Report.Verification()
  /// The bucket after the last one examined.
  private var next: Int

  /// Segments that are verified together.
  struct Round: Sendable {
    let extents: [(segment: Segment, end: Int)]
    /// The granules of the address space, from the first on.
    fileprivate let granules: [Granule]
    /// Whether this is the first round, which also checks entries that point to no segment of the snapshot.
    fileprivate let isFirst: Bool
  }

  /// A granule, described without a reference: counting references for each index entry would cost more than all else.
  fileprivate struct Granule {
    /// The position of its segment in the round; nil if it belongs to another round.
    var position: Int32?
    /// The address of the segment's first byte, in units of eight bytes.
    var start: UInt64 = 0
    /// How far the snapshot includes the segment, in the same units; 0 if not at all.
    var count: UInt64 = 0
  }

  /// The number of index entries sorted at a time: 256 MiB of them.
  private static let roundLength = 64 << 20

  /// Divides the segments of a snapshot into rounds: just one, unless there are very many keys.
  static func rounds(_ keydir: Keydir, _ extents: [(segment: Segment, end: Int)]) -> [Round] {
    var groups: [[(segment: Segment, end: Int)]] = [[]]
    var records = 0
    for extent in extents {
      let live = keydir.granules.live(extent.segment).records
      if records + live > roundLength, !groups[groups.count - 1].isEmpty {
        groups.append([])
        records = 0
      }
      records += live
      groups[groups.count - 1].append(extent)
    }
    let highest = extents.map(\.segment.lease.granules.upperBound).max() ?? 0
    return groups.enumerated().map { number, group in
      var granules = [Granule](repeating: Granule(), count: highest)
      func place(_ extent: (segment: Segment, end: Int), at position: Int32?) {
        let granule = Granule(position: position, start: extent.segment.startUnits, count: UInt64(extent.end >> 3))
        for number in extent.segment.lease.granules { granules[number] = granule }
      }
      for extent in extents { place(extent, at: nil) }
      for (position, extent) in group.enumerated() { place(extent, at: Int32(position)) }
      return Round(extents: group, granules: granules, isFirst: number == 0)
    }
  }

  /// Examines every bucket of the index.
  ///
  /// - Parameter work: Runs jobs, several at a time and in any order.
  static func all(
    _ writer: Writer,
    _ round: Round,
    _ work: ([WorkerPool<IndexTargets>.Job]) -> [IndexTargets]
  ) -> [IndexTargets] {
    let share = writer.keydir.bucketCount / jobCount / 64 * 64
    let jobs = (0..<jobCount).map { number -> WorkerPool<IndexTargets>.Job in
      let buckets = number * share..<(number == jobCount - 1 ? .max : (number + 1) * share)
      return { IndexTargets(writer, round, buckets: buckets) }
    }
    var targets = work(jobs)
    // After the last job has reached the end, others may still be running, and splits may move entries that they have not
    // examined to new buckets after that end. Only splits add buckets there, so one walk over these finds all of them.
    if let last = targets.last { targets.append(IndexTargets(writer, round, buckets: last.next..<Int.max)) }
    return targets
  }

  private static let jobCount = 16

  /// Examines the entries of some buckets; `.max` means up to the end of the index at that time.
  private init(_ writer: Writer, _ round: Round, buckets: Range<Int>) {
    lists = Array(repeating: [], count: round.extents.count)
    next = buckets.lowerBound
    var addresses: [UInt64] = []
    while next < min(buckets.upperBound, writer.keydir.bucketCount) {
      let first = next
      let found = writer.withLock { state -> (isWhole: Bool, astray: [UInt64])? in
        if writer.env.isClosed { return nil }
        addresses.removeAll(keepingCapacity: true)
        next = min(first + Self.bucketsTogether, buckets.upperBound, writer.keydir.bucketCount)
        let isWhole = writer.keydir.forEachEntry(inBuckets: first..<next, state.keys) { addresses.append($0.address) }
        return (isWhole, round.isFirst ? Self.astray(addresses, writer.keydir, round) : [])
      }
      guard let (isWhole, astray) = found else { return }
      if !isWhole {
        // Skips the rest, and what follows it.
        next = .max
        guard case .damaged(let location, let reason) = writer.keydir.indexDamage() else { return }
        if round.isFirst { report.damage.append(.init(location: location, length: 0, reason: reason)) }
        return
      }
      for address in astray {
        guard case .damaged(let location, _) = writer.keydir.damage(at: address, .truncated, key: nil) else { continue }
        report.damage.append(.init(location: location, length: 0, reason: Self.reason))
      }
      for address in addresses { sort(address, round) }
    }
  }

  /// The number of buckets examined each time the writer's lock is held, as when a checkpoint is written.
  private static let bucketsTogether = 1024

  static let reason = "the index points to a record that does not exist"

  private mutating func sort(_ address: UInt64, _ round: Round) {
    let number = GranuleTable.granule(of: address)
    guard number < round.granules.count else { return }
    let granule = round.granules[number]
    let units = address &- granule.start
    // Ignores what was written after the snapshot was taken.
    if let position = granule.position, units < granule.count {
      lists[Int(position)].append(UInt32(truncatingIfNeeded: units))
    }
  }

  /// Among the addresses outside the snapshot's segments, those that point to no record. Under the writer's lock.
  private static func astray(_ addresses: [UInt64], _ keydir: Keydir, _ round: Round) -> [UInt64] {
    addresses.filter { address in
      let number = GranuleTable.granule(of: address)
      let isShown = number < round.granules.count && round.granules[number].count > 0
      return !isShown && keydir.granules.place(of: address).flatMap { StoredRecord(at: $0) } == nil
    }
  }
}

/// The places in a segment where records begin: a bit for each eight bytes.
struct RecordPlaces {
  private var words: [UInt64]

  /// - Parameter end: The number of bytes of the segment.
  init(end: Int) {
    words = Array(repeating: 0, count: (end >> 9) + 1)
  }

  @inline(__always)
  mutating func insert(_ offset: Int) {
    words[offset >> 9] |= 1 << UInt64(offset >> 3 & 63)
  }

  @inline(__always)
  func contains(units: UInt32) -> Bool {
    words[Int(units >> 6)] >> UInt64(units & 63) & 1 == 1
  }
}
