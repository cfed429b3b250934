/// What was done, and what was found.
struct CutTally {
  static let mostKept = 3
  var cuts = 0
  var cutsOfRecovery = 0
  /// Cuts behind which something had to be there.
  var cutsWithClaims = 0
  /// Disks that could not be mounted any more, since blocks of the file system were torn.
  var torn = 0
  /// Findings whose disks were kept.
  var kept = 0
  private(set) var kinds: [String: (count: Int, first: Int)] = [:]

  /// Whether nothing is to be done any more.
  func mustEnd(_ settings: CutSettings) -> Bool { !kinds.isEmpty && !settings.goesOn }
  var hasFound: Bool { !kinds.isEmpty }

  mutating func add(_ findings: [Finding]) {
    for kind in Set(findings.map(\.kind)) { kinds[kind, default: (0, cuts)].count += 1 }
  }

  mutating func add(_ other: CutTally) {
    for (kind, known) in other.kinds { kinds[kind, default: (0, cuts + known.first)].count += known.count }
    cuts += other.cuts
    cutsOfRecovery += other.cutsOfRecovery
    cutsWithClaims += other.cutsWithClaims
    torn += other.torn
    kept += other.kept
  }
}
