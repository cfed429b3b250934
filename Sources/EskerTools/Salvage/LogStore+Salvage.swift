public import EskerLog

extension LogStore {
  /// Makes a new store of everything that is intact in a damaged one, which is only read.
  ///
  /// Needs none of the store's files in particular: not the manifest, no header, no checkpoint. Each record that has its
  /// checksum counts, wherever it stands, and the newest of a key decides by its sequence number. The new store has an
  /// identity and sequence numbers of its own; order and expiry of the entries stay. It is on stable storage when the call
  /// returns. If the call throws, what was written is removed; if it is interrupted, what is left is refused by every opening,
  /// with `StoreError.unfinishedCopy(path:mark:holder:)`, and the call may be made again.
  ///
  /// - Parameters:
  ///   - path: the damaged store. No process may have it open for writing.
  ///   - newPath: where nothing is yet, an empty directory, or what an interrupted salvage left.
  ///   - options: how the new store is written.
  ///   - progress: told the share that is done, from 0 to 1; returns false to stop.
  /// - Throws: `StoreError.notAStore(path:)` if there is no file of a store at `path`,
  ///   `StoreError.directoryNotEmpty(path:)`, `StoreError.locked(path:holder:)`,
  ///   `StoreError.unknownFormat(path:version:)`, `StoreError.cancelled` when `progress` stopped it, and what writing throws. Damage is in the report.
  /// - Complexity: O(bytes); memory O(keys), for a hash and a place each.
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
    host: Host,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> SalvageReport {
    var salvage = Salvage(try SalvageSource(at: path, host: host))
    let target = ClosedStore(at: newPath, host: host)
    try target.checkRoomForRepair()
    try salvage.read { progress?($0 / 2) ?? true }
    try target.makeRepaired(options) { (store) throws(StoreError) in
      try salvage.write(to: store) { progress?(0.5 + $0 / 2) ?? true }
    }
    return salvage.report
  }
}
