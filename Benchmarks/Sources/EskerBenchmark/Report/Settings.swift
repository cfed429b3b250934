/// The settings of the subjects.
enum Settings {
  /// A line for each subject that was measured, and one about those that could not be.
  static func lines(_ results: [CellResult]) -> [String] {
    let measured = Set(results.flatMap(\.measured))
    let missing = Set(results.flatMap(\.subjects).filter { !$0.isAvailable }.map(\.engine))
    var lines = [
      "Esker: default options, so records of at least 4 KiB are verified once in 69 seconds, others at each get; `.synced` in the synced "
        + "cells, `.lz4` for documents"
    ]
    for settings in Subject.allCases.filter(measured.contains).compactMap(\.settings)
    where !lines.contains(settings) { lines.append(settings) }
    if !missing.isEmpty { lines.append("Not part of this build: \(missing.sorted().joined(separator: ", "))") }
    return lines
  }
}
