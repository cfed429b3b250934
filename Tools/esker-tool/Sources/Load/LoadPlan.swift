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
  /// As `ldb` of RocksDB writes it; only loaded.
  case ldb
  /// What Redis and Valkey keep on the disk; only loaded.
  case rdb
  /// A property list, as UserDefaults writes it; only loaded.
  case plist
  /// A file of MMKV, with the one beside it; only loaded.
  case mmkv
  /// A database of SQLite.
  case sqlite
  /// A folder with a file for each key.
  case folder
  /// Esker's own stream, with checksums.
  case binary

  /// The format that a file's name says it has; nil if it says nothing.
  init?(fileName: String) {
    switch Self.suffix(of: fileName) {
    case "csv": self = .csv
    case "tsv", "tab": self = .tsv
    case "ndjson", "jsonl", "json": self = .ndjson
    case "sqlite", "sqlite3", "db": self = .sqlite
    case "rdb": self = .rdb
    case "plist": self = .plist
    default: return nil
    }
  }

  /// What is behind the last dot of a file's name, without what says that it is compressed; nil if there is none.
  private static func suffix(of fileName: String) -> String? {
    var name = fileName.lowercased().split(separator: "/").last ?? ""
    if name.hasSuffix(".gz") { name.removeLast(3) }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count > 1 && parts[0] != "" ? String(parts[parts.count - 1]) : nil
  }

  /// Throws for a name that promises something else than CSV or lines of JSON.
  static func requireWritable(_ fileName: String) throws {
    guard let suffix = suffix(of: fileName), !["csv", "ndjson", "jsonl", "sqlite", "sqlite3", "db"].contains(suffix)
    else { return }
    let why = suffix == "json" ? "is no list of JSON, but a line for each entry" : "is ndjson, csv, sqlite or binary"
    throw ValidationError(
      "What dump writes \(why): name the file .ndjson or .csv, or say with --format what is to be in a file named .\(suffix)."
    )
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
  /// Whether records are left out whose keys the store has.
  var onlyAbsent = false
  /// How many invalid lines are reported one by one.
  var reportedLines = 10
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
