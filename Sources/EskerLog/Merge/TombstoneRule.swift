internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// A record that marks its key as gone if it is the newest one: a tombstone, or an expired value.
struct ShadowingRecord {
  var hash: UInt64
  var sequence: UInt64
  var segment: Segment
  var offset: Int
}

/// Decides which shadows may be dropped.
///
/// Without its tombstone, an older value of the key would reappear when the index is rebuilt. So a tombstone is kept as
/// long as any segment outside the merge contains an older value of its key. Segments whose lowest sequence number is not
/// below the tombstone's cannot, nor can those written by a merge that began after the tombstone was written: the older
/// value was already dead. The others are checked by the key hashes in their footers.
struct TombstoneRule {
  private let catalog: Catalog
  private let others: [Segment]
  /// Shadows up to this number hide nothing in any other segment, and may be dropped without a check.
  let floor: UInt64

  /// - Parameter inputs: The segments to merge.
  init(_ catalog: Catalog, merging inputs: [Segment]) {
    self.catalog = catalog
    others = catalog.segments.filter { segment in
      segment.firstSequence != 0 && !inputs.contains { $0 === segment }
    }
    floor = others.reduce(.max) { min($0, Self.floor(of: $1)) }
  }

  /// The number such that shadows up to it hide nothing in the segment.
  private static func floor(of segment: Segment) -> UInt64 {
    let facts = segment.facts
    return max(facts.firstSequence, facts.mergedThrough)
  }

  /// The shadows to keep, and the segments that contain what they hide; all, if an older segment cannot be read.
  ///
  /// - Complexity: O(records in older segments), since their footers are read.
  func needed(_ shadows: [ShadowingRecord]) -> (shadows: [ShadowingRecord], blockers: [UInt64]) {
    guard let newest = shadows.lazy.map(\.sequence).max() else { return ([], []) }
    var oldest = HashTable(capacity: shadows.count)
    for shadow in shadows { oldest.insert(shadow.hash) }
    var blockers: [UInt64] = []
    for segment in others where Self.floor(of: segment) < newest {
      guard segment.isSettled else { return (shadows, others.map(\.id)) }
      var damage: [StoreEvent] = []
      var walk = SegmentWalk(segment, catalog.env.seed, damage: &damage)
      do throws(StoreError) {
        while let entry = try walk.next() {
          guard entry.kind == .put, oldest.note(entry.keyHash, entry.sequence) else { continue }
          if blockers.last != segment.id { blockers.append(segment.id) }
        }
      } catch { return (shadows, others.map(\.id)) }
    }
    return (shadows.filter { oldest.leastSequence(of: $0.hash) < $0.sequence }, blockers)
  }
}

/// The lowest sequence number seen for each of some hashes.
///
/// Open addressing over two arrays: nearly all lookups are for hashes that are not in the table.
struct HashTable {
  private var hashes: [UInt64]
  private var sequences: [UInt64]
  private let mask: UInt64
  /// For the hash 0, which marks an empty slot in the arrays.
  private var zeroSequence: UInt64 = .max

  init(capacity: Int) {
    var size = 16
    while size < capacity * 2 { size *= 2 }
    hashes = [UInt64](repeating: 0, count: size)
    sequences = [UInt64](repeating: .max, count: size)
    mask = UInt64(size - 1)
  }

  /// The slot of a hash, or the empty one where it would be.
  private func place(of hash: UInt64) -> Int {
    var position = hash & mask
    while true {
      let found = hashes[Int(position)]
      if found == hash || found == 0 { return Int(position) }
      position = (position + 1) & mask
    }
  }

  mutating func insert(_ hash: UInt64) {
    if hash != 0 { hashes[place(of: hash)] = hash }
  }

  /// Notes a number seen for a hash; false if the hash is not in the table.
  mutating func note(_ hash: UInt64, _ sequence: UInt64) -> Bool {
    guard hash != 0 else {
      zeroSequence = min(zeroSequence, sequence)
      return true
    }
    let position = place(of: hash)
    guard hashes[position] == hash else { return false }
    sequences[position] = min(sequences[position], sequence)
    return true
  }

  func leastSequence(of hash: UInt64) -> UInt64 {
    hash == 0 ? zeroSequence : sequences[place(of: hash)]
  }
}
