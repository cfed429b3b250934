import ArgumentParser

/// What is done to a store; each has one row or more in the table of cells.
enum Workload: String, CaseIterable, Codable, ExpressibleByArgument {
  case fill
  case fillSequential = "fill-sequential"
  case get
  /// Gets without a fence between them: the processor may begin the next before this one has its answer.
  case getOverlapping = "get-overlapping"
  case getArray = "get-array"
  case getZipfian = "get-zipfian"
  /// Gets of one thread while another overwrites.
  case getWhileWriting = "get-while-writing"
  case miss
  case multiGet = "multi-get"
  case overwrite
  /// Many overwrites of each key, and what they leave on the disk.
  case overwriteSteady = "overwrite-steady"
  /// Twenty overwrites of each key, with merging and without.
  case overwriteMerging = "overwrite-merging"
  /// Gets while everything is merged.
  case getMerging = "get-merging"
  /// YCSB's: gets and overwrites in equal parts, of popular keys mostly.
  case ycsbA = "ycsb-a"
  /// 95 gets to 5 overwrites.
  case ycsbB = "ycsb-b"
  case ycsbC = "ycsb-c"
  /// 95 gets of the newest to 5 new keys.
  case ycsbD = "ycsb-d"
  /// Gets, and gets followed by a put of what was got with a field changed, in equal parts.
  case ycsbF = "ycsb-f"
  /// One key rewritten again and again.
  case oneKey = "one-key"
  /// Keys written and removed, of which some live at a time.
  case comeAndGo = "come-and-go"
  /// Keys that all expire.
  case expiring
  /// The requests of recorded traces to a store of limited capacity.
  case capacityTrace = "capacity-trace"
  /// The requests of recorded traces to memory ahead of a log, with time to live.
  case hybridTrace = "hybrid-trace"
  /// Warm gets from memory ahead of a log.
  case hybridGet = "hybrid-get"
  /// Documents packed.
  case packing
  /// Gets of packed documents, against others who pack.
  case documents
  case delete
  case synced
  case syncedTasks = "synced-1000-tasks"
  case openClean = "open-clean"
  case openCrashed = "open-crashed"
  /// After a crash that left no checkpoint.
  case openScanned = "open-scanned"
  case growth
  /// Structs set and got by key as JSON and in the binary form.
  case typedSetJSON = "typed-set-json"
  case typedGetJSON = "typed-get-json"
  case typedSetBinary = "typed-set-binary"
  case typedGetBinary = "typed-get-binary"
  /// Fills a store and closes it, or is killed: what others start from.
  case prepareClean = "prepare-clean"
  case prepareCrashed = "prepare-crashed"

  /// Whether the measured operations read stored keys, or absent ones, and change nothing.
  var isRead: Bool {
    switch self {
    case .get, .getOverlapping, .getArray, .getZipfian, .miss, .multiGet, .ycsbC: true
    default: false
    }
  }

  /// Whether the store holds something before the clock starts.
  var isOnStored: Bool {
    switch self {
    case .overwrite, .overwriteSteady, .delete, .getWhileWriting, .ycsbA, .ycsbB, .ycsbD, .ycsbF: true
    default: isRead
    }
  }

  /// Whether what counts is the time of the whole and not operations a second.
  var isOpen: Bool { self == .openClean || self == .openCrashed || self == .openScanned }

  var isSynced: Bool { self == .synced || self == .syncedTasks }

  /// What share of the operations are gets, of a hundred; nil for workloads that are no mixture.
  var readPercent: UInt32? {
    switch self {
    case .ycsbA, .ycsbF: 50
    case .ycsbB, .ycsbD: 95
    default: nil
    }
  }

  /// Whether all subjects must read the same values.
  var comparesChecksums: Bool {
    switch self {
    case .synced, .syncedTasks, .openScanned, .growth, .getWhileWriting, .getMerging: false
    default: true
    }
  }
}
