/// A row of the report.
struct Cell {
  var workload: Workload
  var keys: Int
  var operations: Int
  /// Esker's goal in words, where ``Goal`` has none.
  var goal = "-"
  var subjects: [Subject] = [.limit, .esker]
  /// Whether the limit's table is on huge pages.
  var hugePages = false
  var valueLength = 100
  var threads = 1
  /// How many times the memory that the process may use the store is; 0 for no limit.
  var timesMemory = 0
  /// How the directory must be prepared.
  var preparation: Workload?
  /// The maximum number of runs, for cells that take minutes.
  var mostRuns = Int.max

  var id: String {
    workload.rawValue + (threads == 1 ? "" : "-\(threads)-\(workload == .beyondAsync ? "tasks" : "threads")")
      + ([0, 3].contains(timesMemory) ? "" : "-\(timesMemory)-times") + (isOfPlainLength ? "" : "-\(valueLength)B")
  }

  /// Whether the values have the workload's usual length.
  private var isOfPlainLength: Bool { valueLength == Cell.plainLength(of: workload) }

  static func plainLength(of workload: Workload) -> Int {
    switch workload {
    case .ycsbA, .ycsbB, .ycsbC, .ycsbD, .ycsbE, .ycsbF, .beyondYCSBB: 1_000
    case .capacityTrace: 1_024
    case .capacityImages: 100_000
    default: 100
    }
  }

  /// The operations for a subject: fewer for one that syncs each write separately.
  func operations(of subject: Subject) -> Int {
    workload.isSynced && !subject.groupsCommits ? max(operations / 10 / threads * threads, threads) : operations
  }

  /// The memory that the measuring process may use, pages of files included; 0 for no limit.
  var memory: Int {
    guard timesMemory > 0 else { return 0 }
    // Below that the program by itself would not fit.
    return max(64 << 20, keys * (KeyBuffer.keyLength + valueLength + 32) / timesMemory)
  }
}
