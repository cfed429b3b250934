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
