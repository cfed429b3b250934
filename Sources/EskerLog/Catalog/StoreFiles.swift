internal import EskerFormat
internal import EskerPlatform

/// Determines which files in a directory belong to a store, by their contents and not only by their names.
///
/// Safety: arrays outlive the closures and the decoding that they are lent to. Lengths are checked before, or by the
/// decoding.
struct StoreFiles {
  let directory: String
  let storeID: StoreID
  let fileSystem: any FileSystem

  /// Whether a store with this identity created the file.
  func owns(_ name: String) -> Bool {
    if FileName.segmentID(name) != nil || FileName.checkpointID(name) != nil { return ownsBySignature(name) }
    if name == FileName.statistics { return ownsStatistics() }
    if FileName.manifests.contains(name) { return ownsManifest(name) }
    return FileName.isOurs(name)
  }

  /// Whether a segment or a checkpoint carries the store's id, or was never written.
  func ownsBySignature(_ name: String) -> Bool {
    guard let bytes = beginning(of: name, 32) else { return false }
    if bytes.allSatisfy({ $0 == 0 }) { return true }
    guard bytes.count == 32 else { return false }
    // The id is at the same offset in a segment and in a checkpoint.
    let id = unsafe bytes.withUnsafeBytes { buffer in
      unsafe StoreID(
        low: UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
        high: UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
      )
    }
    return id == storeID
  }

  /// Whether a file of that common name contains statistics of this store, complete or not.
  func ownsStatistics() -> Bool {
    guard let bytes = beginning(of: FileName.statistics, StatisticsImage.length + 1) else { return false }
    return unsafe StatisticsImage.isOurs(bytes.span.bytes, of: storeID)
  }

  /// Whether a copy of the manifest belongs to this store, or to none because a crash left it incomplete.
  private func ownsManifest(_ name: String) -> Bool {
    guard let file = try? fileSystem.open("\(directory)/\(name)", .read) else { return false }
    defer { file.close() }
    guard let bytes = try? ContiguousArray(file.allBytes()) else { return false }
    do throws(FormatError) {
      return try Manifest(decoding: unsafe bytes.span.bytes).storeID == storeID
    } catch {
      if case .newerVersion = error { return false }
      return true
    }
  }

  /// Up to `count` bytes from the start of a file; nil if they cannot be read.
  private func beginning(of name: String, _ count: Int) -> ContiguousArray<UInt8>? {
    guard let file = try? fileSystem.open("\(directory)/\(name)", .read) else { return nil }
    defer { file.close() }
    return try? ContiguousArray(file.bytes(in: 0..<count))
  }
}
