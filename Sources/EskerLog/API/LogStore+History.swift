extension LogStore {
  /// What the last openings of the store for writing have found, this one included if it is one: when, after what, up to which write
  /// everything was there, and what was cut off or damaged.
  ///
  /// It is kept in the manifest. What an opening cut off or lost is recorded by the very edit that makes it so, and outlives any crash
  /// after it. What an opening found that changed nothing is recorded by the next edit, such as a close. A backup has what its store has,
  /// and says when it was made.
  ///
  /// A read-only store shows what its writer has recorded by its last opening or ``refresh()``. A closed store shows what it did before.
  ///
  /// - Complexity: O(1): up to 32 openings. Waits for nothing.
  public var history: Report.History {
    let (rows, lacksPast) = engine.catalog.history
    return Report.History(rows, isDamaged: lacksPast, in: path)
  }

  /// The same of the store at `path`, which is not opened: another process may have it open, or it may be too damaged for that.
  ///
  /// - Returns: no openings, and that they are damaged, if both copies of the manifest are lost.
  /// - Throws: ``StoreError/notAStore(path:)``, ``StoreError/unfinishedCopy(path:mark:holder:)``,
  ///   ``StoreError/unknownFormat(path:version:)``, ``StoreError/failed(operation:path:errno:)``.
  public static func history(at path: String) throws(StoreError) -> Report.History {
    try history(at: path, host: .system)
  }

  package static func history(at path: String, host: StoreHost) throws(StoreError) -> Report.History {
    let store = try ClosedStore(at: path, host: host)
    _ = try store.names()
    return try store.history()
  }
}
