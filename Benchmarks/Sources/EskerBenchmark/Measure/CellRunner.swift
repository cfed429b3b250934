import Foundation

/// Makes all measurements of a cell: sets up directories, the order of the subjects and preparations.
struct CellRunner {
  var directory: String
  var runs: Int
  /// The number of seconds after which a measurement counts as slow; slow ones of other engines are not repeated.
  var patience: Double
  /// The subjects to measure.
  var subjects: Set<Subject>
  /// Arguments for every measuring process.
  var options: [String]
  var filled: FilledStores

  func run(_ cell: Cell) throws -> CellResult {
    var result = CellResult(cell)
    var present = cell.subjects.filter(subjects.contains)
    for run in 0..<min(runs, cell.mostRuns) {
      // The second subject finds a machine in a different state, such as warmer: so they take turns.
      var measured = CellResult.Run()
      for subject in run % 2 == 0 ? present : present.reversed() {
        let measurement = try measure(cell, subject)
        measured[subject] = measurement
        if subject.isPeer && measurement.seconds > patience { present.removeAll { $0 == subject } }
      }
      result.runs.append(measured)
    }
    return result
  }

  private func measure(_ cell: Cell, _ subject: Subject) throws -> Measurement {
    // The limit reads the files that Esker left behind.
    let owner = subject == .limit ? Subject.esker : subject
    if cell.preparation != nil, cell.workload.leavesStore {
      return try measure(cell, subject, try filled.path(for: cell, owner), isFilled: true)
    }
    if cell.preparation != nil {
      return try inFreshDirectory { path in
        try filled.copy(for: cell, owner, to: path)
        if cell.workload == .openScanned && owner == .esker { try removeCheckpoints(in: path + "/store.esker") }
        return try measure(cell, subject, path, isFilled: true)
      }
    }
    guard subject.isPeer, cell.workload.isOnStored else {
      return try inFreshDirectory { path in try measure(cell, subject, path, isFilled: false) }
    }
    if cell.workload.isRead {
      return try measure(cell, subject, try filled.path(for: cell, subject), isFilled: true)
    }
    return try inFreshDirectory { path in
      try filled.copy(for: cell, subject, to: path)
      return try measure(cell, subject, path, isFilled: true)
    }
  }

  private func measure(_ cell: Cell, _ subject: Subject, _ path: String, isFilled: Bool) throws -> Measurement {
    try Child.measure(cell.arguments(subject, path) + options + (isFilled ? ["--filled"] : []))
  }

  private func removeCheckpoints(in store: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: store) where file.hasSuffix(".checkpoint") {
      try FileManager.default.removeItem(atPath: store + "/" + file)
    }
  }

  private func inFreshDirectory<R>(_ body: (String) throws -> R) throws -> R {
    let path = directory + "/" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
  }
}

extension Cell {
  /// The arguments for a measuring process.
  func arguments(_ subject: Subject, _ path: String) -> [String] {
    [
      "--workload", workload.rawValue, "--subject", subject.rawValue, "--keys", "\(keys)", "--operations",
      "\(operations(of: subject))", "--value-length", "\(valueLength)", "--threads", "\(threads)", "--directory", path,
    ] + (hugePages ? ["--huge-pages"] : []) + (memory > 0 ? ["--memory", "\(memory)"] : [])
  }
}
