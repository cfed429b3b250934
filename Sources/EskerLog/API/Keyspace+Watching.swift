// Hooks with which other modules observe a keyspace.

extension Keyspace {
  /// Notifies a listener of each change from now on, and retains it.
  ///
  /// - Throws: ``StoreError/readOnly``, because such a store does not read its writer's changes one by one;
  ///   ``StoreError/closed``; ``StoreError/keyspaceRemoved(_:)``.
  package func addListener(_ listener: any ChangeListener) throws(StoreError) {
    if core.engine.env.options.readOnly { throw .readOnly }
    try core.engine.writer.withLock { (_) throws(StoreError) in
      // Under the lock, so that each that is added is notified of the end.
      if core.engine.env.isClosed { throw .closed }
      try core.checkPresent()
      core.watchers.add(listener, core)
    }
  }

  package func removeListener(_ listener: any ChangeListener) {
    core.engine.writer.withLock { _ in core.watchers.remove(listener, core) }
  }
}

extension Keyspace {
  /// Notifies a watcher of each write that begins from now on, and retains it. If there are none, since the store was closed or
  /// the keyspace removed, only notifies it of that.
  package func addWatcher(_ watcher: any WriteWatcher) {
    // Under the writer's lock, so that a watcher gets both calls of a write or neither.
    let isAdded = core.engine.writer.withLock { state in
      if core.engine.env.isClosed || core.tag.isRemoved { return false }
      core.watchers.add(watcher, core)
      // As the others were told: it keeps nothing as long as other processes may write.
      if state.isResting { watcher.willEmpty() }
      return true
    }
    if !isAdded { watcher.didEnd() }
  }

  package func removeWatcher(_ watcher: any WriteWatcher) {
    core.engine.writer.withLock { _ in core.watchers.remove(watcher, core) }
  }
}
