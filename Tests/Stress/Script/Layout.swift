/// What a key is used for.
enum Band: Int, CaseIterable {
  /// Always there, written often.
  case hot
  /// Always there, written rarely: merges have to move it.
  case cold
  /// Put, removed and put again.
  case single
  /// In one of two keyspaces, and moved from one to the other by a batch that removes and puts.
  case swap
  /// Put with an instant at which it goes.
  case expiring
  /// In a keyspace that is filled and then emptied.
  case reset

  /// What its keys begin with.
  var letter: UInt8 { Array("hcswer".utf8)[rawValue] }
}

/// The places that a thread's values have: all keys of all bands in a row.
struct Layout: Sendable {
  /// Runs of keys, or keys, of a band; a prime number, so that its keys can be gone through in many orders.
  private(set) var counts: [Int] = []
  /// Keys of a run of a band.
  private(set) var widths: [Int] = []
  private(set) var starts: [Int] = []
  private(set) var count = 0
  /// The thread whose writes are the clock's ticks, and so the only one whose values expire.
  static let clockThread = 0

  init(_ configuration: Configuration, thread: Int) {
    let runs = max(1, configuration.keys / configuration.threads / configuration.batch)
    let isMixed = configuration.mixed != 0
    for band in Band.allCases {
      let width = band == .hot || band == .cold ? configuration.batch : band == .swap ? 2 : 1
      let wanted =
        switch band {
        case .hot: isMixed ? runs / 2 : runs
        case .cold: isMixed ? runs / 2 : 0
        case .single: isMixed ? max(50, runs / 8) : 0
        case .swap: isMixed ? 50 : 0
        case .expiring: isMixed && thread == Self.clockThread ? 200 : 0
        case .reset: isMixed ? 100 : 0
        }
      counts.append(wanted == 0 ? (band == .hot ? 2 : 0) : Self.prime(atLeast: wanted))
      widths.append(width)
      starts.append(count)
      count += (counts.last ?? 0) * width
    }
  }

  func start(_ band: Band) -> Int { starts[band.rawValue] }
  func count(_ band: Band) -> Int { counts[band.rawValue] }
  func width(_ band: Band) -> Int { widths[band.rawValue] }

  /// The band of a place, and its index there.
  func find(_ place: Int) -> (band: Band, index: Int) {
    var band = Band.hot
    for next in Band.allCases where start(next) <= place && count(next) > 0 { band = next }
    return (band, place - start(band))
  }

  /// Whether a place is one of those that are always there.
  func isAlwaysThere(_ place: Int) -> Bool { place < start(.single) }

  private static func prime(atLeast number: Int) -> Int {
    var candidate = max(2, number)
    while (2..<candidate).contains(where: { $0 * $0 <= candidate && candidate % $0 == 0 }) { candidate += 1 }
    return candidate
  }
}
