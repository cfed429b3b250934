// Whom other modules place before and behind a keyspace.

extension Keyspace {
  /// Tells a listener of each change from now on, and keeps it.
  ///
  /// - Throws: ``StoreError/readOnly``: such a store follows what another writes, and takes it in piecemeal.
  package func addListener(_ listener: any ChangeListener) throws(StoreError) {
    if core.engine.env.options.readOnly { throw .readOnly }
    core.engine.writer.withLock { _ in core.watchers.add(listener, core) }
  }

  /// Lets a listener go.
  package func removeListener(_ listener: any ChangeListener) {
    core.engine.writer.withLock { _ in core.watchers.remove(listener, core) }
  }
}

extension Keyspace {
  /// Tells a watcher of each write that begins from now on, and keeps it.
  package func addWatcher(_ watcher: any WriteWatcher) {
    // Under the writer's lock: no write is half told.
    core.engine.writer.withLock { _ in core.watchers.add(watcher, core) }
  }

  /// Lets a watcher go.
  package func removeWatcher(_ watcher: any WriteWatcher) {
    core.engine.writer.withLock { _ in core.watchers.remove(watcher, core) }
  }
}

extension Keyspace {
  /// Says what lies ahead of the keyspace, which is kept, and whether it may hold writes back; nil when nothing does any more.
  package func setAhead(_ ahead: (any WritesAhead)?, mayHoldBack: Bool) {
    core.ahead.withLock { $0 = ahead }
    core.mayHoldBack.store(mayHoldBack, ordering: .sequentiallyConsistent)
  }

  /// Throws unless the keyspace takes writes.
  package func checkWritable() throws(StoreError) { try core.engine.env.checkWritable() }
}
