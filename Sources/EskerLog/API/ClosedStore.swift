package import EskerFormat
package import EskerPlatform

/// The directory of a store that is not open, for code that works on its files.
package struct ClosedStore: Sendable {
  /// The directory's absolute path.
  package let path: String
  let host: StoreHost

  var fileSystem: any FileSystem { host.platform.fileSystem }

  package init(at path: String, host: StoreHost) throws(StoreError) {
    self.path = try host.absolute(path)
    self.host = host
  }

  /// Whether anything exists at the path, of whatever kind.
  package func exists() throws(StoreError) -> Bool {
    try translating { () throws(PlatformError) in try fileSystem.status(path) } != nil
  }

  /// The names of the files, sorted.
  ///
  /// - Throws: ``StoreError/notAStore(path:)`` if there is no directory, or neither a manifest nor a segment in it;
  ///   ``StoreError/unfinishedCopy(path:mark:holder:)``; ``StoreError/failed(operation:path:errno:)``.
  package func names() throws(StoreError) -> [String] {
    let status = try translating { () throws(PlatformError) in try fileSystem.status(path) }
    guard status?.kind == .directory else { throw .notAStore(path: path) }
    let names = try translating { () throws(PlatformError) in try fileSystem.list(path) }.sorted()
    try CopyKind.refuseUnfinished(names, at: path, fileSystem)
    guard names.contains(where: { FileName.manifests.contains($0) || FileName.segmentID($0) != nil }) else {
      throw .notAStore(path: path)
    }
    return names
  }

  /// The id in a segment's file name; nil for other names.
  package static func segmentID(_ name: String) -> UInt64? { FileName.segmentID(name) }

  /// The name of a segment's file.
  package static func segmentName(_ id: UInt64) -> String { FileName.segment(id) }

  /// Locks out writers until the returned file is released; nil if the lock file is not among the names.
  ///
  /// - Throws: ``StoreError/locked(path:holder:)``; ``StoreError/failed(operation:path:errno:)``.
  package func lock(_ names: [String]) throws(StoreError) -> (any File)? {
    guard names.contains(LockFile.name) else { return nil }
    let file = try translating { () throws(PlatformError) in try fileSystem.open("\(path)/\(LockFile.name)", .read) }
    guard try translating({ () throws(PlatformError) in try file.tryLock(exclusive: false) }) else {
      throw .locked(path: path, holder: LockFile(file).holder)
    }
    return file
  }

  /// The newest intact copy of the manifest.
  ///
  /// - Throws: ``StoreError/unknownFormat(path:version:)``; ``StoreError/failed(operation:path:errno:)``.
  package func manifest() throws(StoreError) -> Manifest? {
    try ManifestFiles(directory: path, fileSystem: fileSystem).read().newest?.withoutEvicted(in: path, fileSystem)
  }

  /// The same while a writer may be in the middle of an edit, with a description of each copy.
  package func manifestBesideWriter() throws(StoreError) -> (newest: Manifest?, copies: [Report.Manifest.Copy]) {
    let reading = try ManifestFiles(directory: path, fileSystem: fileSystem).readBesideWriter(host.platform)
    return (try reading.newest?.withoutEvicted(in: path, fileSystem), reading.copies)
  }

  /// What the manifest says of openings; see ``LogStore/history(at:)``.
  func history() throws(StoreError) -> Report.History {
    let reading = try ManifestFiles(directory: path, fileSystem: fileSystem).readBesideWriter(host.platform)
    return Report.History(
      reading.newest?.history ?? [],
      isDamaged: reading.newest == nil || reading.lacksHistory,
      in: path
    )
  }
}

/// The engine's rules and texts about damage, for other code that detects it.
package enum DamageRules {
  /// The most keys of a store that may share a hash.
  package static let mostAlike = Keydir.mostAlike
  /// The reason given if there are more.
  package static let tooManyAlike = Keydir.tooManyAlike
  /// The reason given for a packed record that only the footer lists.
  package static let missing = SegmentVerification.missing
}
