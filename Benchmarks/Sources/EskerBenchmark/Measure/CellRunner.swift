import Foundation

/// Makes all measurements of a cell: directories, order of the subjects, what must happen before.
struct CellRunner {
  var directory: String
  var runs: Int
  /// Arguments of every measuring process.
  var options: [String] = []

  func run(_ cell: Cell) throws -> CellResult {
    var result = CellResult(cell: cell.id, keys: cell.keys, goal: cell.goal, runs: [])
    for run in 0..<runs {
      // Whoever comes second finds a warmer or a more worn machine: they take turns.
      let subjects = run % 2 == 0 || cell.preparation != nil ? cell.subjects : cell.subjects.reversed()
      result.runs.append(try cell.preparation == nil ? measureApart(cell, subjects) : measureTogether(cell, subjects))
    }
    if cell.hasLatency {
      result.latency = try inFreshDirectory { path in
        try Child.measure(arguments(cell, .esker, path) + ["--latency"]).latency
      }
    }
    return result
  }

  /// Each subject in a directory of its own.
  private func measureApart(_ cell: Cell, _ subjects: [Subject]) throws -> CellResult.Run {
    var run = CellResult.Run()
    for subject in subjects {
      let measurement = try inFreshDirectory { path in try Child.measure(arguments(cell, subject, path)) }
      run.set(measurement, for: subject)
    }
    return run
  }

  /// All subjects on one prepared store; the limit comes first, because Esker's open changes the files.
  private func measureTogether(_ cell: Cell, _ subjects: [Subject]) throws -> CellResult.Run {
    try inFreshDirectory { path in
      var run = CellResult.Run()
      if let preparation = cell.preparation {
        var prepared = cell
        prepared.workload = preparation
        try Child.prepare(arguments(prepared, .esker, path), isKilled: preparation == .prepareCrashed)
        if preparation == .prepareCrashed { try removeCheckpoints(in: path + "/store.esker") }
      }
      for subject in subjects { run.set(try Child.measure(arguments(cell, subject, path)), for: subject) }
      return run
    }
  }

  private func arguments(_ cell: Cell, _ subject: Subject, _ path: String) -> [String] {
    [
      "--workload", cell.workload.rawValue, "--subject", subject.rawValue, "--keys", "\(cell.keys)",
      "--operations", "\(cell.operations)", "--value-length", "\(cell.valueLength)", "--directory", path,
    ] + options + (cell.hugePages ? ["--huge-pages"] : [])
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

extension CellResult.Run {
  mutating func set(_ measurement: Measurement, for subject: Subject) {
    switch subject {
    case .limit: limit = measurement
    case .esker: esker = measurement
    }
  }
}
