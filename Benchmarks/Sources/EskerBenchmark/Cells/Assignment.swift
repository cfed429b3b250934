/// The parameters of a measuring process.
struct Assignment {
  var workload: Workload
  var subject: Subject
  /// The number of distinct keys in the store.
  var keys: Int
  /// The number of operations to measure.
  var operations: Int
  var valueLength = 100
  var threads = 1
  /// Whether the limit's table is on huge pages.
  var hugePages = false
  /// Whether an earlier process has filled the store.
  var isFilled = false
  /// Where the process puts its files, or finds prepared ones.
  var directory: String
  /// The memory that the process may use, pages of files included; 0 for no limit.
  var memory = 0
  /// How long to measure, where the number of operations is not given.
  var seconds = 15.0
  /// The directory with traces of real caches; if nil, one is made up.
  var traces: String?
  /// The directory with packed files of documents, one per line; if nil, some are made up.
  var documents: String?
  /// The directory for plots.
  var plots: String?
  /// Whether the process is to be killed at the end of its writes.
  var isKilled = false

  var storePath: String { directory + "/store.esker" }
  var limitPath: String { directory + "/limit.dat" }
  var peerPath: String { directory + "/peer" }
}
