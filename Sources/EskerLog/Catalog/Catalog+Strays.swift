internal import EskerFormat
internal import EskerPlatform

extension Catalog {
  /// Removes files that a crash left unlisted: written but not listed yet, or delisted but not removed yet.
  ///
  /// Only files that carry this store's id, or nothing at all, may be removed; and only if the manifest that was read is
  /// certainly durable: after a crash during an edit, or a failed sync, a power failure may bring back the previous one,
  /// which lists them. They are then removed after the next edit.
  func removeStrays(_ names: [String], _ manifest: Manifest, isDurable: Bool) {
    let listed = Set(manifest.segments.map(\.id))
    let files = StoreFiles(directory: env.path, storeID: env.storeID, fileSystem: env.platform.fileSystem)
    let strays = names.filter { name in
      if let id = FileName.segmentID(name) { return !listed.contains(id) && files.ownsBySignature(name) }
      if let id = FileName.checkpointID(name) { return id != manifest.checkpointID && files.ownsBySignature(name) }
      return name == FileName.temporary
    }
    for name in strays {
      let stray = "\(env.path)/\(name)"
      if isDurable {
        removeFile(stray)
      } else {
        discardLater([stray])
      }
    }
    // Published statistics are never part of the store's state.
    if names.contains(FileName.statistics), files.ownsStatistics() {
      try? env.platform.fileSystem.remove("\(env.path)/\(FileName.statistics)")
    }
  }
}
