import EskerTestSupport

/// A cut of the power: when, and what becomes of the writes that no flush had covered.
struct Cut {
  /// So many requests had been answered.
  var position: Int
  var mixture: Mixture
  /// What the fate of each write is drawn from.
  var seed: UInt64
  /// Whether the disk forgets what it was told to flush: then Esker cannot keep its promises, and that is to be found.
  var ignoresFlushes = false
  /// How many writes such a disk holds back.
  private static let heldBack = 200

  /// Draws one. Half of them are right before a flush: most is pending there.
  init(of log: [VirtualDisk.Entry], ignoresFlushes: Bool, _ draw: inout SeededGenerator) {
    position = log.isEmpty ? 0 : Int.random(in: 1...log.count, using: &draw)
    if draw.oneIn(2), let flush = log[position...].firstIndex(where: \.isFlush) { position = flush }
    mixture = Mixture(&draw)
    seed = draw.next()
    self.ignoresFlushes = ignoresFlushes
  }

  /// The first request that a flush does not cover.
  func firstPending(of log: [VirtualDisk.Entry]) -> Int {
    if ignoresFlushes { return max(0, position - Self.heldBack) }
    return log[..<position].lastIndex(where: \.isFlush).map { $0 + 1 } ?? 0
  }
}

/// Which of the writes that no flush covers are there, as the cache of a disk may have written them back.
enum Mixture: CaseIterable {
  /// All, as after the end of the virtual machine.
  case all
  case none
  /// All but a part of the last.
  case tornLast
  /// Some writes.
  case writes
  /// Some pieces of 4096 bytes, or of 512.
  case pages, sectors
  /// Nearly all pieces, or nearly none.
  case manyPages, fewPages

  /// Whether blocks of a file system may be torn, which are of 4096 bytes. Most file systems do not survive that in every place.
  var tearsPages: Bool { self == .tornLast || self == .sectors }

  init(_ draw: inout SeededGenerator) { self = Self.allCases.randomElement(using: &draw) ?? .all }

  /// The sectors of a write that are there, counted from its first.
  func survivors(
    of entry: VirtualDisk.Entry,
    isLast: Bool,
    _ isCertain: Bool,
    _ draw: inout SeededGenerator
  ) -> [Int] {
    let whole = Array(0..<entry.count)
    if isCertain { return whole }
    switch self {
    case .all: return whole
    case .none: return []
    case .tornLast: return isLast ? Array(whole.prefix(Int.random(in: 0...entry.count, using: &draw))) : whole
    case .writes: return draw.oneIn(2) ? whole : []
    case .pages: return pieces(of: whole, entry, sectors: 8, { $0.oneIn(2) }, &draw)
    case .sectors: return pieces(of: whole, entry, sectors: 1, { $0.oneIn(2) }, &draw)
    case .manyPages: return pieces(of: whole, entry, sectors: 8, { !$0.oneIn(16) }, &draw)
    case .fewPages: return pieces(of: whole, entry, sectors: 8, { $0.oneIn(16) }, &draw)
    }
  }

  private func pieces(
    of whole: [Int],
    _ entry: VirtualDisk.Entry,
    sectors: Int,
    _ survives: (inout SeededGenerator) -> Bool,
    _ draw: inout SeededGenerator
  ) -> [Int] {
    var piece = (number: -1, isThere: false)
    return whole.filter { offset in
      let number = (entry.first + offset) / sectors
      if number != piece.number { piece = (number, survives(&draw)) }
      return piece.isThere
    }
  }
}
