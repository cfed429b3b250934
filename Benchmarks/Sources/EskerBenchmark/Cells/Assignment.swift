/// Everything a measuring process is told.
struct Assignment {
  var workload: Workload
  var subject: Subject
  /// Distinct keys in the store.
  var keys: Int
  /// Operations measured.
  var operations: Int
  var valueLength = 100
  var threads = 1
  /// Whether the limit's table is on huge pages.
  var hugePages = false
  /// Whether an earlier process has filled the store.
  var isFilled = false
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
  var peerPath: String { directory + "/peer" }
}
