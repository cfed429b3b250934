extension LogStore {
  /// Copies the store as it is at one instant, while reads and writes continue.
  ///
  /// The copy is a store: open it, or ``restore(from:to:copying:progress:)`` it elsewhere. Where the file system supports it,
  /// sealed segments are shared as hard links; only the end of the log is copied. A shared file is never written again, so neither
  /// store affects the other, and each may be deleted. All data is verified first: a damaged store is not copied.
  ///
  /// The whole backup is on stable storage when the call returns. If the call throws, what was written is removed. If it is
  /// interrupted, opening the rest throws ``StoreError/unfinishedCopy(path:mark:holder:)``, and the call may be repeated.
  ///
  /// - Parameters:
  ///   - directory: a path where nothing exists, an empty directory, or the rest of an interrupted backup.
  ///   - previous: an earlier backup of this store. Files that it already has are shared with it and not copied again, which
  ///     makes a backup to another volume incremental. Both are complete, and either may be deleted. An empty directory has
  ///     nothing to share.
  ///   - copying: whether to copy everything instead of sharing files with the store, so that a bad block affects only one.
  ///   - progress: called with the share done, from 0 to 1; returns false to stop.
  /// - Throws: ``StoreError/damaged(_:reason:)``, which locates the damage, before anything was written;
  ///   ``StoreError/cancelled`` if `progress` stopped it; ``StoreError/directoryNotEmpty(path:)``;
  ///   ``StoreError/unfinishedCopy(path:mark:holder:)`` if another copy is being made there, or one of another kind was
  ///   interrupted; ``StoreError/otherStore(path:)``, ``StoreError/notAStore(path:)`` and
  ///   ``StoreError/unfinishedCopy(path:mark:holder:)`` if `previous` is not a backup of this store;
  ///   ``StoreError/noSpace(path:needed:)``; ``StoreError/failed(operation:path:errno:)``.
  /// - Complexity: O(bytes): reads all of them and copies some.
  @discardableResult
  public func backup(
    to directory: String,
    reusing previous: String? = nil,
    copying: Bool = false,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> Report.Backup {
    try Backup(of: engine).make(to: directory, reusing: previous, sharing: !copying, progress: progress)
  }

  /// Reports what ``backup(to:reusing:copying:progress:)`` would do now, without doing it.
  ///
  /// Assumes that files can be shared: whether the backup is on the same volume, and the file system supports hard links, is for
  /// the caller to know.
  ///
  /// - Throws: ``StoreError/directoryNotEmpty(path:)``, ``StoreError/unfinishedCopy(path:mark:holder:)``, and what reading a
  ///   previous backup throws.
  /// - Complexity: O(segments).
  public func planBackup(
    to directory: String,
    reusing previous: String? = nil,
    copying: Bool = false
  ) throws(StoreError) -> Report.Backup {
    try Backup(of: engine).plan(to: directory, reusing: previous, sharing: !copying)
  }

  /// Creates a store at `path` from a backup, which stays unchanged.
  ///
  /// A backup can also be opened directly; this keeps it for later use. Files are shared and copied, and interruptions handled, as
  /// by ``backup(to:reusing:copying:progress:)``.
  ///
  /// - Parameters:
  ///   - backup: the backup, or any other store.
  ///   - path: a path where nothing exists, an empty directory, or the rest of an interrupted restore.
  ///   - copying: whether to copy everything instead of sharing files with the backup.
  ///   - progress: called with the share done, from 0 to 1; returns false to stop.
  /// - Throws: what opening and backing up a store throw.
  @discardableResult
  public static func restore(
    from backup: String,
    to path: String,
    copying: Bool = false,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> Report.Backup {
    try restore(from: backup, to: path, copying: copying, host: .system, progress: progress)
  }

  @discardableResult
  package static func restore(
    from backup: String,
    to path: String,
    copying: Bool,
    host: StoreHost,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> Report.Backup {
    let path = try host.absolute(path)
    var options = Options()
    options.readOnly = true
    let source = try LogStore(at: backup, options: options, host: host)
    let report = try Backup(of: source.engine).make(
      to: path,
      reusing: nil,
      sharing: !copying,
      as: .restore,
      progress: progress
    )
    try source.close()
    return report
  }

  /// Reports what ``restore(from:to:copying:progress:)`` would do now, without doing it; see
  /// ``planBackup(to:reusing:copying:)``.
  ///
  /// - Throws: what opening a store throws; ``StoreError/directoryNotEmpty(path:)``,
  ///   ``StoreError/unfinishedCopy(path:mark:holder:)``.
  /// - Complexity: that of opening the backup.
  public static func planRestore(
    from backup: String,
    to path: String,
    copying: Bool = false
  ) throws(StoreError) -> Report.Backup {
    let host = StoreHost.system
    let path = try host.absolute(path)
    var options = Options()
    options.readOnly = true
    let source = try LogStore(at: backup, options: options, host: host)
    let plan = try Backup(of: source.engine).plan(to: path, reusing: nil, sharing: !copying, as: .restore)
    try source.close()
    return plan
  }
}
