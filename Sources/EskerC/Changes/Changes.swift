// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed. What a feed shows is in its bytes, which stay as they are until its next call.

import CEsker
import EskerLog

/// See `esker_changes_open` in esker.h.
@c(esker_changes_open)
package func openChanges(
  _ store: OpaquePointer?,
  _ since: UInt64,
  _ options: UnsafePointer<esker_changes_options>?,
  _ changes: UnsafeMutablePointer<OpaquePointer?>?
) -> esker_status {
  unsafe changes?.pointee = nil
  return unsafe calling(store, LogStore.self) { store in
    let result = try unsafe place(changes)
    let given = try unsafe read(options, esker_changes_options())
    let reserved = given.reserved
    guard reserved.0 | reserved.1 | reserved.2 | reserved.3 | reserved.4 | reserved.5 | reserved.6 == 0 else {
      throw CallFailure.invalid("a reserved field is not 0")
    }
    let includesUnsynced = try flag(given.including_unsynced, "including_unsynced")
    // Throws if the store is closed.
    _ = try store.keyspaceNames
    let feed = ChangesObject(
      store,
      since: since == .max ? nil : SequenceNumber(rawValue: since),
      keeping: given.keeping == 0 ? 256 << 20 : Int(clamping: given.keeping),
      includingUnsynced: includesUnsynced
    )
    return try unsafe handOut(feed, result)
  }
}

/// See `esker_changes_next` in esker.h.
@c(esker_changes_next)
package func nextOfChanges(
  _ changes: OpaquePointer?,
  _ timeout: Int64,
  _ change: UnsafeMutablePointer<esker_change>?
) -> esker_status {
  unsafe calling(changes, ChangesObject.self) { object in
    try unsafe fill(change, esker_change())
    return try object.state.use { state in
      switch try state.next(waiting: timeout) {
      case .notYet: return ESKER_NOT_YET
      case .end: return ESKER_END
      case .change(let found):
        try unsafe fill(change, state.show(found))
        return ESKER_OK
      }
    }
  }
}

/// See `esker_changes_close` in esker.h.
@c(esker_changes_close)
package func closeChanges(_ changes: OpaquePointer?) -> esker_status {
  unsafe closing(changes, ChangesObject.self)
}

extension ChangesObject.State {
  /// A change as C has it, which points to copies.
  fileprivate mutating func show(_ change: LogChange) throws -> esker_change {
    let name = Array(change.keyspace.utf8) + [0]
    var value: [UInt8]?
    var shown = unsafe esker_change()
    switch change.kind {
    case .put(let stored, let expiry):
      unsafe shown.kind = Int32(bitPattern: ESKER_CHANGE_PUT.rawValue)
      unsafe shown.expires_at_ms = expiry.instant
      value = stored
    case .remove: unsafe shown.kind = Int32(bitPattern: ESKER_CHANGE_REMOVE.rawValue)
    case .removeAll: unsafe shown.kind = Int32(bitPattern: ESKER_CHANGE_REMOVE_ALL.rawValue)
    }
    bytes.removeAll()
    let stored = value ?? []
    guard let namePlace = unsafe bytes.append(ContiguousArray(name).span.bytes),
      let keyPlace = unsafe bytes.append(ContiguousArray(change.key).span.bytes),
      let valuePlace = unsafe bytes.append(ContiguousArray(stored).span.bytes), let start = unsafe bytes.start
    else { throw CallFailure.noMemory }
    unsafe shown.batch_continues = change.batchContinues ? 1 : 0
    unsafe shown.sequence = change.sequence.rawValue
    unsafe shown.keyspace = unsafe UnsafePointer((start + namePlace).assumingMemoryBound(to: CChar.self))
    if change.kind != .removeAll { unsafe shown.key = unsafe UnsafeRawPointer(start + keyPlace) }
    unsafe shown.key_length = change.key.count
    if let value {
      unsafe shown.value = unsafe UnsafeRawPointer(start + valuePlace)
      unsafe shown.value_length = value.count
    }
    return unsafe shown
  }
}
