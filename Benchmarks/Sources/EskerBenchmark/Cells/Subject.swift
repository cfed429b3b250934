import ArgumentParser
import CPeers

/// Who does it.
enum Subject: String, CaseIterable, Codable, ExpressibleByArgument {
  case limit
  case esker
  case rocksdb
  /// With a cache of a tenth of the data.
  case rocksdbLean = "rocksdb-lean"
  case leveldb
  case lmdb
  /// A transaction a thousand writes.
  case lmdbBatched = "lmdb-batched"
  case tkrzw
  case kyoto
  case sqlite
  /// A transaction a thousand writes.
  case sqliteBatched = "sqlite-batched"
  case grdb
  /// A transaction for all writes.
  case grdbBatched = "grdb-batched"

  static let engines: [Subject] = [.rocksdb, .leveldb, .lmdb, .tkrzw, .kyoto, .sqlite]
  static let batched: [Subject] = [.lmdbBatched, .sqliteBatched]
  static let typed: [Subject] = [.grdb, .grdbBatched]

  var isPeer: Bool { self != .limit && self != .esker }

  /// The engine behind it.
  var engine: String {
    switch self {
    case .rocksdbLean: "rocksdb"
    case .lmdbBatched: "lmdb"
    case .sqliteBatched: "sqlite"
    default: rawValue
    }
  }

  /// All ways in which an engine is measured: whoever asks for LMDB means it with batches, too.
  var family: [Subject] {
    switch self {
    case .rocksdb: [.rocksdb, .rocksdbLean]
    case .lmdb: [.lmdb, .lmdbBatched]
    case .sqlite: [.sqlite, .sqliteBatched]
    case .grdb: [.grdb, .grdbBatched]
    default: [self]
    }
  }

  /// Writes in a transaction.
  var batch: Int {
    switch self {
    case .lmdbBatched, .sqliteBatched: 1_000
    default: 1
    }
  }

  /// Whether the commits of several threads share a sync.
  var groupsCommits: Bool {
    switch self {
    case .limit, .esker, .rocksdb, .rocksdbLean, .leveldb: true
    default: false
    }
  }

  /// Whether it is part of this build.
  var isAvailable: Bool {
    switch self {
    case .limit, .esker: true
    case .grdb, .grdbBatched: GRDBStore.isAvailable
    default: peer_settings(engine) != nil
    }
  }

  /// Version and settings in words.
  var settings: String? {
    switch self {
    case .limit, .esker: nil
    case .grdb: GRDBStore.settings
    default: peer_settings(engine).map { String(cString: $0) }
    }
  }
}
