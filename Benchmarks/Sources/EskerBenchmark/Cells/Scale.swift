/// How large a run is.
struct Scale {
  /// Key counts of the fill, read, update and open cells.
  var keys: [Int]
  /// Lengths of the values in cells that compare such, beside 100.
  var valueLengths: [Int]
  /// Threads of the cells with several.
  var threads: [Int]
  /// Most operations of a read cell.
  var reads: Int
  /// Bytes of the stores with values of other lengths.
  var volume: Int
  /// Commits of one thread.
  var commits: Int
  /// Keys of the growth cell.
  var growth: Int
  /// Writes of the cells that write again and again.
  var churn: Int
  /// Records of the YCSB cells.
  var mixed: Int
  /// Most requests of a trace, and most documents of a file.
  var recorded: Int
  /// Structs of the typed cells.
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
    mixed: 200_000,
    recorded: .max,
    structs: 50_000
  )

  /// Does everything still run, and is nothing far slower than it was?
  static let quick = Scale(
    keys: [50_000],
    valueLengths: [16, 4_096, 65_536],
    threads: [2],
    reads: 100_000,
    volume: 5_000_000,
    commits: 200,
    growth: 300_000,
    churn: 200_000,
    mixed: 10_000,
    recorded: 3_000,
    structs: 5_000
  )
}
