import Foundation

/// The properties of an output stream that determine how results are written.
///
/// A pipe or a file gets lines whose format stays the same from release to release; a terminal gets aligned columns, units
/// and color.
struct Terminal: Equatable {
  /// The number of characters per line; nil if it is not a terminal.
  let columns: Int?
  /// Whether color may be used.
  let showsColor: Bool

  /// A pipe or a file.
  static let none = Terminal(columns: nil, showsColor: false)

  /// The terminal of standard output.
  static var output: Terminal { Terminal(descriptor: STDOUT_FILENO) }

  /// The terminal of standard error.
  static var errors: Terminal { Terminal(descriptor: STDERR_FILENO) }

  init(columns: Int?, showsColor: Bool) {
    self.columns = columns
    self.showsColor = showsColor
  }

  /// Color is used on terminals that support it, unless the user disabled it (no-color.org).
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

  /// The characters per line and the lines of a descriptor's terminal; nil if there is none, or it does not report them.
  static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
    guard let size = SystemCalls.windowSize(of: descriptor), size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), max(1, Int(size.ws_row)))
  }
}
