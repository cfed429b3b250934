internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Writer {
  /// Empties a keyspace in constant time: its next incarnation begins, and the entries of the current one are purged later.
  ///
  /// The reset is a record, so it is ordered with the other writes, and a crash keeps or loses it as it does them. Returns its
  /// sequence number.
  func reset(_ core: KeyspaceCore) throws(StoreError) -> UInt64 {
    try writing(.removal) { (isAlone) throws(StoreError) in try reset(core, isAlone) }
  }

  /// Removes a keyspace in constant time: the same, with an incarnation that no other follows. The record has the name, for
  /// readers of changes. Returns its sequence number, or 0 if another thread has removed the keyspace.
  func removeKeyspace(_ core: KeyspaceCore) throws(StoreError) -> UInt64 {
    try writing(.removal) { (isAlone) throws(StoreError) in
      try withLock { (state) throws(StoreError) -> WriteAttempt<UInt64> in
        try env.checkWritable()
        if core.tag.isRemoved { return .done(0) }
        let tag = KeyspaceTag(id: core.id, incarnation: KeyspaceTag.removal)
        return try append(core, beginning: tag, name: core.name, isAlone, &state) { (sequence, state) in
          keydir.remove(core, at: sequence, state.keys)
        }
      }
    }
  }

  private func reset(_ core: KeyspaceCore, _ isAlone: Bool) throws(StoreError) -> WriteAttempt<UInt64> {
    try withLock { (state) throws(StoreError) -> WriteAttempt<UInt64> in
      try env.checkWritable()
      try core.checkPresent()
      let old = core.tag
      guard old.incarnation + 1 < KeyspaceTag.removal else {
        throw .damaged(StoreError.Location(path: env.path), reason: "a keyspace has an impossible incarnation")
      }
      let tag = KeyspaceTag(id: core.id, incarnation: old.incarnation + 1)
      return try append(core, beginning: tag, name: "", isAlone, &state) { (sequence, state) in
        keydir.empty(core, beginning: tag, at: sequence, state.keys)
      }
    }
  }

  /// Appends the record that begins an incarnation, with the keyspace's name if that removes it, and tells watchers.
  private func append(
    _ core: KeyspaceCore,
    beginning tag: KeyspaceTag,
    name: String,
    _ isAlone: Bool,
    _ state: inout WriterState,
    _ change: (UInt64, inout WriterState) -> Void
  ) throws(StoreError) -> WriteAttempt<UInt64> {
    let name = Array(name.utf8)
    var header = RecordHeader(
      sequence: 0,
      kind: .reset,
      keyHash: 0,
      keyLength: name.count,
      valueLength: 0,
      keyspace: tag
    )
    guard try hasRoom(for: header.size, isAlone: isAlone, &state) else { return .lacksSpace(header.size) }
    core.notifyWillEmpty()
    defer { core.notifyDidEmpty() }
    // Safety: the array is kept during the call, nothing is read from an empty buffer, and there is room for the record.
    try unsafe name.withUnsafeBytesTyped { (name) throws(StoreError) in
      let empty = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      let checksum = unsafe RecordEncoder.bodyChecksum(key: name, value: empty)
      _ = try unsafe append(&header, name, empty, checksum, false, &state)
    }
    change(header.sequence, &state)
    commits.publish(header.sequence)
    try checkTail(state)
    core.notifyEmptied()
    return .done(header.sequence)
  }
}
