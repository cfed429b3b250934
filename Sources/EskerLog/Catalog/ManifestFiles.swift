internal import EskerFormat
internal import EskerPlatform

/// The two copies of the manifest.
///
/// An edit writes and syncs one copy and then the other, the older one first, so at every instant one copy is whole, and
/// damage to one copy later loses nothing: both hold the same.
///
/// Used by one thread at a time: under the manifest's lock, once the store is open.
///
/// Safety: one thread at a time uses it: the thread that opens the store, and then whoever holds the lock of the
/// manifest.
final class ManifestFiles: @unchecked Sendable {
  private let directory: String
  private let paths: [String]
  private let fileSystem: any FileSystem
  private var files: [any File] = []
  /// The copy that was found missing or damaged: it is written first, before the one that is whole is touched.
  private var broken: Int?

  init(directory: String, fileSystem: any FileSystem) {
    self.directory = directory
    paths = FileName.manifests.map { "\(directory)/\($0)" }
    self.fileSystem = fileSystem
  }

  /// What the copies hold.
  struct Reading {
    var newest: Manifest?
    /// What is wrong with a copy, if something is.
    var damage: [(path: String, error: FormatError)] = []
    var found = 0
    /// Copies that are missing or were never written.
    var blank = 0
    /// Whether both copies are whole and the same.
    var isUnanimous = false
    /// The copies one by one, those that are missing included.
    var copies: [ManifestDescription.Copy] = []
  }

  /// Reads both copies until they are whole, or damaged while nobody writes them. A copy that another process takes long to
  /// write, or was killed while it wrote, is no damage beside one that is whole: the next write begins with it.
  func readBesideWriter(_ platform: Platform) throws(StoreError) -> Reading {
    var reading = try read()
    for _ in 0..<100 where !reading.damage.isEmpty {
      let edits = Session.edits(in: directory, fileSystem)
      reading = try read()
      if edits.map({ $0 & 1 == 0 }) ?? true, edits == Session.edits(in: directory, fileSystem) { return reading }
      platform.pause()
    }
    if reading.newest != nil { reading.damage = [] }
    return reading
  }

  /// Reads both copies.
  func read() throws(StoreError) -> Reading {
    var reading = Reading()
    var generations: [UInt64] = []
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
      }
    }
    reading.isUnanimous = generations.count == 2 && generations[0] == generations[1]
    return reading
  }

  private func contents(of path: String) throws(PlatformError) -> [UInt8]? {
    guard try fileSystem.status(path) != nil else { return nil }
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    // Far more than any manifest: what is larger is not one.
    return try file.bytes(in: 0..<min(file.status().size, 1 << 30))
  }

  private static func decode(_ bytes: [UInt8]) -> Result<Manifest, FormatError> {
    // Safety: the array outlives the decoding, which checks its length.
    do throws(FormatError) {
      return .success(try Manifest(decoding: unsafe bytes.span.bytes))
    } catch {
      return .failure(error)
    }
  }

  /// Why a manifest was not written.
  enum Failure: Error {
    /// The next opening finds what was there before, for certain.
    case nothingWritten(PlatformError)
    /// The next opening may find either.
    case unknown(PlatformError)

    var error: PlatformError {
      switch self {
      case .nothingWritten(let error), .unknown(let error): error
      }
    }
  }

  /// Writes both copies, each durable before the next is begun. Creates them if need be.
  ///
  /// - Parameter session: says to others that the copies are being written.
  /// - Returns: bytes written.
  func write(_ manifest: Manifest, _ session: Session?) throws(Failure) -> Int {
    let bytes = manifest.encoded()
    do throws(PlatformError) {
      if files.isEmpty { try openForWriting() }
      // For both, before either is changed: a full volume must not stop the edit half way.
      for file in files where try file.status().size < bytes.count { try file.reserve((bytes.count + 8191) & ~4095) }
    } catch {
      throw error.isSync ? .unknown(error) : .nothingWritten(error)
    }
    // Alternately, so that a copy torn by an earlier failure is replaced before the whole one is touched.
    let first = broken ?? Int(manifest.generation & 1)
    session?.editBegan()
    defer { session?.editEnded() }
    do throws(PlatformError) { try files[first].writeAll(bytes, at: 0) } catch {
      broken = first
      // Where even writing over takes space; what is torn now has the other copy beside it.
      throw error.isFull && !mayHold(manifest, at: first) ? .nothingWritten(error) : .unknown(error)
    }
    do throws(PlatformError) {
      try files[first].sync()
      try files[1 - first].writeAll(bytes, at: 0)
      try files[1 - first].sync()
    } catch { throw .unknown(error) }
    broken = nil
    return bytes.count * 2
  }

  /// Whether a copy may be read as that manifest. One that was written in part most likely cannot.
  private func mayHold(_ manifest: Manifest, at position: Int) -> Bool {
    guard let bytes = try? contents(of: paths[position]) else { return true }
    guard case .success(let found) = Self.decode(bytes) else { return false }
    return found.generation == manifest.generation
  }

  private func openForWriting() throws(PlatformError) {
    var isNew = false
    var opened: [any File] = []
    for path in paths {
      let exists = try fileSystem.status(path) != nil
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
