/// What the policy knows about a segment.
struct MergeCandidate: Equatable {
  var id: UInt64
  /// Bytes of records.
  var bytes: Int
  /// Bytes of live records, without those known to have expired.
  var liveBytes: Int
  /// The number of writes since its last record.
  var age: UInt64
  /// The store time when its last record expires; `Int64.max` if some never do.
  var lastExpiry: Int64 = .max
  /// The earliest store time at which a record may have been written to it.
  var created: Int64 = 0

  /// Whether a merge would pack it.
  var isUnpacked = false

  /// Whether it contains no live records.
  var isDead: Bool { liveBytes == 0 }

  /// The store time from which on it may be packed.
  var packingTime: Int64 { created.addingReportingOverflow(MergePolicy.packingDelay).partialValue }

  /// Whether it will soon be dead without a merge: at the latest after as long again as it has existed.
  func isDying(at now: Int64) -> Bool {
    lastExpiry != .max && lastExpiry.subtractingClamped(now) <= now.subtractingClamped(created)
  }
}

/// Chooses which segments to merge, and determines how far merging is behind. Depends only on the figures it is passed.
struct MergePolicy {
  /// The bytes of records allowed per byte of live records.
  var spaceAmplification: Double
  /// The size in bytes up to which a segment grows.
  var segmentSize: Int

  /// Bytes by which any store may exceed its share: merging a small store would rewrite it for almost no gain.
  var slack: Int { min(segmentSize, 1 << 20) }

  /// The bytes of records above which merging is due, given the bytes of live ones.
  func limit(live: Int) -> Int {
    let share = Double(live) * spaceAmplification
    // Without live bytes and without a limit, the product is NaN.
    return (share < Self.mostBytes ? Int(share) : Int(Self.mostBytes)) + slack
  }

  /// More than any store has, yet small enough that additions do not overflow.
  private static let mostBytes = 0x1p60

  /// The segments of the next merge; none if nothing is due.
  ///
  /// Dead segments are merged at once and together, since nothing of them is copied. Others are merged only when the
  /// store exceeds its limit: first those where the space freed, weighted by how long it can be expected to stay free, is
  /// large compared to the bytes copied (Rosenblum and Ousterhout 1992), and as many as needed to keep to the limit or to
  /// fill one segment.
  ///
  /// - Parameters:
  ///   - unsealed: Bytes of records that cannot be merged yet, and of the live ones among them.
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
    // A segment with few dead bytes is not worth copying: with half of the share that is allowed on average. Nor are a few bytes of many worth
    // a merge, which ends the room of all that is dead in the tail, as it rests on a sync.
    let worthy = living.filter { Double($0.liveBytes) < Double($0.bytes) * (0.5 + 0.5 / spaceAmplification) }
    guard worthy.reduce(0, { $0 + $1.bytes - $1.liveBytes }) >= segmentSize / 8 else { return [] }
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

  /// Small segments that together fill one, if there are many.
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

  /// How long segments stay unpacked, in milliseconds: much of what is written is overwritten soon.
  static let packingDelay: Int64 = 10_000

  /// The segments to pack when nothing else is due: the oldest that have existed for some time, and together fill one.
  func packing(among candidates: [MergeCandidate], now: Int64) -> [UInt64] {
    var bytes = 0
    let due = candidates.filter { $0.isUnpacked && !$0.isDying(at: now) && $0.packingTime <= now }
    let chosen = due.sorted { $0.age > $1.age }.prefix { candidate in
      defer { bytes += candidate.liveBytes }
      return bytes == 0 || bytes + candidate.liveBytes <= segmentSize
    }
    return chosen.map(\.id)
  }

  /// How far the store exceeds its limit, in segments; 0 if it does not.
  func debt(bytes: Int, live: Int) -> Double {
    max(0, Double(bytes - limit(live: live) - segmentSize) / Double(segmentSize))
  }
}

extension MergeCandidate {
  /// The space freed times its age, per byte read and written.
  fileprivate var benefit: Double {
    let used = bytes == 0 ? 0 : Double(liveBytes) / Double(bytes)
    return (1 - used) * Double(age + 1) / (1 + used)
  }
}
