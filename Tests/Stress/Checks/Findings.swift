import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Where the processes of a round put what they find: a line each, for the driver to read.
final class Findings: Sendable {
  private let path: String
  private let who: String
  private let ignored: Set<String>
  /// How often each ignored kind was found by this process.
  private let counts = Guarded<[String: Int]>([:])
  private static let mostOfAKind = 3

  init(path: String, who: String, ignoring ignored: Set<String>) {
    self.path = path
    self.who = who
    self.ignored = ignored
  }

  /// Writes a finding down and ends the process, so that the scene stays as it is; goes on if it is of a kind to be ignored.
  func report(_ finding: Finding) {
    write([finding])
  }

  /// As `report`, of what one look has found.
  func write(_ findings: [Finding]) {
    guard !findings.isEmpty else { return }
    for finding in findings where isNoted(finding) {
      let line = "\(ignored.contains(finding.kind) ? "ignored" : "found")\t\(finding.kind)\t\(who): \(finding.text)\n"
      append(line.replacing("\u{0}", with: "?"))
    }
    if findings.contains(where: { !ignored.contains($0.kind) }) { _exit(1) }
  }

  private func isNoted(_ finding: Finding) -> Bool {
    counts.withLock { counts in
      counts[finding.kind, default: 0] += 1
      return counts[finding.kind, default: 0] <= Self.mostOfAKind
    }
  }

  private func append(_ line: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    guard file >= 0 else { return }
    writeWhole(Array(line.utf8), to: file)
    close(file)
  }
}
