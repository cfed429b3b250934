/// One row of the report with everything measured for it.
struct CellResult: Codable {
  /// The measurements of one run, made one after the other.
  struct Run: Codable {
    var limit: Measurement?
    var esker: Measurement?

    /// Esker's rate as a share of the limit's.
    var ratio: Double? {
      guard let limit, let esker else { return nil }
      return esker.rate / limit.rate
    }
  }

  var cell: String
  var keys: Int
  var goal: String
  var runs: [Run]
  var latency: Latency?

  /// Median of the ratios of the runs, not ratio of the medians: the two sides of a run shared the same disturbances.
  var ratio: Double? { median(runs.compactMap(\.ratio)) }

  func rate(_ side: (Run) -> Measurement?) -> Double? {
    median(runs.compactMap { side($0)?.rate })
  }

  /// Medians of the named figures.
  var figures: [(name: String, value: Double)] {
    let names = Set(runs.compactMap(\.esker).flatMap(\.figures.keys)).sorted()
    return names.compactMap { name in
      median(runs.compactMap { $0.esker?.figures[name] }).map { (name, $0) }
    }
  }

  /// Why the result must not be believed, or nil: every process of the cell has to find the same values.
  var contradiction: String? {
    let found = runs.flatMap { [$0.limit, $0.esker] }.compactMap { $0 }.filter { _ in comparesChecksums }
    guard let first = found.first else { return nil }
    guard let other = found.first(where: { $0.checksum != first.checksum || $0.hits != first.hits }) else { return nil }
    return "\(first.hits) found with sum \(first.checksum), but also \(other.hits) with sum \(other.checksum)"
  }

  /// Cells whose two sides read the same values; the others are checked by what Esker reads alone.
  private var comparesChecksums: Bool {
    ![Workload.synced, .syncedThreads, .syncedTasks, .openCrashed, .growth].map(\.rawValue).contains(cell)
  }
}

/// The middle value, or the mean of the two in the middle; nil of nothing.
func median(_ values: [Double]) -> Double? {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return nil }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
