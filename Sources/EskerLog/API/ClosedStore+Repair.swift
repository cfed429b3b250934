internal import EskerFormat
internal import EskerPlatform

extension ClosedStore {
  /// Throws unless a repaired store can be created here.
  package func checkRoomForRepair() throws(StoreError) {
    _ = try StoreDirectory(path: path, host: host).namesForCopy(of: .repair)
  }

  /// Creates a new store here with what `fill` writes. It carries the mark of a repair until it is on stable storage; on any
  /// error, it is removed.
  ///
  /// Nothing is evicted meanwhile: a capacity is recorded at the end, and takes effect with the next opening.
  ///
  /// - Parameter losses: What could not be read, for the history of the new store.
  /// - Returns: The number of bytes by which the new store exceeds its capacity; 0 if it does not.
  package func makeRepaired(
    _ options: Options,
    noting losses: [Report.Verification.Damage],
    _ fill: (LogStore) throws(StoreError) -> Void
  ) throws(StoreError) -> Int {
    var options = options
    options.readOnly = false
    try options.check(for: path)
    let random = host.platform.random
    let storeID = StoreID(low: random(), high: random())
    var directory = try MarkedDirectory(at: path, for: .repair, of: storeID, host: host)
    do throws(StoreError) {
      let store = try LogStore(building: storeID, at: path, options: options.withoutCapacity, host: host)
      do throws(StoreError) { try fill(store) } catch {
        store.engine.abandon()
        throw error
      }
      store.engine.noteRepair(losses)
      try store.close()
      var excess = 0
      let settings = Options.Settings().changed(by: options)
      if let capacity = settings.capacity {
        try record(settings)
        excess = max(0, try size() - capacity)
      }
      try directory.finish()
      return excess
    } catch {
      directory.abandon()
      throw error
    }
  }

  /// Writes settings to the manifest, durably, and removes the files that a store of that capacity would evict entries for and
  /// can do without: the checkpoint and the reserve.
  private func record(_ settings: Options.Settings) throws(StoreError) {
    let files = ManifestFiles(directory: path, fileSystem: fileSystem)
    defer { files.close() }
    guard var manifest = try files.read().newest else { throw .notAStore(path: path) }
    manifest.generation += 1
    manifest.settings = StoredSettings(settings)
    manifest.checkpointID = 0
    do throws(ManifestFiles.Failure) { _ = try files.write(manifest, nil) } catch { throw StoreError(error.error) }
    try translating { () throws(PlatformError) in
      for name in try fileSystem.list(path) where name == FileName.reserve || FileName.checkpointID(name) != nil {
        try fileSystem.remove("\(path)/\(name)")
      }
    }
  }

  /// Bytes of all files, in whole pages, as a store with a capacity counts them.
  private func size() throws(StoreError) -> Int {
    try translating { () throws(PlatformError) in
      var total = 0
      for name in try fileSystem.list(path) {
        total += ((try fileSystem.status("\(path)/\(name)")?.size ?? 0) + 4095) & ~4095
      }
      return total
    }
  }
}

extension Options {
  /// The same without a capacity. Segments are as small as one calls for, or a later eviction would take much at once.
  fileprivate var withoutCapacity: Options {
    var options = self
    let settings = Options.Settings().changed(by: self)
    if let capacity = settings.capacity {
      let least = Int(StoredSettings.segmentSizes.lowerBound)
      options.segmentSize = max(least, min(settings.segmentSize, Catalog.segmentSize(of: capacity)))
    }
    options.capacity = .max
    return options
  }
}
