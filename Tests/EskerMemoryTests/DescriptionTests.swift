import Testing

@testable import EskerMemory

@Suite struct DescriptionTests {
  @Test func limitsAndStatisticsAreOneLine() {
    #expect("\(MemoryLimits())" == "no limit")
    #expect("\(MemoryLimits(count: 1, cost: 9))" == "1 entry at most, cost 9 at most")
    var statistics = MemoryStatistics()
    #expect("\(statistics)" == "0 entries of cost 0; 0 found, 0 missed, 0 evicted, 0 expired")
    (statistics.hits, statistics.misses, statistics.count, statistics.cost) = (3, 1, 1, 5)
    #expect("\(statistics)" == "1 entry of cost 5; 3 found, 1 missed (75 % hits), 0 evicted, 0 expired")
  }
}
