internal import EskerFormat
internal import EskerPlatform

extension Engine {
  /// Removes files that a crash left between being written and being listed, or between being delisted and removed.
  ///
  /// Only files that carry this store's id, or nothing at all, are Esker's to remove. And only when the manifest that was
  /// read is on the disk for certain: after a crash amid an edit, or a failed sync, a power failure may bring back the one
  /// before it, which lists them. They are then removed after the next edit.
  func removeStrays(_ names: [String], _ manifest: Manifest, isDurable: Bool) {
    let listed = Set(manifest.segments.map(\.id))
    let strays = names.filter { name in
      if let id = FileName.segmentID(name) { return !listed.contains(id) && isOurs(name) }
      if let id = FileName.checkpointID(name) { return id != manifest.checkpointID && isOurs(name) }
      return name == FileName.temporary
    }
    for name in strays {
      let stray = "\(path)/\(name)"
      if isDurable {
        // What cannot be removed now is removed by a later opening.
        try? platform.fileSystem.remove(stray)
      } else {
        writer.withLock { _ in discarded.append(stray) }
      }
    }
    // No state of the store has anything to do with these.
    if names.contains(FileName.statistics), areOurStatistics() {
      try? platform.fileSystem.remove("\(path)/\(FileName.statistics)")
    }
  }

  /// Whether a file says that it belongs to this store, or says nothing because it was never written.
  private func isOurs(_ name: String) -> Bool {
    guard let bytes = beginning(of: name, 32) else { return false }
    if bytes.allSatisfy({ $0 == 0 }) { return true }
    guard bytes.count == 32 else { return false }
    // The id stands at the same place in a segment and in a checkpoint.
    let id = unsafe bytes.withUnsafeBytes { buffer in
      unsafe StoreID(
        low: UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
        high: UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
      )
    }
    return id == storeID
  }

  /// Whether a file of that everyday name is what a killed process had to say of this store, or what it or a power failure
  /// left of an attempt: nothing, or as many zeros.
  private func areOurStatistics() -> Bool {
    guard let bytes = beginning(of: FileName.statistics, StatisticsImage.length + 1) else { return false }
    if bytes.count <= StatisticsImage.length, bytes.allSatisfy({ $0 == 0 }) { return true }
    return unsafe StatisticsImage.storeID(beginning: bytes.span.bytes) == storeID
  }

  /// Up to so many bytes from a file's start; nil when they cannot be read.
  private func beginning(of name: String, _ count: Int) -> [UInt8]? {
    guard let file = try? platform.fileSystem.open("\(path)/\(name)", .read) else { return nil }
    defer { file.close() }
    return try? file.bytes(in: 0..<count)
  }
}
