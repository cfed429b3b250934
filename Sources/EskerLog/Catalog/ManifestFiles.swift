internal import EskerFormat
internal import EskerPlatform

/// The two copies of the manifest.
///
/// An edit writes and syncs one copy and then the other, the older one first, so at any time one copy is intact, and
/// later damage to one copy loses nothing: both have the same contents.
///
/// Safety: one thread at a time uses it: the thread that opens the store, and then whoever holds the lock of the
/// manifest.
final class ManifestFiles: @unchecked Sendable {
  private let directory: String
  private let paths: [String]
  private let fileSystem: any FileSystem
  private var files: [any File] = []
  /// The copy that is written first, before the other is touched: one that was found missing or damaged, or may not be on the device.
  private var broken: Int?
  /// How far each copy may have anything but zeros. What a longer manifest had there is not left behind: names of keyspaces that were
  /// removed.
  private var ends: [Int] = []

  init(directory: String, fileSystem: any FileSystem) {
    self.directory = directory
    paths = FileName.manifests.map { "\(directory)/\($0)" }
    self.fileSystem = fileSystem
  }

  /// The contents of the copies.
  struct Reading {
    var newest: Manifest?
    /// The damaged copies.
    var damage: [(path: String, error: FormatError)] = []
    var found = 0
    /// How many copies are missing or were never written.
    var blank = 0
    /// Whether both copies are intact and the same.
    var isUnanimous = false
    /// Whether no copy is intact, and the newest is so but for its history.
    var lacksHistory = false
    /// Each copy, including missing ones.
    var copies: [Report.Manifest.Copy] = []
  }

  /// Reads both copies until they are intact, or damaged while no process writes them. If a write takes long, or its
  /// process was killed, its copy does not count as damaged if the other is intact: the next write begins with it.
  func readBesideWriter(_ platform: Platform) throws(StoreError) -> Reading {
    var reading = try read()
    for _ in 0..<100 where !reading.damage.isEmpty {
      let edits = LockFile.edits(in: directory, fileSystem)
      reading = try read()
      if edits.map({ $0 & 1 == 0 }) ?? true, edits == LockFile.edits(in: directory, fileSystem) { return reading }
      platform.pause()
    }
    if reading.newest != nil { reading.damage = [] }
    return reading
  }

  /// Reads both copies.
  func read() throws(StoreError) -> Reading {
    var reading = Reading()
    var generations: [UInt64] = []
    var withoutHistory: [(position: Int, manifest: Manifest)] = []
    broken = nil
    for (position, path) in paths.enumerated() {
      let bytes = try translating { () throws(PlatformError) in try contents(of: path) }
      if bytes?.allSatisfy({ $0 == 0 }) ?? true { reading.blank += 1 }
      switch bytes.map({ Self.decode($0) }) {
      case nil:
        broken = position
        reading.copies.append(.init(path: path, generation: nil, damage: "the copy is missing"))
      case .success(let manifest):
        reading.found += 1
        reading.copies.append(.init(path: path, generation: manifest.generation, damage: nil))
        generations.append(manifest.generation)
        if reading.newest.map({ $0.generation < manifest.generation }) ?? true { reading.newest = manifest }
      case .failure(let error):
        reading.found += 1
        if case .newerVersion(let version) = error { throw .unknownFormat(path: path, version: version) }
        broken = position
        reading.damage.append((path, error))
        reading.copies.append(.init(path: path, generation: nil, damage: error.words))
        if let bytes, case .success(let manifest) = Self.decode(bytes, forgetsHistory: true) {
          withoutHistory.append((position, manifest))
        }
      }
    }
    // A store can do without its history. As long as one copy is intact, though, one with a damaged history counts as torn.
    if reading.newest == nil, let newest = withoutHistory.max(by: { $0.manifest.generation < $1.manifest.generation }) {
      reading.newest = newest.manifest
      reading.lacksHistory = true
      // As below: of two, the newer one is replaced first.
      broken = withoutHistory.count == 2 ? newest.position : 1 - newest.position
    }
    reading.isUnanimous = generations.count == 2 && generations[0] == generations[1]
    // Of a writer that was killed before it had synced the newer one, only the older is certain to be there after a power failure.
    if generations.count == 2, !reading.isUnanimous { broken = generations[0] > generations[1] ? 0 : 1 }
    return reading
  }

  private func contents(of path: String) throws(PlatformError) -> [UInt8]? {
    guard try fileSystem.status(path) != nil else { return nil }
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    // Far more than the size of any manifest.
    return try file.bytes(in: 0..<min(file.status().size, 1 << 30))
  }

  private static func decode(_ bytes: [UInt8], forgetsHistory: Bool = false) -> Result<Manifest, FormatError> {
    let bytes = ContiguousArray(bytes)
    // Safety: the array outlives the decoding, which checks its length.
    do throws(FormatError) {
      return .success(try Manifest(decoding: unsafe bytes.span.bytes, forgetsHistory: forgetsHistory))
    } catch {
      return .failure(error)
    }
  }

  /// Why a manifest was not written.
  enum Failure: Error {
    /// The next opening certainly finds the previous manifest.
    case nothingWritten(PlatformError)
    /// The next opening may find either manifest.
    case unknown(PlatformError)

    var error: PlatformError {
      switch self {
      case .nothingWritten(let error), .unknown(let error): error
      }
    }
  }

  /// Writes both copies, the second once the first is durable. Creates them if needed.
  ///
  /// - Parameters:
  ///   - session: Tells other processes that the copies are being written.
  ///   - isBrief: Leaves it to the system when the second copy gets to the device. The next edit does not touch the first before the
  ///     second is durable, so that a power failure finds one of them intact at any time.
  /// - Returns: The number of bytes written.
  func write(_ manifest: Manifest, _ session: Session?, isBrief: Bool = false) throws(Failure) -> Int {
    let bytes = manifest.encoded()
    // What could not be read again, such as a number that a forger brought to its limit, must not take the place of what can.
    if case .failure = Self.decode(bytes) {
      throw .nothingWritten(PlatformError("encode", path: paths[0], code: PlatformError.invalid))
    }
    do throws(PlatformError) {
      if files.isEmpty { try openForWriting() }
      // For both before either is changed: a full volume must not stop the edit halfway.
      for file in files where try file.status().size < bytes.count { try file.reserve((bytes.count + 4095) & ~4095) }
    } catch {
      throw error.isSync ? .unknown(error) : .nothingWritten(error)
    }
    // In alternation, so that a copy torn by an earlier failure is replaced before the intact one is touched.
    let first = broken ?? Int(manifest.generation & 1)
    session?.editBegan()
    defer { session?.editEnded() }
    do throws(PlatformError) { try write(bytes, to: first) } catch {
      broken = first
      // On some file systems even overwriting takes space. The other copy is still intact.
      throw error.isFull && !mayHold(manifest, at: first) ? .nothingWritten(error) : .unknown(error)
    }
    do throws(PlatformError) {
      try files[first].sync()
      try write(bytes, to: 1 - first)
      if !isBrief || broken != nil { try files[1 - first].sync() }
    } catch { throw .unknown(error) }
    broken = nil
    return bytes.count * 2
  }

  private func write(_ bytes: [UInt8], to position: Int) throws(PlatformError) {
    let rest = max(0, ends[position] - bytes.count)
    ends[position] = max(ends[position], bytes.count)
    try files[position].writeAll(bytes + repeatElement(0, count: rest), at: 0)
    ends[position] = bytes.count
  }

  /// Whether a copy may contain this manifest. A partly written one most likely cannot be read.
  private func mayHold(_ manifest: Manifest, at position: Int) -> Bool {
    guard let bytes = try? contents(of: paths[position]) else { return true }
    guard case .success(let found) = Self.decode(bytes) else { return false }
    return found.generation == manifest.generation
  }

  private func openForWriting() throws(PlatformError) {
    var isNew = false
    var opened: [any File] = []
    ends = []
    for path in paths {
      let status = try fileSystem.status(path)
      let exists = status != nil
      ends.append(status?.size ?? 0)
      opened.append(try fileSystem.open(path, exists ? .readWrite : .create))
      isNew = isNew || !exists
    }
    if isNew { try fileSystem.syncDirectory(directory) }
    files = opened
  }

  func close() {
    for file in files { file.close() }
    files = []
  }
}
