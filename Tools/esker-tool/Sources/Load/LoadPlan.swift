import ArgumentParser
import Esker

/// The formats for loading and dumping entries.
enum TransferFormat: String, ExpressibleByArgument, CaseIterable {
  /// A JSON object per line.
  case ndjson
  /// Comma-separated values under a header (RFC 4180).
  case csv
  /// Esker's own stream, with checksums.
  case binary

  /// The format that a file's name says it has; nil if it says nothing.
  init?(fileName: String) {
    switch fileName.lowercased().split(separator: ".").last {
    case "csv": self = .csv
    case "ndjson", "jsonl", "json": self = .ndjson
    default: return nil
    }
  }

  /// Throws for the name of a compressed file, which would not be what it says.
  static func requirePlain(_ fileName: String, _ remedy: String) throws {
    let compressed = [".gz", ".zst", ".xz", ".bz2", ".lz4", ".zip"]
    guard let suffix = compressed.first(where: { fileName.lowercased().hasSuffix($0) }) else { return }
    throw ValidationError("The file's name ends with \(suffix), and esker does not compress: \(remedy)")
  }
}

/// How records are loaded.
struct LoadPlan {
  var expiry: Expiry?
  var skipsBadLines = false
  var syncs = false
  var acknowledgeEvery: Int?
  var isQuiet = false
  var printsJSON = false
}
