import ArgumentParser
import Esker

/// The formats for loading and dumping entries.
enum TransferFormat: String, ExpressibleByArgument, CaseIterable {
  /// A JSON object per line.
  case ndjson
  /// Comma-separated values under a header (RFC 4180).
  case csv
  /// Columns with tabs between them, as other programs write them; only loaded.
  case tsv
  /// As `mdb_dump` and `db_dump` write it; only loaded.
  case mdb
  /// Esker's own stream, with checksums.
  case binary

  /// The format that a file's name says it has; nil if it says nothing.
  init?(fileName: String) {
    var name = fileName.lowercased()
    if name.hasSuffix(".gz") { name.removeLast(3) }
    switch name.split(separator: ".").last {
    case "csv": self = .csv
    case "tsv", "tab": self = .tsv
    case "ndjson", "jsonl", "json": self = .ndjson
    default: return nil
    }
  }

  /// Throws for the name of a file that is compressed otherwise than with gzip, which would not be what it says.
  static func requirePlain(_ fileName: String, _ remedy: String) throws {
    let compressed = [".zst", ".xz", ".bz2", ".lz4", ".zip"]
    guard let suffix = compressed.first(where: { fileName.lowercased().hasSuffix($0) }) else { return }
    throw ValidationError("The file's name ends with \(suffix), and esker knows only gzip: \(remedy)")
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

/// The byte between two columns on the command line: one character of ASCII, or `tab`.
struct Delimiter: ExpressibleByArgument, Equatable {
  let byte: UInt8

  init?(argument: String) {
    if ["tab", "\\t", "\t"].contains(argument) {
      byte = UInt8(ascii: "\t")
      return
    }
    guard argument.utf8.count == 1, let byte = argument.utf8.first, byte >= 0x20, byte != UInt8(ascii: "\"") else {
      return nil
    }
    self.byte = byte
  }
}
