import ArgumentParser
import CPeers

/// An engine in a configuration.
enum Subject: String, CaseIterable, Codable, ExpressibleByArgument {
  case limit
  case esker
  /// A batch per thousand writes.
  case eskerBatched = "esker-batched"
  /// Esker without an order of its keys, beside one that keeps it.
  case eskerUnordered = "esker-unordered"
  case rocksdb
  /// With a cache of a tenth of the data.
  case rocksdbLean = "rocksdb-lean"
  case leveldb
  case lmdb
  /// One transaction per thousand writes.
  case lmdbBatched = "lmdb-batched"
  case tkrzw
  case tkrzwTree = "tkrzw-tree"
  case kyoto
  case kyotoTree = "kyoto-tree"
  case sqlite
  /// One transaction per thousand writes.
  case sqliteBatched = "sqlite-batched"
  case grdb
  /// One transaction for all writes.
  case grdbBatched = "grdb-batched"

  static let engines: [Subject] = [.rocksdb, .leveldb, .lmdb, .tkrzw, .kyoto, .sqlite]
  /// Those that keep keys in order, as they are used here.
  static let ordered: [Subject] = [.rocksdb, .leveldb, .lmdb, .tkrzwTree, .kyotoTree, .sqlite]
  static let batched: [Subject] = [.lmdbBatched, .sqliteBatched]
  static let typed: [Subject] = [.grdb, .grdbBatched]

  var isPeer: Bool { ![.limit, .esker, .eskerBatched, .eskerUnordered].contains(self) }

  /// The underlying engine.
  var engine: String {
    switch self {
    case .eskerBatched: "esker"
    case .rocksdbLean: "rocksdb"
    case .lmdbBatched: "lmdb"
    case .sqliteBatched: "sqlite"
    default: rawValue
    }
  }

  /// All configurations in which an engine is measured: selecting LMDB includes its batched variant.
  var family: [Subject] {
    switch self {
    case .esker: [.esker, .eskerBatched, .eskerUnordered]
    case .rocksdb: [.rocksdb, .rocksdbLean]
    case .lmdb: [.lmdb, .lmdbBatched]
    case .tkrzw: [.tkrzw, .tkrzwTree]
    case .kyoto: [.kyoto, .kyotoTree]
    case .sqlite: [.sqlite, .sqliteBatched]
    case .grdb: [.grdb, .grdbBatched]
    default: [self]
    }
  }

  /// Writes per transaction.
  var batch: Int {
    switch self {
    case .eskerBatched, .lmdbBatched, .sqliteBatched: 1_000
    default: 1
    }
  }

  /// Whether commits from several threads share a sync.
  var groupsCommits: Bool {
    switch self {
    case .limit, .esker, .eskerBatched, .eskerUnordered, .rocksdb, .rocksdbLean, .leveldb: true
    default: false
    }
  }

  /// Whether it is part of this build.
  var isAvailable: Bool {
    switch self {
    case .limit, .esker, .eskerBatched, .eskerUnordered: true
    case .grdb, .grdbBatched: GRDBStore.isAvailable
    default: peer_settings(engine) != nil
    }
  }

  /// Version and settings in words.
  var settings: String? {
    switch self {
    case .limit, .esker: nil
    case .eskerBatched: "esker-batched: the same with a batch per 1,000 writes"
    case .eskerUnordered: "esker-unordered: the same in a store that nobody asks for an order"
    case .grdb: GRDBStore.settings
    default: peer_settings(engine).map { String(cString: $0) }
    }
  }
}
