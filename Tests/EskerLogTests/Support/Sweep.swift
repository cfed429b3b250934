import EskerTestSupport

/// Which points of many a test visits: in thorough rounds every one, otherwise a sample that `ESKER_SEED` chooses.
struct Sweep {
  private(set) var generator: SeededGenerator

  init(announcedFor test: String) {
    generator = SeededGenerator(announcedFor: test)
  }

  /// Numbers from 1 to `count`, the first and the last among them, and at most `limit` of them in a sample: one of each stretch, so
  /// that what goes on for longer than two of these is met.
  mutating func points(of count: Int, atMost limit: Int) -> [Int] {
    if Rounds.areThorough || count <= limit { return Array(1...max(1, count)) }
    let stretches = limit - 2
    func start(_ stretch: Int) -> Int { 2 + (count - 2) * stretch / stretches }
    let chosen = (0..<stretches).map { Int.random(in: start($0)..<start($0 + 1), using: &generator) }
    return [1] + chosen + [count]
  }

  /// A generator of its own for a point.
  mutating func split() -> SeededGenerator { generator.split() }
}
