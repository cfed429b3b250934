import Foundation

/// Stores that are filled once and measured by several processes: filling some engines takes longer than everything else.
final class FilledStores {
  private let directory: String
  private let options: [String]
  private var paths: [String: String] = [:]

  init(directory: String, options: [String]) {
    self.directory = directory + "/filled-" + UUID().uuidString
    self.options = options
  }

  /// A directory with a subject's store for a cell, filled and closed, or left behind by a killed process.
  func path(for cell: Cell, _ subject: Subject) throws -> String {
    let name = FilledStores.kind(of: cell) + "/" + subject.rawValue
    if let path = paths[name] { return path }
    let path = directory + "/" + name
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    var prepared = cell
    let preparation = FilledStores.preparation(of: cell)
    prepared.workload = preparation
    prepared.threads = 1
    prepared.timesMemory = 0
    prepared.operations = cell.keys
    let isKilled = preparation == .prepareCrashed
    // Batches are faster and leave the same store.
    let filler = isKilled ? subject : Subject.batched.first { $0.engine == subject.engine } ?? subject
    try Child.prepare(prepared.arguments(filler, path) + options, isKilled: isKilled)
    paths[name] = path
    return path
  }

  /// A copy that may be modified.
  func copy(for cell: Cell, _ subject: Subject, to target: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    #if os(Linux)
      let flags = ["-a", "--sparse=always"]
    #else
      let flags = ["-a"]
    #endif
    process.arguments = ["cp"] + flags + [try path(for: cell, subject) + "/.", target]
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      throw BenchmarkError.child(arguments: ["cp"], status: process.terminationStatus, output: "")
    }
    sync()
  }

  /// Removes the stores that no cell starts with.
  func keep(for cells: some Collection<Cell>) {
    let kinds = Set(cells.map(FilledStores.kind))
    for (name, path) in paths where !kinds.contains(where: { name.hasPrefix($0 + "/") }) {
      paths[name] = nil
      try? FileManager.default.removeItem(atPath: path)
    }
    if cells.isEmpty { try? FileManager.default.removeItem(atPath: directory) }
  }

  /// Identifies the stores that cells can share.
  private static func kind(of cell: Cell) -> String {
    "\(preparation(of: cell).rawValue)-\(cell.keys)-\(cell.valueLength)"
  }

  private static func preparation(of cell: Cell) -> Workload {
    cell.preparation ?? (cell.workload == .prefix ? .prepareGrouped : .prepareClean)
  }
}
