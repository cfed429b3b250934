import ArgumentParser

/// What is done to a store; each has one row or more in the table of cells.
enum Workload: String, CaseIterable, Codable, ExpressibleByArgument {
  case fill
  case get
  /// Gets without a fence between them: the processor may begin the next before this one has its answer.
  case getOverlapping = "get-overlapping"
  case getArray = "get-array"
  case getTwoThreads = "get-2-threads"
  case getZipfian = "get-zipfian"
  case miss
  case multiGet = "multi-get"
  case overwrite
  /// Twenty overwrites of each key, with merging and without.
  case overwriteMerging = "overwrite-merging"
  /// Gets while everything is merged.
  case getMerging = "get-merging"
  /// Overwrites and gets in equal parts, of popular keys mostly.
  case ycsbA = "ycsb-a"
  /// One key rewritten again and again.
  case oneKey = "one-key"
  /// Keys written and removed, of which some live at a time.
  case comeAndGo = "come-and-go"
  /// Keys that all expire.
  case expiring
  /// The requests of recorded traces to a store of limited capacity.
  case capacityTrace = "capacity-trace"
  /// Documents packed.
  case packing
  case delete
  case synced
  case syncedThreads = "synced-16-threads"
  case syncedTasks = "synced-1000-tasks"
  case openClean = "open-clean"
  case openCrashed = "open-crashed"
  case growth
  /// Fills a store and closes it, or is killed: what the open workloads start from.
  case prepareClean = "prepare-clean"
  case prepareCrashed = "prepare-crashed"

  /// Whether the measured operations read stored keys, or absent ones.
  var isRead: Bool {
    switch self {
    case .get, .getOverlapping, .getArray, .getTwoThreads, .getZipfian, .miss, .multiGet: true
    default: false
    }
  }

  /// Whether what counts is the time of the whole and not operations a second.
  var isOpen: Bool { self == .openClean || self == .openCrashed }
}

/// Who does it: a column of the report.
enum Subject: String, CaseIterable, Codable, ExpressibleByArgument {
  case limit
  case esker
}

/// Everything a measuring process is told.
struct Assignment {
  var workload: Workload
  /// Distinct keys in the store.
  var keys: Int
  /// Operations measured.
  var operations: Int
  var valueLength = 100
  /// Whether the limit's table is on huge pages.
  var hugePages = false
  /// Whether single operations are timed instead of all together.
  var latency = false
  /// Where the process puts its files, or finds those that were prepared.
  var directory: String
  /// Where the traces of real caches are; without, one is made up.
  var traces: String?
  /// Where packed files of documents are, one a line; without, some are made up.
  var documents: String?
  /// Where plots are to go.
  var plots: String?
  /// Whether the process is to be killed at the end of its writes.
  var isKilled = false

  var storePath: String { directory + "/store.esker" }
  var limitPath: String { directory + "/limit.dat" }
}
