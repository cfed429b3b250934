internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Writer {
  /// Empties a keyspace in constant time: its next incarnation begins, and the entries of the current one are swept later.
  ///
  /// The reset is a record, so it is ordered with the other writes, and a crash keeps or loses it as it does them. Returns its
  /// sequence number.
  func reset(_ core: KeyspaceCore) throws(StoreError) -> UInt64 {
    try writing(.removal) { (isAlone) throws(StoreError) in try reset(core, isAlone) }
  }

  private func reset(_ core: KeyspaceCore, _ isAlone: Bool) throws(StoreError) -> Attempt<UInt64> {
    try withLock { (state) throws(StoreError) -> Attempt<UInt64> in
      try env.checkWritable()
      let old = core.tag
      guard old.incarnation < .max else {
        throw .damaged(DamageLocation(path: env.path), reason: "a keyspace has an impossible incarnation")
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
      guard try hasRoom(for: header.size, isAlone: isAlone, &state) else { return .lacksRoom(header.size) }
      core.tellWillEmpty()
      defer { core.tellDidEmpty() }
      // Safety: nothing is read from an empty buffer, and there is room for the record.
      let empty = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      _ = try unsafe append(&header, empty, empty, RecordEncoder.bodyChecksum(key: empty, value: empty), false, &state)
      keydir.empty(core, beginning: tag, at: header.sequence, state.keys)
      commits.publish(header.sequence)
      try checkTail(state)
      core.tellEmptied()
      return .done(header.sequence)
    }
  }
}
