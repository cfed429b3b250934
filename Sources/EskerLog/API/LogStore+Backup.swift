extension LogStore {
  /// Makes a copy of the store as it is at one instant, while reads and writes go on.
  ///
  /// The copy is a store: open it, or ``restore(from:to:copying:progress:)`` it elsewhere. Segments that take no more records are not
  /// copied but get a second name in the new directory where the file system can do that; only the end of the log is
  /// copied. A file with two names is never written again, so neither store changes under the other, and each may be deleted.
  /// Everything that comes along is verified first: a store with damage is not copied.
  ///
  /// The backup is on stable storage, all of it, when the call returns. If the call throws, what was written is removed; if it
  /// is interrupted, what is left is refused by every opening, with ``StoreError/unfinishedCopy(path:mark:holder:)``, and the
  /// call may be made again.
  ///
  /// - Parameters:
  ///   - directory: where nothing is yet, an empty directory, or what an interrupted backup left.
  ///   - previous: an earlier backup of this store. What it has already is shared with it and not copied again, which
  ///     makes a backup to another volume incremental. Each of the two is whole, and either may be deleted. An empty
  ///     directory has nothing to share.
  ///   - copying: copies everything instead of sharing files with the store, so that a bad block is not in both.
  ///   - progress: told the share that is done, from 0 to 1; returns false to stop.
  /// - Throws: ``StoreError/damaged(_:reason:)``, which names the damage, before anything was made; ``StoreError/cancelled``
  ///   when `progress` stopped it; ``StoreError/directoryNotEmpty(path:)``, and
  ///   ``StoreError/unfinishedCopy(path:mark:holder:)`` when somebody else makes a copy there, or left one of another kind;
  ///   ``StoreError/otherStore(path:)``, ``StoreError/notAStore(path:)`` and ``StoreError/unfinishedCopy(path:mark:holder:)``
  ///   for a previous backup that is none of this store; ``StoreError/noSpace(path:needed:)``,
  ///   ``StoreError/failed(operation:path:errno:)``.
  /// - Complexity: O(bytes): all are read, and some are copied.
  @discardableResult
  public func backup(
    to directory: String,
    reusing previous: String? = nil,
    copying: Bool = false,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> BackupReport {
    try Backup(of: engine).make(to: directory, reusing: previous, sharing: !copying, progress: progress)
  }

  /// What ``backup(to:reusing:copying:progress:)`` would do now, without doing it.
  ///
  /// What may be shared with the store is taken to be shared: that the backup is on the same volume, and the file system can
  /// give a file a second name, is for the caller to know.
  ///
  /// - Throws: ``StoreError/directoryNotEmpty(path:)``, ``StoreError/unfinishedCopy(path:mark:holder:)``, and what looking at
  ///   a previous backup throws.
  /// - Complexity: O(segments).
  public func planBackup(
    to directory: String,
    reusing previous: String? = nil,
    copying: Bool = false
  ) throws(StoreError) -> BackupReport {
    try Backup(of: engine).plan(to: directory, reusing: previous, sharing: !copying)
  }

  /// Makes a store at `path` from a backup, which stays as it is.
  ///
  /// Opening the backup itself would do as well; this keeps the backup for another time. Files are shared and copied as
  /// ``backup(to:reusing:copying:progress:)`` does, and what an interruption leaves is refused and made again in the same way.
  ///
  /// - Parameters:
  ///   - backup: the backup, or any other store.
  ///   - path: where nothing is yet, an empty directory, or what an interrupted restoration left.
  ///   - copying: copies everything instead of sharing files with the backup.
  ///   - progress: told the share that is done, from 0 to 1; returns false to stop.
  /// - Throws: what opening and backing up throw.
  @discardableResult
  public static func restore(
    from backup: String,
    to path: String,
    copying: Bool = false,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> BackupReport {
    try restore(from: backup, to: path, copying: copying, host: .system, progress: progress)
  }

  @discardableResult
  package static func restore(
    from backup: String,
    to path: String,
    copying: Bool,
    host: Host,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> BackupReport {
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

  /// What ``restore(from:to:copying:progress:)`` would do now, without doing it; see
  /// ``planBackup(to:reusing:copying:)``.
  ///
  /// - Throws: what opening throws; ``StoreError/directoryNotEmpty(path:)``,
  ///   ``StoreError/unfinishedCopy(path:mark:holder:)``.
  /// - Complexity: that of opening the backup.
  public static func planRestore(
    from backup: String,
    to path: String,
    copying: Bool = false
  ) throws(StoreError) -> BackupReport {
    var options = Options()
    options.readOnly = true
    let source = try LogStore(at: backup, options: options)
    let plan = try Backup(of: source.engine).plan(to: path, reusing: nil, sharing: !copying, as: .restore)
    try source.close()
    return plan
  }
}
