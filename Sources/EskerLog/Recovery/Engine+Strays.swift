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
    let files = StoreFiles(directory: path, storeID: storeID, fileSystem: platform.fileSystem)
    let strays = names.filter { name in
      if let id = FileName.segmentID(name) { return !listed.contains(id) && files.ownsBySignature(name) }
      if let id = FileName.checkpointID(name) { return id != manifest.checkpointID && files.ownsBySignature(name) }
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
    if names.contains(FileName.statistics), files.ownsStatistics() {
      try? platform.fileSystem.remove("\(path)/\(FileName.statistics)")
    }
  }
}
