/// A row of the report with everything measured for it.
struct CellResult: Codable {
  /// The measurements of one run, made one after another.
  struct Run: Codable {
    private var measurements: [String: Measurement] = [:]

    subscript(_ subject: Subject) -> Measurement? {
      get { measurements[subject.rawValue] }
      set { measurements[subject.rawValue] = newValue }
    }
  }

  var cell: String
  var workload: Workload
  var keys: Int
  var valueLength: Int
  var threads: Int
  var goal: String
  var subjects: [Subject]
  var runs: [Run] = []

  init(_ cell: Cell) {
    self.cell = cell.id
    workload = cell.workload
    keys = cell.keys
    valueLength = cell.valueLength
    threads = cell.threads
    goal = cell.goal
    subjects = cell.subjects
  }

  /// The subjects that were measured.
  var measured: [Subject] { subjects.filter { subject in runs.contains { $0[subject] != nil } } }

  /// One subject's measurements, one per run.
  func measurements(_ subject: Subject) -> [Measurement] { runs.compactMap { $0[subject] } }

  /// The median of operations per second.
  func rate(_ subject: Subject) -> Double? { median(measurements(subject).map(\.rate)) }

  /// Minimum, median and maximum of one subject's rate as a share of another's.
  ///
  /// Of the runs' ratios, not of the medians: the two sides of a run were subject to the same disturbances.
  func ratio(_ subject: Subject, to other: Subject) -> Spread? {
    Spread(runs.compactMap { run in run[subject].flatMap { one in run[other].map { one.rate / $0.rate } } })
  }

  /// The peer with the highest rate.
  var bestPeer: Subject? {
    measured.filter(\.isPeer).max { (rate($0) ?? 0) < (rate($1) ?? 0) }
  }

  /// Medians of a subject's named figures.
  func figures(_ subject: Subject) -> [(name: String, value: Double)] {
    let found = measurements(subject)
    let names = Set(found.flatMap(\.figures.keys)).sorted()
    return names.compactMap { name in median(found.compactMap { $0.figures[name] }).map { (name, $0) } }
  }

  func figure(_ name: String, _ subject: Subject) -> Double? {
    median(measurements(subject).compactMap { $0.figures[name] })
  }

  /// The medians of the percentiles, and the maximum of all.
  func latency(_ subject: Subject) -> Latency? {
    let found = measurements(subject).compactMap(\.latency)
    func middle(_ path: KeyPath<Latency, UInt64>) -> UInt64? {
      median(found.map { Double($0[keyPath: path]) }).map { UInt64($0) }
    }
    guard let p50 = middle(\.p50), let p99 = middle(\.p99), let p999 = middle(\.p999) else { return nil }
    return Latency(p50: p50, p99: p99, p999: p999, max: found.map(\.max).max() ?? 0)
  }

  /// The median of an optional property.
  func bytes(_ path: KeyPath<Measurement, Int?>, _ subject: Subject) -> Double? {
    median(measurements(subject).compactMap { $0[keyPath: path].map(Double.init) })
  }

  /// Why the result must not be trusted, or nil: all processes of the cell must find the same values.
  var contradiction: String? {
    guard workload.comparesChecksums else { return nil }
    let found = measured.flatMap { subject in measurements(subject).map { (subject, $0) } }
    guard let (first, one) = found.first else { return nil }
    let isOther = { (other: Measurement) in other.checksum != one.checksum || other.hits != one.hits }
    guard let (second, two) = found.first(where: { isOther($0.1) }) else { return nil }
    return "\(first) found \(one.hits) with sum \(one.checksum), but \(second) \(two.hits) with sum \(two.checksum)"
  }
}

struct Spread {
  var least: Double
  var median: Double
  var most: Double

  /// Nil if there are no values.
  init?(_ values: [Double]) {
    guard let least = values.min(), let most = values.max() else { return nil }
    self.least = least
    self.most = most
    median = EskerBenchmark.median(values) ?? least
  }
}

/// The middle value, or the mean of the two in the middle; nil if there are none.
func median(_ values: [Double]) -> Double? {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return nil }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
