extension Cell {
  /// Cells about what Esker alone keeps bounded: space, writes, opening, memory.
  static func boundedCells(_ scale: Scale) -> [Cell] {
    let keys = min(scale.keys[0], 1_000_000)
    return [
      Cell(
        workload: .overwriteSteady,
        keys: keys / 5,
        operations: keys * 2,
        subjects: [.esker, .rocksdb, .leveldb, .kyoto],
        mostRuns: 1
      ),
      Cell(
        workload: .overwriteMerging,
        keys: keys,
        operations: keys * 20,
        goal: "0.6 of merging off",
        subjects: [.esker],
        mostRuns: 1
      ),
      Cell(
        workload: .getMerging,
        keys: keys,
        operations: scale.reads,
        goal: "0.7 of idle; p99.9 0.2 ms",
        subjects: [.esker]
      ),
      Cell(
        workload: .turns,
        keys: keys,
        operations: 500,
        goal: "let go in 5 ms, taken back in 2 ms, handed over in 1 ms; alone 0.97 of exclusive",
        subjects: [.esker]
      ),
      Cell(
        workload: .oneKey,
        keys: 1,
        operations: scale.churn,
        goal: "space and opening bounded",
        subjects: [.esker],
        mostRuns: 1
      ),
      Cell(
        workload: .comeAndGo,
        keys: max(scale.churn / 100, 1),
        operations: scale.churn,
        goal: "space and opening bounded; nearly nothing at the end",
        subjects: [.esker],
        mostRuns: 1
      ),
      Cell(
        workload: .expiring,
        keys: max(scale.churn / 10, 1),
        operations: scale.churn,
        goal: "write amplification 1.1; space bounded",
        subjects: [.esker],
        mostRuns: 1
      ),
      Cell(
        workload: .capacityTrace,
        keys: 0,
        operations: min(scale.recorded, 100_000),
        goal: "0.02 under LRU; write amplification 1.6; never above the capacity",
        subjects: [.esker],
        valueLength: 1_024,
        mostRuns: 1
      ),
      Cell(
        workload: .capacityImages,
        keys: 0,
        operations: 300,
        valueLength: 100_000,
        mostRuns: 3
      ),
      Cell(
        workload: .packing,
        keys: 0,
        operations: scale.recorded,
        goal: "movies-early 0.40, talks 0.35, admin2 0.70; gets 0.6",
        subjects: [.esker],
        mostRuns: 1
      ),
      Cell(
        workload: .growth,
        keys: scale.growth,
        operations: scale.growth,
        goal: "no put above 10 ms",
        subjects: [.esker],
        mostRuns: 1
      ),
    ]
  }
}
