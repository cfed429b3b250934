internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  var keyspaceNames: [String] {
    keyspaces.withLock { $0.byName.keys.filter { !$0.isEmpty } }
  }

  var totalCount: Int {
    keyspaces.withLock { $0.byID.values.reduce(0) { $0 + $1.count } }
  }

  /// Finds a keyspace or creates it, durably.
  func keyspace(named name: String) throws(StoreError) -> KeyspaceCore {
    guard name.utf8.count <= 255 else { throw .invalidKeyspace(name) }
    if let core = keyspaces.withLock({ $0.byName[name] }) { return core }
    if status.load(ordering: .acquiring) & Status.readOnly != 0 { try refresh() }
    if let core = keyspaces.withLock({ $0.byName[name] }) { return core }
    defer { events.deliver() }
    try checkWritable()
    return try opening.withLock { () throws(StoreError) -> KeyspaceCore in
      if let core = keyspaces.withLock({ $0.byName[name] }) { return core }
      let id = try manifests.withLock { (state) throws(StoreError) -> UInt32 in
        guard state.nextKeyspaceID < .max else { throw .invalidKeyspace(name) }
        defer { state.nextKeyspaceID += 1 }
        return state.nextKeyspaceID
      }
      let core = KeyspaceCore(engine: self, id: id, incarnation: 0, name: name, defaultExpiry: -1)
      // Listed before it can be found: a record of a keyspace must never be on disk without its name.
      keyspaces.withLock { $0.byID[id] = core }
      do throws(StoreError) { try editManifest(.listed, isAll: true) } catch {
        keyspaces.withLock { $0.byID[id] = nil }
        throw error
      }
      keyspaces.withLock { $0.byName[name] = core }
      return core
    }
  }

  /// Takes in keyspaces that another process created.
  func addKeyspaces(_ rows: [KeyspaceRow]) {
    keyspaces.withLock { table in
      for row in rows where table.byID[row.id] == nil {
        let core = KeyspaceCore(
          engine: self,
          id: row.id,
          incarnation: row.incarnation,
          name: row.name,
          defaultExpiry: row.defaultExpiry
        )
        table.byID[row.id] = core
        table.byName[row.name] = core
      }
    }
  }

  func setDefaultExpiry(_ duration: Duration?, of core: KeyspaceCore) throws(StoreError) {
    defer { events.deliver() }
    try checkWritable()
    let milliseconds = duration.map { max(0, $0.wholeMilliseconds) } ?? -1
    try opening.withLock { () throws(StoreError) in
      let before = core.defaultExpiryMilliseconds.exchange(milliseconds, ordering: .relaxed)
      do throws(StoreError) { try editManifest(.listed, isAll: true) } catch {
        core.defaultExpiryMilliseconds.store(before, ordering: .relaxed)
        throw error
      }
    }
  }

  /// Empties a keyspace in constant time: its next incarnation begins, and the entries of this one are swept out later.
  ///
  /// The reset is a record like any other, so it takes its place in history, and a crash keeps it or not with what was
  /// written around it.
  func removeAll(in core: KeyspaceCore) throws(StoreError) -> UInt64 {
    try core.letAheadWrite()
    let sequence = try makingRoom { () throws(StoreError) in try reset(core) }
    for watcher in core.watchers.watchers { watcher.afterEmptying() }
    tellFeeds()
    keeper.request(.sweep)
    return sequence
  }

  private func reset(_ core: KeyspaceCore) throws(StoreError) -> UInt64 {
    try writer.withLock { (state) throws(StoreError) -> UInt64 in
      try checkWritable()
      let old = core.tag
      guard old.incarnation < .max else {
        throw .damaged(DamageLocation(path: path), reason: "a keyspace has an impossible incarnation")
      }
      let tag = KeyspaceTag(id: core.id, incarnation: old.incarnation + 1)
      var header = RecordHeader(
        sequence: 0,
        kind: .reset,
        keyHash: 0,
        keyLength: 0,
        valueLength: 0,
        keyspace: tag
      )
      try prepareRemoval(of: header.size, &state)
      core.tellWillEmpty()
      defer { core.tellDidEmpty() }
      let empty = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      _ = try unsafe append(&header, empty, empty, RecordEncoder.bodyChecksum(key: empty, value: empty), false, &state)
      // The manifest names the last incarnation that is durable, however many resets follow it.
      if core.resetSequence.load(ordering: .relaxed) <= durableSequence {
        core.incarnationBeforeReset.store(old.incarnation, ordering: .relaxed)
      }
      core.resetSequence.store(header.sequence, ordering: .releasing)
      core.begin(incarnation: tag.incarnation)
      core.entryCount.store(0, ordering: .relaxed)
      commits.published.store(header.sequence, ordering: .releasing)
      try checkTail(state)
      core.tellEmptied()
      return header.sequence
    }
  }

  /// Takes the entries of emptied keyspaces out of the index, a few buckets at a time.
  func sweepEmptiedKeyspaces() {
    reap { record in
      guard let core = self.keyspaces.withLock({ $0.byID[record.keyspace.id] }) else { return false }
      return record.keyspace.incarnation < core.tag.incarnation
    }
  }
}
