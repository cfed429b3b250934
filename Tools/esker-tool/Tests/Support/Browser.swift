import Foundation

/// A browser without a window.
enum Browser {
  /// Chromium or one of its kin, if there is one.
  static let executable: String? = {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let found = path.split(separator: ":").flatMap { directory in names.map { "\(directory)/\($0)" } }
    let applications = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"]
    return (found + applications).first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  /// The page's elements, as they are once its scripts have run.
  static func elements(of page: String, width: Int, isDark: Bool, scratch: Scratch) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable ?? "")
    process.arguments = [
      "--headless", "--no-sandbox", "--disable-gpu", "--window-size=\(width),900", "--hide-scrollbars",
      "--user-data-dir=\(scratch.path(UUID().uuidString))", "--host-resolver-rules=MAP * ~NOTFOUND",
      "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)", "--dump-dom", "file://\(page)",
    ]
    let output = try scratch.file(UUID().uuidString, [])
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return try String(contentsOfFile: output, encoding: .utf8)
  }
}
