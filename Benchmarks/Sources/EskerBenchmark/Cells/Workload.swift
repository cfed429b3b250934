import ArgumentParser

/// What is done to a store; each workload has one or more rows in the table of cells.
enum Workload: String, CaseIterable, Codable, ExpressibleByArgument {
  case fill
  case fillSequential = "fill-sequential"
  case get
  /// Gets without a fence between them: the processor may begin the next before this one has completed.
  case getOverlapping = "get-overlapping"
  case getArray = "get-array"
  case getZipfian = "get-zipfian"
  /// Gets on one thread while another overwrites.
  case getWhileWriting = "get-while-writing"
  case miss
  case multiGet = "multi-get"
  /// A hundred entries in the order of their keys, from a random one.
  case scan = "scan-100"
  case scanKeys = "scan-100-keys"
  /// All entries in the order of their keys, once; each is an operation.
  case scanWhole = "scan-whole"
  case scanWholeKeys = "scan-whole-keys"
  /// The entries whose keys begin as a random one does: about thirty.
  case prefix
  /// New keys where all are kept in order.
  case orderedFill = "ordered-fill"
  case orderedFillSequential = "ordered-fill-sequential"
  /// What does not ask for the order, where it is kept.
  case orderedGet = "ordered-get"
  case orderedOverwrite = "ordered-overwrite"
  /// An entry appended and the first one taken, of a queue of constant length.
  case queue
  case overwrite
  /// Many overwrites of each key; measures what they leave on disk.
  case overwriteSteady = "overwrite-steady"
  /// Twenty overwrites of each key, with merging and without.
  case overwriteMerging = "overwrite-merging"
  /// Gets while everything is being merged.
  case getMerging = "get-merging"
  /// YCSB's: gets and overwrites in equal parts, mostly of popular keys.
  case ycsbA = "ycsb-a"
  /// 95 gets to 5 overwrites.
  case ycsbB = "ycsb-b"
  case ycsbC = "ycsb-c"
  /// 95 gets of the newest keys to 5 new keys.
  case ycsbD = "ycsb-d"
  /// 95 scans of up to a hundred entries, from popular keys, to 5 new keys.
  case ycsbE = "ycsb-e"
  /// Gets, and gets followed by a put of the value with one field changed, in equal parts.
  case ycsbF = "ycsb-f"
  /// One key rewritten repeatedly.
  case oneKey = "one-key"
  /// Keys written and removed, of which only some are live at a time.
  case comeAndGo = "come-and-go"
  /// Keys that all expire.
  case expiring
  /// The requests of recorded traces to a store of limited capacity.
  case capacityTrace = "capacity-trace"
  /// Images put into a store of limited capacity, and into a file each.
  case capacityImages = "capacity-images"
  /// The requests of recorded traces to memory in front of a log, with a time to live.
  case hybridTrace = "hybrid-trace"
  /// Warm gets from memory in front of a log.
  case hybridGet = "hybrid-get"
  /// Packing of documents.
  case packing
  /// Gets of packed documents, compared with other engines that compress.
  case documents
  case delete
  /// Gets, gets of tasks, gets of 32 keys at a time, overwrites, YCSB's B, and gets beside merging, on a store larger than the
  /// memory there is.
  case beyondGet = "beyond-get"
  case beyondAsync = "beyond-async"
  case beyondMultiGet = "beyond-multi-get"
  case beyondOverwrite = "beyond-overwrite"
  case beyondYCSBB = "beyond-ycsb-b"
  case beyondGetMerging = "beyond-get-merging"
  case synced
  case syncedTasks = "synced-1000-tasks"
  case openClean = "open-clean"
  case openCrashed = "open-crashed"
  /// To the first hundred entries in order, of keys that were kept in order before the close.
  case openOrdered = "open-ordered"
  /// After a crash that left no checkpoint.
  case openScanned = "open-scanned"
  case growth
  /// A store that lets other processes write.
  case turns
  /// Structs set and read by key, as JSON and in the binary form.
  case typedSetJSON = "typed-set-json"
  case typedGetJSON = "typed-get-json"
  case typedSetBinary = "typed-set-binary"
  case typedGetBinary = "typed-get-binary"
  /// Fills a store and closes it, or is killed: the starting point of other workloads.
  case prepareClean = "prepare-clean"
  case prepareOrdered = "prepare-ordered"
  case prepareGrouped = "prepare-grouped"
  case prepareCrashed = "prepare-crashed"

  /// Whether the measured operations only read, stored or absent keys.
  var isRead: Bool {
    switch self {
    case .get, .getOverlapping, .getArray, .getZipfian, .orderedGet, .miss, .multiGet, .ycsbC: true
    default: scan != nil
    }
  }

  /// Whether new keys are put, one after the other, and nothing else is done.
  var isFill: Bool {
    switch self {
    case .fill, .fillSequential, .orderedFill, .orderedFillSequential, .synced: true
    case .prepareClean, .prepareOrdered, .prepareGrouped, .prepareCrashed: true
    default: false
    }
  }

  /// Whether Esker keeps its keys in order.
  var isOrdered: Bool {
    switch self {
    case .orderedFill, .orderedFillSequential, .orderedGet, .orderedOverwrite, .queue, .ycsbE, .prepareOrdered: true
    default: scan != nil
    }
  }

  /// What is scanned, where nothing else is done.
  var scan: ScanKind? {
    switch self {
    case .scan: ScanKind(limit: ScanKind.mostAtOnce)
    case .scanKeys: ScanKind(limit: ScanKind.mostAtOnce, isOfKeys: true)
    case .scanWhole: ScanKind(startLength: 0)
    case .scanWholeKeys: ScanKind(startLength: 0, isOfKeys: true)
    case .prefix: ScanKind(startLength: KeyBuffer.keyLength / 2, isPrefix: true)
    default: nil
    }
  }

  /// How a store of so many keys makes them from their numbers.
  func keyShape(_ keys: Int) -> KeyBuffer.Shape {
    switch self {
    case .fillSequential, .orderedFillSequential, .queue: .ascending
    case .prefix, .prepareGrouped: .grouped(count: max(keys / 32, 1))
    default: .scattered
    }
  }

  /// Whether the store has contents before the clock starts.
  var isOnStored: Bool {
    switch self {
    case .overwrite, .overwriteSteady, .orderedOverwrite, .delete, .getWhileWriting: true
    case .ycsbA, .ycsbB, .ycsbD, .ycsbE, .ycsbF: true
    default: isRead
    }
  }

  /// Whether the store is larger than the memory there is, and the measurement lasts a given time.
  var isBeyondMemory: Bool {
    switch self {
    case .beyondGet, .beyondAsync, .beyondMultiGet, .beyondOverwrite, .beyondYCSBB, .beyondGetMerging: true
    default: false
    }
  }

  /// Whether the store is the same afterwards.
  var leavesStore: Bool { isRead || self == .beyondGet || self == .beyondAsync || self == .beyondMultiGet }

  /// Whether the result is the total time rather than operations per second.
  var isOpen: Bool { [.openClean, .openCrashed, .openScanned, .openOrdered].contains(self) }

  var isSynced: Bool { self == .synced || self == .syncedTasks }

  /// The percentage of gets among the operations; nil for workloads that are not a mix.
  var readPercent: UInt32? {
    switch self {
    case .ycsbA, .ycsbF: 50
    case .ycsbB, .ycsbD, .ycsbE: 95
    default: nil
    }
  }

  /// Whether all subjects must read the same values.
  var comparesChecksums: Bool {
    switch self {
    case .synced, .syncedTasks, .openScanned, .growth, .turns, .getWhileWriting, .getMerging, .capacityImages: false
    case _ where isBeyondMemory: false
    default: true
    }
  }
}
