extension Script {
  /// What stands at a place where there is nothing.
  static let absent = UInt64.max

  /// The number of the write whose value stands at each place after `last` writes, whether it has expired or not.
  func state(after last: UInt64) -> [UInt64] {
    var state = [UInt64](repeating: Self.absent, count: layout.count)
    // What is always there was put before the first write.
    for place in 0..<layout.start(.single) { state[place] = 0 }
    for band in Band.allCases where layout.count(band) > 0 {
      let turns = count(band, after: last)
      if band == .reset {
        let filled = turns % (layout.count(band) + 1)
        for index in 0..<filled {
          state[layout.start(band) + index] = number(of: turns - filled + index, in: band)
        }
        continue
      }
      let (round, position) = turns.quotientAndRemainder(dividingBy: layout.count(band))
      if round > 0 { run(band, round - 1, 0..<layout.count(band), &state) }
      run(band, round, 0..<position, &state)
    }
    return state
  }

  private func run(_ band: Band, _ round: Int, _ positions: Range<Int>, _ state: inout [UInt64]) {
    let order = order(band, round: round)
    let width = layout.width(band)
    for position in positions {
      let turn = round * layout.count(band) + position
      let place = layout.start(band) + order[position] * width
      let number = number(of: turn, in: band)
      switch band {
      case .hot, .cold: for offset in 0..<width { state[place + offset] = number }
      case .swap:
        state[place + round % 2] = number
        state[place + (round + 1) % 2] = Self.absent
      default: state[place] = band == .single && removes(turn) ? Self.absent : number
      }
    }
  }

  /// The number at one place of those that are always there, after `last` writes.
  func number(at place: Int, after last: UInt64) -> UInt64 {
    let (band, index) = layout.find(place)
    let thing = index / layout.width(band)
    let (round, done) = count(band, after: last).quotientAndRemainder(dividingBy: layout.count(band))
    let position = order(band, round: round).position(of: thing)
    if position < done { return number(of: round * layout.count(band) + position, in: band) }
    guard round > 0 else { return 0 }
    let earlier = order(band, round: round - 1).position(of: thing)
    return number(of: (round - 1) * layout.count(band) + earlier, in: band)
  }
}
