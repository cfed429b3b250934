import ArgumentParser
import Esker
import EskerPlatform
import EskerTools
import Foundation

/// The store that a command works on.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Flag(name: [.short, .long], help: "Print only results and errors: no progress, no summary.")
  var quiet = false

  /// The store, if it is open already, as in a shell.
  var opened: OpenedStore?

  private enum CodingKeys: CodingKey {
    case store, quiet
  }

  /// Opens the store read-only, even while it is open for writing elsewhere, and calls `body`.
  ///
  /// - Parameter namesDamage: Whether the output of `body` includes all damage that opening may find.
  /// - Throws: What `body` throws; ``ToolError/damageFound`` if it succeeded on a damaged store.
  func read<R>(namesDamage: Bool = false, _ body: (LogStore) throws -> R) throws -> R {
    if let opened, opened.path == store { return try opened.read(body) }
    try require()
    let notices = StoreNotices(sayingDamage: !namesDamage)
    var options = Options()
    options.readOnly = true
    options.onEvent = { notices.receive($0) }
    let result = try closing(open(options), body)
    if notices.foundDamage { throw ToolError.damageFound }
    return result
  }

  /// Examines the store's files without opening it.
  func inspection() throws -> StoreInspection {
    try require()
    return try StoreInspection(at: store)
  }

  /// Computes a breakdown of the store's bytes; a signal cancels it.
  func usage(of store: LogStore) throws(StoreError) -> Statistics.Usage {
    Interruption.install()
    let progress = Progress("counting", total: store.statistics.bytesOnDisk, isQuiet: quiet)
    defer { progress.clear() }
    return try store.usage { progress.goesOn($0) }
  }

  /// How long a command waits for a process that shares the store to let it write.
  static let patience = Duration.seconds(5)

  /// Opens the store for writing, in turn with other processes if these share it, and calls `body`; `creating`: creates the store if there is none; `publishing`: the
  /// interval at which to publish statistics; `options`: what the store is to remember; `notices`: hear of damage.
  func write<R>(
    creating: Bool,
    publishing interval: Duration? = nil,
    _ options: Options = Options(),
    notices: StoreNotices = StoreNotices(),
    _ body: (LogStore) throws -> R
  ) throws -> R {
    if let opened, opened.path == store { return try opened.write(body) }
    if !creating { try require() }
    var options = options
    options.statisticsInterval = interval
    options.sharing = .inTurn(patience: Self.patience)
    options.onEvent = { notices.receive($0) }
    return try closing(open(options), body)
  }

  private func open(_ options: Options) throws -> LogStore {
    try Waiting.during("opening", isQuiet: quiet) { try LogStore(at: store, options: options) }
  }

  /// Calls `body` and closes the store; an error from closing is thrown only if `body` succeeded.
  private func closing<R>(_ store: LogStore, _ body: (LogStore) throws -> R) throws -> R {
    let result: R
    do {
      result = try body(store)
    } catch {
      try? store.close()
      throw error
    }
    try store.close()
    return result
  }

  /// Throws if there is nothing at a path given for another store.
  func require(at path: String) throws(ToolError) {
    guard SystemCalls.status(path) == nil else { return }
    throw errno == ENOENT ? .noStore(path: path) : .system(operation: "open", path: path, errno: errno)
  }

  /// Throws if what is to be made would be inside the store's directory, and be lost with it.
  func requireOutside(_ path: String) throws(ToolError) { try Self.requireOutside(path, ofStore: store) }

  /// Throws if a path leads to a place inside a store's directory.
  static func requireOutside(_ path: String, ofStore store: String) throws(ToolError) {
    guard let own = SystemCalls.status(store) else { return }
    var place = URL(fileURLWithPath: path).standardizedFileURL
    while place.path != "/" {
      place.deleteLastPathComponent()
      guard let status = SystemCalls.status(place.path) else { continue }
      guard status.st_dev == own.st_dev, status.st_ino == own.st_ino else { continue }
      // Of another directory it is to be said that it is no store.
      if hasSegments(store) { throw .insideStore(path: path, store: store) }
      return
    }
  }

  private static func hasSegments(_ directory: String) -> Bool {
    let names = try? FileManager.default.contentsOfDirectory(atPath: directory)
    return names?.contains { $0.hasSuffix(".segment") } ?? false
  }

  /// Throws if there is no store: opening for writing would create one at a missing path or in an empty directory.
  func require() throws { try Self.requireStore(at: store) }

  /// Throws if there is no store at the path.
  static func requireStore(at path: String) throws {
    guard let status = SystemCalls.status(path) else {
      throw errno == ENOENT
        ? ToolError.noStore(path: path) : ToolError.system(operation: "open", path: path, errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw StoreError.notAStore(path: path) }
    guard try !isEmptyDirectory(path) else { throw ToolError.noStore(path: path) }
  }

  private static func isEmptyDirectory(_ path: String) throws(ToolError) -> Bool {
    do throws(PlatformError) { return try OSFileSystem().list(path).isEmpty } catch {
      throw .system(operation: "open", path: path, errno: error.code)
    }
  }
}

/// The keyspace that a command works on.
struct KeyspaceOption: ParsableArguments {
  @Option(
    name: [.customShort("k"), .long],
    help: ArgumentHelp("Use this keyspace instead of the default one.", valueName: "name"),
    completion: .keyspaces
  )
  var keyspace: String?

  /// The keyspace, created if necessary.
  func writable(in store: LogStore) throws(StoreError) -> Keyspace {
    try store.keyspace(keyspace ?? "")
  }

  /// The name of the keyspace, which must exist; nil if none is named.
  func name(in store: LogStore) throws -> String? { keyspace == nil ? nil : try existing(in: store).name }

  /// Says where there are entries if no keyspace was named, and nothing was found in the default one.
  ///
  /// - Parameter ifEmpty: Only if the default one is empty.
  func noteOthers(in store: LogStore, ifEmpty: Bool = false, isQuiet: Bool) throws(StoreError) {
    guard !isQuiet, keyspace == nil else { return }
    let others = store.statistics.keyspaces.filter { !$0.key.isEmpty && $0.value.keys > 0 }
    guard !others.isEmpty else { return }
    let isEmpty = try store.default.count() == 0
    guard isEmpty || !ifEmpty else { return }
    let names = others.keys.sorted()
    let shown = names.prefix(5).map { escaped(Array($0.utf8)) }.joined(separator: ", ")
    StandardError.report(
      "\(isEmpty ? "the default keyspace is empty" : "only the default keyspace was searched"), others have \(NumberText.count(others.values.reduce(0) { $0 + $1.keys }, "key")): name one with "
        + "--keyspace: \(shown)\(names.count > 5 ? ", ..." : "")"
    )
  }

  /// Whether the store has it.
  func exists(in store: LogStore) throws(StoreError) -> Bool {
    guard let keyspace, !keyspace.isEmpty else { return true }
    return try store.keyspaceNames.contains(keyspace)
  }

  /// The keyspace, which must exist.
  func existing(in store: LogStore) throws -> Keyspace {
    guard try exists(in: store) else { throw try ToolError.noKeyspace(keyspace ?? "", in: store) }
    return try writable(in: store)
  }
}

extension ToolError {
  /// The error for a keyspace that a store does not have, with the name that may have been meant.
  static func noKeyspace(_ name: String, in store: LogStore) throws(StoreError) -> ToolError {
    .noKeyspace(name, path: store.path, meant: nearest(to: name, among: try store.keyspaceNames.sorted()))
  }
}

extension LogStore {
  /// The name of one keyspace; nil: of all of them.
  func keyspaces(_ name: String?) throws(StoreError) -> [String] {
    if let name { [name] } else { try [""] + keyspaceNames }
  }

  /// How many keys a keyspace has; nil: all of them.
  func count(in keyspace: String?) throws(StoreError) -> Int {
    guard let keyspace else { return try totalCount() }
    return try self.keyspace(keyspace).count()
  }
}
