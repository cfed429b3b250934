/// What a thread writes: its n-th write follows from n alone, and so does the state of its keys after n writes. So every
/// process knows what any state of the store must show.
///
/// The writes of each band go through the band's keys in one order after the other.
struct Script: Sendable {
  enum Write {
    /// A run of keys gets the write's number: one put, or a batch.
    case run(first: Int, count: Int)
    case put(Int)
    case putExpiring(Int, at: Int64)
    case remove(Int)
    /// The value moves from one of two places to the other.
    case swap(from: Int, to: Int)
    case reset
  }

  let thread: Int
  let layout: Layout
  private let seed: UInt64
  private let isLarge: Bool
  private let shortest: Int
  private let synced: Int
  /// The band of each of a period's writes.
  private let period: [Band]
  /// For each band, where in a period its writes are.
  private let turns: [[Int]]
  /// For each band, how many of its writes come before a place in a period.
  private let before: [[Int]]

  init(_ configuration: Configuration, seed: UInt64, thread: Int) {
    self.thread = thread
    self.seed = mix(seed, UInt64(thread))
    layout = Layout(configuration, thread: thread)
    isLarge = configuration.large != 0
    shortest = configuration.value
    synced = configuration.synced
    let layout = layout
    // Writes that return no number stand between such that do, so that each one's number is known but for a few.
    let rare: [Band] = [.cold, .single, .swap, .single, .expiring, .reset, .single, .cold]
    period =
      configuration.mixed == 0
      ? [.hot] : (0..<32).map { $0 % 2 == 0 && layout.count(rare[$0 / 2 % 8]) > 0 ? rare[$0 / 2 % 8] : .hot }
    let period = period
    turns = Band.allCases.map { band in period.indices.filter { period[$0] == band } }
    before = Band.allCases.map { band in
      period.indices.map { place in period[..<place].count { $0 == band } }
    }
  }

  // MARK: Numbers

  /// Writes of a band among the first `number` of all.
  func count(_ band: Band, after number: UInt64) -> Int {
    let (periods, rest) = Int(number).quotientAndRemainder(dividingBy: period.count)
    return periods * turns[band.rawValue].count + before[band.rawValue][rest]
  }

  /// The number among all writes of a band's write, which are counted from 0.
  func number(of turn: Int, in band: Band) -> UInt64 {
    let turns = turns[band.rawValue]
    return UInt64(turn / turns.count * period.count + turns[turn % turns.count] + 1)
  }

  func order(_ band: Band, round: Int) -> Permutation {
    Permutation(of: layout.count(band), from: mix(seed, UInt64(round * Band.allCases.count + band.rawValue)))
  }

  // MARK: Writes

  /// The n-th write; the first is 1.
  func write(_ number: UInt64) -> Write {
    let band = period[Int(number - 1) % period.count]
    let turn = count(band, after: number - 1)
    let start = layout.start(band)
    if band == .reset {
      let turnOfFilling = turn % (layout.count(.reset) + 1)
      return turnOfFilling == layout.count(.reset) ? .reset : .put(start + turnOfFilling)
    }
    let (round, position) = turn.quotientAndRemainder(dividingBy: layout.count(band))
    let thing = order(band, round: round)[position]
    switch band {
    case .hot, .cold:
      return .run(first: start + thing * layout.width(band), count: layout.width(band))
    case .swap:
      let place = start + thing * 2
      return round % 2 == 0 ? .swap(from: place + 1, to: place) : .swap(from: place, to: place + 1)
    case .single: return removes(turn) ? .remove(start + thing) : .put(start + thing)
    case .expiring: return .putExpiring(start + thing, at: expiry(of: number))
    case .reset: return .reset
    }
  }

  /// Whether a write of the band of singles removes.
  func removes(_ turn: Int) -> Bool { mix(seed, UInt64(turn)) % 4 == 0 }

  /// What the clock shows during a write of the clock's thread.
  static func time(of number: UInt64) -> Int64 { 1_700_000_000_000 + Int64(number) }

  /// When the value of a write goes: before the key is written again, or after it.
  func expiry(of number: UInt64) -> Int64 {
    let reach = UInt64(layout.count(.expiring) * period.count / max(1, turns[Band.expiring.rawValue].count))
    return Self.time(of: number) + 1 + Int64(mix(seed, number) % (reach * 2))
  }

  /// The value of a write: its number, and then one byte as often as it takes.
  func value(of number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
      + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length(of: number) - 8)
  }

  /// Bytes of the value of a write.
  func length(of number: UInt64) -> Int {
    let draw = mix(seed, number)
    if isLarge, number > 0, case .put = write(number), draw % 64 == 0 { return 40_000 + Int(draw >> 32 % 60_000) }
    return shortest + Int(draw >> 8) % (shortest < 16 ? 1 : shortest / 4)
  }
}
