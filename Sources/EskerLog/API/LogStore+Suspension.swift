extension LogStore {
  /// Lets go of every lock, so that another process can write to the store: of an app whose process is about to be frozen while it shares
  /// its files, or beside which a tool is to write. Until ``resume()``, this process reads what others write, as a read-only store
  /// does, and its writes wait or throw ``StoreError/suspended(path:)``.
  ///
  /// Handles, typed storages, fronts, observers, feeds and snapshots stay valid, and go on. Fronts in memory are emptied, and keep
  /// nothing meanwhile. Observers hear of the writes of other processes once this one has read them, one by one, also those of batches.
  ///
  /// What was written and not synced stays so: in the log, as after a kill, where others find it, and a power failure may lose it. Call
  /// ``sync()`` before if that matters. Waits for syncs and calls that are under way; a merge, a checkpoint or other work in the
  /// background breaks off, and goes on later. A merge on demand throws.
  ///
  /// A read takes locks for some microseconds where there is something new to read. A process that may not hold any when it is
  /// frozen must not read by then.
  ///
  /// Idempotent; does nothing in a store that was opened read-only. Must not be called from an event handler, or from the body of a call.
  ///
  /// - Parameter patience: How long a write waits for ``resume()`` before it throws. A write by a task waits
  ///   without a thread.
  /// - Throws: ``StoreError/closed``.
  /// - Complexity: O(keyspaces).
  public func suspend(patience: Duration = .zero) throws(StoreError) { try engine.suspend(patience: patience) }

  /// Takes the store back after ``suspend(patience:)``: it can be written to again, and has what other processes have written meanwhile.
  /// If none has, that takes some microseconds; otherwise what they have written is read, and where the last of them did not close the
  /// store, the end of the log is looked for as in an opening after a crash, but for the index.
  ///
  /// Idempotent. Must not be called from an event handler, or from the body of a call.
  ///
  /// - Throws: ``StoreError/locked(path:holder:)`` if another process writes: try again later; ``StoreError/otherStore(path:)`` if the
  ///   directory was replaced; what opening a store throws. The store stays suspended.
  /// - Complexity: O(1) if no other process has written; otherwise O(what was written since), and O(segments).
  public func resume() throws(StoreError) { try engine.resume() }

  /// Whether the store is suspended. Any thread may be about to change that.
  public var isSuspended: Bool { engine.env.isSuspended }
}
