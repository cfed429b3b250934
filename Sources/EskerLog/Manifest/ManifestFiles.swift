internal import EskerFormat
internal import EskerPlatform

/// The two copies of the manifest.
///
/// An edit writes and syncs one copy and then the other, the older one first, so at every instant one copy is whole, and
/// damage to one copy later loses nothing: both hold the same.
///
/// Used by one thread at a time: under the manifest's lock, once the store is open.
final class ManifestFiles: @unchecked Sendable {
  private let paths: [String]
  private let fileSystem: any FileSystem
  private var files: [any File] = []
  /// The copy that was found missing or damaged: it is written first, before the one that is whole is touched.
  private var broken: Int?

  init(directory: String, fileSystem: any FileSystem) {
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

  /// Reads both copies until they are whole, or for as long as an edit may take that another process is in the middle of.
  func readBesideWriter(_ platform: Platform) throws(StoreError) -> Reading {
    for _ in 0..<100 {
      let reading = try read()
      // A copy that is missing does not come back by itself, and a store that was closed has no writer.
      if reading.damage.isEmpty || reading.newest?.state == .clean { return reading }
      platform.pause()
    }
    return try read()
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
    do throws(FormatError) {
      return .success(try Manifest(decoding: unsafe bytes.span.bytes))
    } catch {
      return .failure(error)
    }
  }

  /// Writes both copies, each durable before the next is begun. Creates them if need be.
  ///
  /// - Returns: bytes written.
  func write(_ manifest: Manifest, directory: String) throws(PlatformError) -> Int {
    let bytes = manifest.encoded()
    if files.isEmpty { try openForWriting(directory) }
    // Alternately, so that a copy torn by an earlier failure is replaced before the whole one is touched.
    let first = broken ?? Int(manifest.generation & 1)
    try replace(files[first], bytes)
    try replace(files[1 - first], bytes)
    broken = nil
    return bytes.count * 2
  }

  private func replace(_ file: any File, _ bytes: [UInt8]) throws(PlatformError) {
    if try file.status().size < bytes.count { try file.reserve((bytes.count + 8191) & ~4095) }
    try file.writeAll(bytes, at: 0)
    try file.sync()
  }

  private func openForWriting(_ directory: String) throws(PlatformError) {
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
