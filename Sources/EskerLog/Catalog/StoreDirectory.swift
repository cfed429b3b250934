internal import EskerFormat
internal import EskerPlatform

/// The directory of a store before the store is open: determines what it contains, and creates a new store in an empty
/// one.
struct StoreDirectory {
  let path: String
  let host: StoreHost
  /// The identity of the store that a copy is creating here: the mark of the copy is then no obstacle.
  var building: StoreID?
  /// The settings of a store that is created.
  var settings = StoredSettings()
  /// What the files that are there get, too.
  var attributes = FileAttributes()

  struct Opened {
    var session: Session?
    /// Of a store that is opened read-only.
    var presence: ReaderPresence?
    var files: ManifestFiles
    var manifest: Manifest
    var isNew = false
    /// Whether the history of openings was lost to damage.
    var lacksHistory = false
    /// Whether the manifest is certainly on disk, not only in the page cache.
    var isKnownDurable = false
    /// Damage that did not prevent the opening.
    var damage: [StoreEvent] = []
  }

  private var fileSystem: any FileSystem { host.platform.fileSystem }

  /// Reads the manifest, taking the lock unless the store is opened read-only, or is to be written to in turn and another process has it.
  func open(readOnly: Bool, inTurn: Bool = false) throws(StoreError) -> Opened {
    let status = try translating { () throws(PlatformError) -> FileStatus? in
      do throws(PlatformError) { return try fileSystem.status(path) } catch {
        if error.code == PlatformError.notADirectory { throw PlatformError("open", path: path, code: error.code) }
        throw error
      }
    }
    if let status {
      guard status.kind == .directory else { throw .notAStore(path: path) }
    } else {
      if readOnly { throw .failed(operation: "open", path: path, errno: PlatformError.notFound) }
      do throws(PlatformError) { try fileSystem.createDirectory(path) } catch {
        // Another process may have created it since.
        guard error.code == PlatformError.exists else { throw StoreError(error) }
      }
    }
    try refuseStrangers()
    if readOnly { return try openForReading() }
    let start = host.platform.clock.monotonicNanoseconds()
    while true {
      do throws(StoreError) { return try openForWriting(isShared: inTurn) } catch {
        // Whoever has it for itself hands it over to nobody.
        guard inTurn, case .locked = error, isShared else { throw error }
      }
      do throws(StoreError) { return try openBesideWriter() } catch {
        // That process may be creating it.
        guard case .notAStore = error, host.platform.clock.monotonicNanoseconds() &- start < Self.patience else {
          throw error
        }
      }
      host.platform.pause()
    }
  }

  /// Opens a store to write in turn, while another process has its turn.
  private func openBesideWriter() throws(StoreError) -> Opened {
    var opened = try openForReading()
    opened.session = try Session(besideWriterIn: path, host: host)
    return opened
  }

  /// How long the creation of a store may take that another process has begun, in nanoseconds.
  private static let patience: UInt64 = 10_000_000_000

  /// The names in a directory where a copy may be written: empty, or left by an interrupted copy of this kind; nil if
  /// there is no directory. Throws if it contains anything else.
  func namesForCopy(of kind: CopyKind) throws(StoreError) -> [String]? {
    guard let status = try translating({ () throws(PlatformError) in try fileSystem.status(path) }) else { return nil }
    guard status.kind == .directory else { throw .directoryNotEmpty(path: path) }
    let names = try translating { () throws(PlatformError) in try fileSystem.list(path) }
    if names.isEmpty || names.contains(kind.mark) { return names }
    try CopyKind.refuseUnfinished(names, at: path, fileSystem)
    throw .directoryNotEmpty(path: path)
  }

  /// The parent directory.
  var parent: String {
    let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }

  /// Throws if the directory contains anything but a complete store: an unfinished copy, or foreign files.
  private func refuseStrangers() throws(StoreError) {
    if building != nil { return }
    let names = try translating { () throws(PlatformError) in try fileSystem.list(path) }
    try CopyKind.refuseUnfinished(names, at: path, fileSystem)
    if names.contains(where: { FileName.manifests.contains($0) }) { return }
    // Segments without a manifest belong to a store that has lost both copies: it must not be replaced by a new one.
    if let segment = names.first(where: { FileName.segmentID($0) != nil }) {
      throw .damaged(
        StoreError.Location(path: "\(path)/\(segment)"),
        reason: "both copies of the manifest are missing; \(StoreError.remedy)"
      )
    }
    guard names.allSatisfy(FileName.isOurs) else { throw .notAStore(path: path) }
  }

  private func openForReading() throws(StoreError) -> Opened {
    let files = ManifestFiles(directory: path, fileSystem: fileSystem)
    // Checks the version before the lock file is touched.
    _ = try files.readBesideWriter(host.platform)
    let presence = try ReaderPresence(in: path, host.platform)
    // The writer may be editing it.
    let reading = try files.readBesideWriter(host.platform)
    if let manifest = reading.newest {
      var result = try opened(nil, files, manifest, reading)
      result.presence = presence
      return result
    }
    if reading.found == 0 { throw .notAStore(path: path) }
    // An interrupted creation has left no store yet: there is nothing to restore.
    if try isUnfinishedCreation(reading) { throw .notAStore(path: path) }
    throw unreadable(reading)
  }

  /// Whether the process that has the lock hands it over.
  private var isShared: Bool {
    guard let lock = try? LockFile(in: path, fileSystem) else { return false }
    defer { lock.close() }
    return ((try? lock.words()) ?? nil)?.isShared ?? false
  }

  private func openForWriting(isShared: Bool) throws(StoreError) -> Opened {
    // Checks the version before the lock file is touched: a newer store stays as it is.
    let files = ManifestFiles(directory: path, fileSystem: fileSystem)
    _ = try files.read()
    let session = try Session(directory: path, host: host, isShared: isShared)
    do throws(StoreError) {
      try setAttributes()
      let reading = try files.read()
      if let manifest = reading.newest {
        // The only copy may not be durable yet, and nothing else may be written before it is.
        if try isUnfinishedCreation(reading) { try finishCreation(manifest, files, session) }
        return try opened(session, files, manifest, reading)
      }
      // If no copy was ever complete, the store was never created.
      guard try isUnfinishedCreation(reading) else { throw unreadable(reading) }
      return try create(session, files)
    } catch {
      session.end()
      throw error
    }
  }

  /// Gives the files that are there the attributes that new ones get.
  private func setAttributes() throws(StoreError) {
    guard !attributes.isEmpty else { return }
    try translating { () throws(PlatformError) in
      try fileSystem.set(attributes, of: path)
      for name in try fileSystem.list(path) { try fileSystem.set(attributes, of: "\(path)/\(name)") }
    }
  }

  private func opened(
    _ session: Session?,
    _ files: ManifestFiles,
    _ manifest: Manifest,
    _ reading: ManifestFiles.Reading
  ) throws(StoreError) -> Opened {
    var result = Opened(session: session, files: files, manifest: manifest)
    result.isKnownDurable = reading.isUnanimous && session?.distrustsCache == false
    // The last edit of a cache may have synced one copy only, and a power failure torn the other.
    let mayBeTorn = manifest.settings.capacity != 0 && manifest.state == .open && !reading.lacksHistory
    let remedy =
      reading.lacksHistory ? "the history of openings begins anew" : "the other copy is intact and will replace it"
    result.damage = (mayBeTorn ? [] : reading.damage).map { path, error in
      guard case .damaged(let location, let reason) = StoreError(error, in: path, what: "a copy of the manifest") else {
        return .damaged(StoreError.Location(path: path), reason: "a copy of the manifest cannot be read")
      }
      return .damaged(location, reason: "\(reason); \(remedy)")
    }
    result.lacksHistory = reading.lacksHistory
    // While a store is being created, the other copy is about to be written.
    if reading.found < FileName.manifests.count, try !isUnfinishedCreation(reading) {
      let reason = "one copy of the manifest is missing; the other copy is intact and will replace it"
      result.damage.append(.damaged(StoreError.Location(path: path), reason: reason))
    }
    return result
  }

  /// True if the creation of the store was interrupted: it writes and syncs one copy before it begins the other, and both
  /// before anything else.
  private func isUnfinishedCreation(_ reading: ManifestFiles.Reading) throws(StoreError) -> Bool {
    let names = try translating { () throws(PlatformError) in try fileSystem.list(path) }
    // Another process may have begun a copy here since the names were checked.
    if building == nil { try CopyKind.refuseUnfinished(names, at: path, fileSystem) }
    return reading.blank > 0 && !names.contains { FileName.segmentID($0) != nil || FileName.checkpointID($0) != nil }
  }

  private func unreadable(_ reading: ManifestFiles.Reading) -> StoreError {
    guard let (path, error) = reading.damage.first else { return .notAStore(path: path) }
    guard case .damaged(let location, let reason) = StoreError(error, in: path, what: "the manifest") else {
      return StoreError(error, in: path, what: "the manifest")
    }
    return .damaged(
      location,
      reason: "\(reason), and the other copy is damaged too; \(StoreError.remedy)"
    )
  }

  private func create(_ session: Session, _ files: ManifestFiles) throws(StoreError) -> Opened {
    let random = host.platform.random
    var manifest = Manifest(
      storeID: building ?? StoreID(low: random(), high: random()),
      seed: HashSeed(low: random(), high: random())
    )
    manifest.generation = 1
    manifest.state = .clean
    manifest.settings = settings
    manifest.keyspaces = [KeyspaceRow(id: 0, name: "")]
    try finishCreation(manifest, files, session)
    var result = Opened(session: session, files: files, manifest: manifest)
    result.isNew = true
    return result
  }

  private func finishCreation(
    _ manifest: Manifest,
    _ files: ManifestFiles,
    _ session: Session
  ) throws(StoreError) {
    // Syncs the parent too, whoever created the directory and however far an earlier attempt got.
    try translating { () throws(PlatformError) in
      try fileSystem.syncDirectory(parent)
      do throws(ManifestFiles.Failure) { _ = try files.write(manifest, session) } catch { throw error.error }
      try fileSystem.syncDirectory(path)
    }
  }
}
