/// What the choice of segments to merge knows of one.
struct MergeCandidate: Equatable {
  var id: UInt64
  /// Bytes of records.
  var bytes: Int
  /// Bytes of live records, what is known to have expired left out.
  var liveBytes: Int
  /// Writes since its last record.
  var age: UInt64
  /// Store time when its last record expires; `Int64.max` when some never do.
  var lastExpiry: Int64 = .max
  /// Store time when its first record was, or may have been, written.
  var created: Int64 = 0

  /// A merge would pack it.
  var isUnpacked = false

  /// Nothing in it is alive.
  var isDead: Bool { liveBytes == 0 }

  /// When it may be packed.
  var packingTime: Int64 { created.addingReportingOverflow(MergePolicy.packingDelay).partialValue }

  /// Whether it will soon be dead by itself: at the latest after as long again as it has been there.
  func isDying(at now: Int64) -> Bool {
    lastExpiry != .max && lastExpiry.subtractingClamped(now) <= now.subtractingClamped(created)
  }
}

/// Chooses which segments to merge, and says how far merging is behind. A pure function of figures.
struct MergePolicy {
  /// Bytes of records that each byte of live records may take.
  var spaceAmplification: Double
  /// Bytes a segment may grow to.
  var segmentSize: Int

  /// Bytes by which any store may exceed its share: merging a small store would rewrite it for next to nothing.
  var slack: Int { min(segmentSize, 1 << 20) }

  /// Bytes of records beyond which merging is due, given those that are alive.
  func limit(live: Int) -> Int {
    let share = Double(live) * spaceAmplification
    // No live byte at all and no bound give no number.
    return (share < Self.mostBytes ? Int(share) : Int(Self.mostBytes)) + slack
  }

  /// More than any store has, and little enough to be added to.
  private static let mostBytes = 0x1p60

  /// Segments of the next merge; none when nothing is due.
  ///
  /// Dead ones go at once and together: nothing of them is copied. Others only when the store exceeds its limit: those first
  /// where the space freed, for as long as it can be expected to stay free, is large against the bytes copied (Rosenblum
  /// and Ousterhout 1992), and so many that the limit is kept, or one segment is filled.
  ///
  /// - Parameters:
  ///   - unsealed: Bytes of records that cannot be merged yet, and of live ones among them.
  func victims(
    among candidates: [MergeCandidate],
    unsealed: (bytes: Int, live: Int),
    now: Int64
  ) -> [UInt64] {
    let dead = candidates.filter(\.isDead)
    if !dead.isEmpty { return dead.map(\.id) }
    let living = candidates.filter { !$0.isDying(at: now) }
    let live = unsealed.live + living.reduce(0) { $0 + $1.liveBytes }
    var excess = unsealed.bytes + living.reduce(0) { $0 + $1.bytes } - limit(live: live)
    guard excess > 0 else { return fragments(among: living) }
    // What is nearly all alive is not worth its copy.
    let worthy = living.filter { $0.liveBytes < $0.bytes / 20 * 19 }
    var copied = 0
    var chosen: [UInt64] = []
    for candidate in worthy.sorted(by: { ($0.benefit, $1.id) > ($1.benefit, $0.id) }) {
      if !chosen.isEmpty, copied + candidate.liveBytes > segmentSize { break }
      chosen.append(candidate.id)
      copied += candidate.liveBytes
      excess -= candidate.bytes - candidate.liveBytes
      if excess <= 0 { break }
    }
    return chosen
  }

  /// Small segments that together fill one, when there are many.
  private func fragments(among candidates: [MergeCandidate]) -> [UInt64] {
    let small = candidates.filter { $0.bytes < segmentSize / 8 && $0.lastExpiry == .max }
    guard small.count >= 8 else { return [] }
    var bytes = 0
    let chosen = small.sorted { $0.age > $1.age }.prefix { candidate in
      bytes += candidate.bytes
      return bytes <= segmentSize
    }
    return chosen.map(\.id)
  }

  /// How long segments are left unpacked, in milliseconds: much of what is written is overwritten soon.
  static let packingDelay: Int64 = 10_000

  /// Segments to pack when nothing else is due: the oldest that have been there for some time, and together fill one.
  func packing(among candidates: [MergeCandidate], now: Int64) -> [UInt64] {
    var bytes = 0
    let due = candidates.filter { $0.isUnpacked && !$0.isDying(at: now) && $0.packingTime <= now }
    let chosen = due.sorted { $0.age > $1.age }.prefix { candidate in
      defer { bytes += candidate.liveBytes }
      return bytes == 0 || bytes + candidate.liveBytes <= segmentSize
    }
    return chosen.map(\.id)
  }

  /// How far the store exceeds what merging should keep it to, in segments; 0 when it does not.
  func debt(bytes: Int, live: Int) -> Double {
    max(0, Double(bytes - limit(live: live) - segmentSize) / Double(segmentSize))
  }
}

extension MergeCandidate {
  /// Space freed times its age, against the bytes read and written.
  fileprivate var benefit: Double {
    let used = bytes == 0 ? 0 : Double(liveBytes) / Double(bytes)
    return (1 - used) * Double(age + 1) / (1 + used)
  }
}
