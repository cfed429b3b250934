import EskerTestSupport

/// Which points of many a test visits: in thorough rounds every one, otherwise a sample that `ESKER_SEED` chooses.
struct Sweep {
  private(set) var generator: SeededGenerator

  init(announcedFor test: String) {
    generator = SeededGenerator(announcedFor: test)
  }

  /// Numbers from 1 to `count`, the first and the last among them, and at most `limit` of them in a sample.
  mutating func points(of count: Int, atMost limit: Int) -> [Int] {
    if Rounds.areThorough || count <= limit { return Array(1...max(1, count)) }
    let chosen = (2..<count).shuffled(using: &generator).prefix(limit - 2)
    return [1] + chosen.sorted() + [count]
  }

  /// A generator of its own for a point.
  mutating func split() -> SeededGenerator { generator.split() }
}
