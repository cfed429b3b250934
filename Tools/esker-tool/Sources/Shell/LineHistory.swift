import Foundation

/// The lines that were typed before, kept in a file that only its owner can read.
///
/// Errors of the file are ignored: nobody wants a shell to end because of them.
struct LineHistory {
  private(set) var lines: [String] = []
  private let path: String?

  /// As many lines as are kept.
  private static let limit = 1000
  private static let mostBytes = 16 << 20

  /// - Parameter path: The file; nil to keep nothing.
  init(at path: String?) {
    self.path = path
    guard let path, SystemCalls.status(path) != nil, let file = try? InputFile(path),
      let bytes = try? file.readAll(limit: Self.mostBytes)
    else { return }
    let kept = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    lines = kept.suffix(Self.limit)
    // Not each time, so that shells side by side seldom lose each other's lines.
    if kept.count > 2 * Self.limit {
      try? replaceFile(at: path, with: Array(lines.map { $0 + "\n" }.joined().utf8), mode: 0o600)
    }
  }

  /// The file of this user: what ESKER_HISTORY says, where an empty text is none, or `~/.esker_history`.
  static var userPath: String? {
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["ESKER_HISTORY"] { return path.isEmpty ? nil : path }
    return environment["HOME"].map { $0 + "/.esker_history" }
  }

  /// Adds a line, unless it is empty, begins with a space, or is the last one again.
  mutating func add(_ line: String) {
    guard let first = line.first, !first.isWhitespace, line != lines.last else { return }
    lines.append(line)
    if lines.count > Self.limit { lines.removeFirst() }
    guard let path else { return }
    let descriptor = SystemCalls.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode: 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var file = BufferedOutput(descriptor: descriptor, name: path)
    try? file.write(line + "\n")
    try? file.flush()
  }
}
