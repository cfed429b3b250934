/// One row of the report.
struct Cell {
  var workload: Workload
  var keys: Int
  var operations: Int
  /// Goal for Esker as a share of the limit, or in words.
  var goal: String
  var subjects: [Subject] = [.limit, .esker]
  /// Whether a second process times single operations of Esker.
  var hasLatency = false
  /// Whether the limit's table is on huge pages.
  var hugePages = false
  var valueLength = 100
  /// What must have happened to the directory before each run.
  var preparation: Workload?

  var id: String { workload.rawValue }
}

/// How large a run is.
struct Scale {
  /// Key counts of the fill, read, update and open cells.
  var keys: [Int]
  /// Most operations of a read cell.
  var reads: Int
  /// Commits of one thread.
  var commits: Int
  /// Keys of the growth cell.
  var growth: Int
  /// Writes of the cells that write again and again.
  var churn: Int
  /// Records of the cell that mixes reads and writes.
  var mixed: Int
  /// Most requests of a trace, and most documents of a file.
  var recorded: Int
}

extension Cell {
  /// All cells of a run, in the order of the report.
  static func table(_ scale: Scale) -> [Cell] {
    scale.keys.flatMap { storeCells(keys: $0, scale) } + durableCells(scale) + scale.keys.flatMap(openCells)
      + boundedCells(scale) + [
        Cell(
          workload: .overwriteMerging,
          keys: scale.keys[0],
          operations: scale.keys[0] * 20,
          goal: "0.6 of merging off; space 1.6 and two segments; write amplification 2",
          subjects: [.esker]
        ),
        Cell(
          workload: .growth,
          keys: scale.growth,
          operations: scale.growth,
          goal: "15 B mean, 17 B at most; no put above 10 ms",
          subjects: [.esker]
        ),
      ]
  }

  private static func storeCells(keys: Int, _ scale: Scale) -> [Cell] {
    let reads = scale.reads
    let huge = keys >= 10_000_000
    return [
      Cell(workload: .fill, keys: keys, operations: keys, goal: "0.5", hasLatency: true),
      Cell(workload: .get, keys: keys, operations: reads, goal: "0.85", hasLatency: true, hugePages: huge),
      Cell(workload: .getOverlapping, keys: keys, operations: reads, goal: "-", hugePages: huge),
      Cell(workload: .getArray, keys: keys, operations: reads, goal: "-", hugePages: huge),
      Cell(workload: .getTwoThreads, keys: keys, operations: reads, goal: "scaling 1.9", hugePages: huge),
      Cell(workload: .getZipfian, keys: keys, operations: reads, goal: "0.85", hugePages: huge),
      Cell(workload: .miss, keys: keys, operations: reads, goal: "0.8", hugePages: huge),
      Cell(workload: .multiGet, keys: keys, operations: reads, goal: "0.5", hugePages: huge),
      Cell(workload: .overwrite, keys: keys, operations: keys, goal: "0.6", hasLatency: true),
      Cell(workload: .delete, keys: keys, operations: keys / 2, goal: "0.4", hasLatency: true),
    ]
  }

  private static func durableCells(_ scale: Scale) -> [Cell] {
    let commits = scale.commits
    return [
      Cell(workload: .synced, keys: commits, operations: commits, goal: "0.95", hasLatency: true),
      Cell(workload: .syncedThreads, keys: commits * 8, operations: commits * 8, goal: "0.95", hasLatency: true),
      Cell(workload: .syncedTasks, keys: commits * 40, operations: commits * 40, goal: "80 (of one thread's syncs)"),
    ]
  }

  private static func boundedCells(_ scale: Scale) -> [Cell] {
    [
      Cell(workload: .ycsbA, keys: scale.mixed, operations: scale.mixed * 4, goal: "1.0", valueLength: 1_024),
      Cell(
        workload: .getMerging,
        keys: scale.keys[0],
        operations: scale.reads,
        goal: "0.7 of idle; p99.9 0.2 ms",
        subjects: [.esker]
      ),
      Cell(workload: .oneKey, keys: 1, operations: scale.churn, goal: "space and opening bounded", subjects: [.esker]),
      Cell(
        workload: .comeAndGo,
        keys: max(scale.churn / 100, 1),
        operations: scale.churn,
        goal: "space and opening bounded; nearly nothing at the end",
        subjects: [.esker]
      ),
      Cell(
        workload: .expiring,
        keys: max(scale.churn / 10, 1),
        operations: scale.churn,
        goal: "write amplification 1.1; space bounded",
        subjects: [.esker]
      ),
      Cell(
        workload: .capacityTrace,
        keys: 0,
        operations: scale.recorded,
        goal: "0.02 under LRU; write amplification 1.6; never above the capacity",
        subjects: [.esker],
        valueLength: 1_024
      ),
      Cell(
        workload: .packing,
        keys: 0,
        operations: scale.recorded,
        goal: "movies-early 0.40, talks 0.35, admin2 0.70; gets 0.6",
        subjects: [.esker]
      ),
    ]
  }

  private static func openCells(keys: Int) -> [Cell] {
    [
      Cell(
        workload: .openClean,
        keys: keys,
        operations: keys,
        goal: "2 ms",
        subjects: [.esker],
        preparation: .prepareClean
      ),
      Cell(workload: .openCrashed, keys: keys, operations: keys, goal: "0.6", preparation: .prepareCrashed),
    ]
  }
}
