/// One row of the report.
struct Cell {
  var workload: Workload
  var keys: Int
  var operations: Int
  /// What is wanted of Esker in words, where ``Goal`` says nothing.
  var goal = "-"
  var subjects: [Subject] = [.limit, .esker]
  /// Whether the limit's table is on huge pages.
  var hugePages = false
  var valueLength = 100
  var threads = 1
  /// What must have happened to the directory before.
  var preparation: Workload?
  /// At most so many runs: for what takes minutes.
  var mostRuns = Int.max

  var id: String {
    workload.rawValue + (threads == 1 ? "" : "-\(threads)-threads") + (isOfPlainLength ? "" : "-\(valueLength)B")
  }

  /// Whether the length of the values is what one expects of the workload.
  private var isOfPlainLength: Bool { valueLength == Cell.plainLength(of: workload) }

  static func plainLength(of workload: Workload) -> Int {
    switch workload {
    case .ycsbA, .ycsbB, .ycsbC, .ycsbD, .ycsbF: 1_000
    case .capacityTrace: 1_024
    default: 100
    }
  }

  /// Who syncs for each write by itself does fewer of them.
  func operations(of subject: Subject) -> Int {
    workload.isSynced && !subject.groupsCommits ? max(operations / 10 / threads * threads, threads) : operations
  }
}
