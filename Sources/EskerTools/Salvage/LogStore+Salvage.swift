public import EskerLog

extension LogStore {
  /// Creates a new store from everything that is intact in a damaged one, which is only read.
  ///
  /// No file of the store is indispensable: neither the manifest nor any header or checkpoint. Every record with a
  /// matching checksum counts, wherever it is, and of each key the record with the highest sequence number. The new store
  /// has its own identity and sequence numbers; the order and expiry of the entries stay the same. It is on stable
  /// storage when the call returns. If the call throws, what was written is removed; if it is interrupted, what is left
  /// cannot be opened (`StoreError.unfinishedCopy(path:mark:holder:)`), and the call may be repeated.
  ///
  /// A capacity limits nothing meanwhile, so no entry is evicted; it applies from the next opening on. Damage, and files
  /// that were packed, may have made room for less than is saved: see ``SalvageReport/bytesOverCapacity``.
  ///
  /// - Parameters:
  ///   - path: The damaged store. No process may have it open for writing.
  ///   - newPath: A path that does not exist, an empty directory, or what an interrupted salvage left.
  ///   - options: The options for writing the new store. What they leave open is as the damaged store remembers it.
  ///   - progress: Called with the share done, from 0 to 1; returns false to stop.
  /// - Throws: `StoreError.notAStore(path:)` if `path` contains no file of a store,
  ///   `StoreError.directoryNotEmpty(path:)`, `StoreError.locked(path:holder:)`,
  ///   `StoreError.unknownFormat(path:version:)`, `StoreError.cancelled` if `progress` stopped it, and what writing
  ///   throws. Damage is in the report.
  /// - Complexity: O(bytes); memory O(keys): 27 bytes for each.
  @discardableResult
  public static func salvage(
    from path: String,
    to newPath: String,
    options: Options = Options(),
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> SalvageReport {
    try salvage(from: path, to: newPath, options: options, host: .system, progress: progress)
  }

  @discardableResult
  package static func salvage(
    from path: String,
    to newPath: String,
    options: Options,
    host: StoreHost,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> SalvageReport {
    var salvage = try Salvage(try SalvageSource(at: path, host: host))
    let target = try ClosedStore(at: newPath, host: host)
    try target.checkRoomForRepair()
    try salvage.read { progress?($0 / 2) ?? true }
    let settings = salvage.source.manifest.map { Options.Settings($0.settings) }
    let losses = salvage.report.losses.map { loss in
      Report.Verification.Damage(
        location: loss.location,
        length: loss.length,
        reason: loss.reason,
        records: loss.records
      )
    }
    let excess = try target.makeRepaired(settings.map { options.completed(by: $0) } ?? options, noting: losses) {
      (store) throws(StoreError) in
      try salvage.write(to: store) { progress?(0.5 + $0 / 2) ?? true }
    }
    var report = salvage.report
    report.bytesOverCapacity = excess
    return report
  }
}
