import EskerPlatform

/// What the processes of a round have found.
struct FindingsFile {
  private(set) var findings: [(isIgnored: Bool, finding: Finding)] = []

  init(at path: String) throws {
    let files = OSFileSystem()
    guard try files.status(path) != nil else { return }
    let file = try files.open(path, .read)
    defer { file.close() }
    var bytes = [UInt8](repeating: 0, count: try file.status().size)
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    for line in String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 2).map(String.init)
      guard parts.count == 3 else { continue }
      findings.append((parts[0] == "ignored", Finding(parts[1], parts[2])))
    }
  }
}
