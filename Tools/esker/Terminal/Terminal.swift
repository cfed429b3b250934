import Foundation

/// What a stream leads to, as far as it matters for how results are written.
///
/// Whoever reads a pipe or a file gets lines that stay the same from release to release; a person gets aligned columns, units
/// and color.
struct Terminal: Equatable {
  /// Characters in a line; nil when no terminal is there.
  let columns: Int?
  /// Whether color may be used.
  let showsColor: Bool

  /// A pipe or a file.
  static let none = Terminal(columns: nil, showsColor: false)

  /// What standard output leads to.
  static var output: Terminal { Terminal(descriptor: STDOUT_FILENO) }

  /// What standard error leads to.
  static var errors: Terminal { Terminal(descriptor: STDERR_FILENO) }

  init(columns: Int?, showsColor: Bool) {
    self.columns = columns
    self.showsColor = showsColor
  }

  /// Color is for terminals that have it, unless the user does not want it (no-color.org).
  init(descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard isatty(descriptor) == 1 else {
      self = .none
      return
    }
    columns =
      Self.width(of: descriptor) ?? environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    showsColor = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  private static func width(of descriptor: Int32) -> Int? { size(of: descriptor)?.columns }

  /// Characters in a line and lines of the terminal behind a descriptor; nil when there is none, or it does not say.
  static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
    guard let size = SystemCalls.windowSize(of: descriptor), size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), max(1, Int(size.ws_row)))
  }
}
