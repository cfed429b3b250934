/// The size of a run.
struct Scale {
  /// The key counts of the fill, read, update and open cells.
  var keys: [Int]
  /// The value lengths to compare, in addition to 100.
  var valueLengths: [Int]
  /// The thread counts of the multi-threaded cells.
  var threads: [Int]
  /// The maximum number of operations in a read cell.
  var reads: Int
  /// The size in bytes of the stores with values of other lengths.
  var volume: Int
  /// The number of commits per thread.
  var commits: Int
  /// The number of keys in the growth cell.
  var growth: Int
  /// The number of writes in the cells that rewrite keys repeatedly.
  var churn: Int
  /// The size in bytes of the stores beyond memory, and how long each is measured.
  var beyond: Int
  var beyondSeconds: Double
  /// The number of records in the YCSB cells.
  var mixed: Int
  /// The maximum number of requests in a trace, and of documents in a file.
  var recorded: Int
  /// The number of structs in the typed cells.
  var structs: Int

  static let full = Scale(
    keys: [1_000_000],
    valueLengths: [16, 4_096, 65_536],
    threads: [2],
    reads: 1_000_000,
    volume: 200_000_000,
    commits: 4_000,
    growth: 10_000_000,
    churn: 10_000_000,
    beyond: 1_200_000_000,
    beyondSeconds: 15,
    mixed: 200_000,
    recorded: .max,
    structs: 50_000
  )

  /// Checks that everything still runs, and that nothing has become far slower.
  static let quick = Scale(
    keys: [50_000],
    valueLengths: [16, 4_096, 65_536],
    threads: [2],
    reads: 100_000,
    volume: 5_000_000,
    commits: 200,
    growth: 300_000,
    churn: 200_000,
    beyond: 10_000_000,
    beyondSeconds: 0.5,
    mixed: 10_000,
    recorded: 3_000,
    structs: 5_000
  )
}
