// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed, and so is each length. What a cursor shows is in its page, which stays as it is until the cursor's next call.

import CEsker
import EskerLog

/// See `esker_snapshot_open` in esker.h.
@c(esker_snapshot_open)
package func openSnapshot(
  _ store: OpaquePointer?,
  _ snapshot: UnsafeMutablePointer<OpaquePointer?>?
) -> esker_status {
  unsafe snapshot?.pointee = nil
  return unsafe calling(store, LogStore.self) { store in
    let result = try unsafe place(snapshot)
    return try unsafe handOut(store.snapshot(), result)
  }
}

/// See `esker_snapshot_get` in esker.h.
@c(esker_snapshot_get)
package func getFromSnapshot(
  _ snapshot: OpaquePointer?,
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ value: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ valueLength: UnsafeMutablePointer<Int>?
) -> esker_status {
  unsafe value?.pointee = nil
  unsafe valueLength?.pointee = 0
  return unsafe calling(snapshot, Snapshot.self) { snapshot in
    unsafe calling(keyspace, KeyspaceObject.self) { object in
      let key = try unsafe EskerC.key(key, keyLength)
      let (result, resultLength) = try unsafe (place(value), place(valueLength))
      let range = unsafe KeyRange.from(key).through(key)
      // The only one, or what is damaged and may be it.
      for entry in snapshot.entries(in: object.keyspace, range) {
        var bytes = GrowingBytes()
        let isCopied = try entry.withBytes { _, value in bytes.append(value) != nil }
        let length = bytes.count
        guard isCopied, let memory = unsafe bytes.handOver() else { throw CallFailure.noMemory }
        unsafe result.pointee = unsafe memory
        unsafe resultLength.pointee = length
        return ESKER_OK
      }
      return ESKER_NOT_FOUND
    }
  }
}

/// See `esker_snapshot_sequence` in esker.h.
@c(esker_snapshot_sequence)
package func sequenceOfSnapshot(
  _ snapshot: OpaquePointer?,
  _ sequence: UnsafeMutablePointer<UInt64>?
) -> esker_status {
  unsafe sequence?.pointee = 0
  return unsafe calling(snapshot, Snapshot.self) { snapshot in
    let result = try unsafe place(sequence)
    unsafe result.pointee = snapshot.sequence.rawValue
    return ESKER_OK
  }
}

/// See `esker_snapshot_close` in esker.h.
@c(esker_snapshot_close)
package func closeSnapshot(_ snapshot: OpaquePointer?) -> esker_status {
  unsafe closing(snapshot, Snapshot.self)
}

/// See `esker_cursor_open` in esker.h.
@c(esker_cursor_open)
package func openCursor(
  _ keyspace: OpaquePointer?,
  _ snapshot: OpaquePointer?,
  _ range: UnsafePointer<esker_range>?,
  _ cursor: UnsafeMutablePointer<OpaquePointer?>?
) -> esker_status {
  unsafe cursor?.pointee = nil
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let keyspace = object.keyspace
    let result = try unsafe place(cursor)
    let settings = try unsafe RangeSettings(range)
    guard unsafe snapshot == nil else {
      return unsafe calling(snapshot, Snapshot.self) { snapshot in
        try unsafe handOut(CursorObject(keyspace, snapshot, settings), result)
      }
    }
    if let range = settings.range { return try unsafe handOut(CursorObject(keyspace, range, settings), result) }
    return try unsafe handOut(CursorObject(keyspace, keyspace.store.snapshot(), settings), result)
  }
}

/// See `esker_cursor_next` in esker.h.
@c(esker_cursor_next)
package func nextOfCursor(_ cursor: OpaquePointer?, _ entry: UnsafeMutablePointer<esker_entry>?) -> esker_status {
  unsafe calling(cursor, CursorObject.self) { cursor in
    try unsafe fill(entry, esker_entry())
    return try cursor.state.use { state in
      guard let next = try state.next(), let start = unsafe state.page.bytes.start else { return ESKER_END }
      var shown = unsafe esker_entry()
      unsafe shown.key = unsafe UnsafeRawPointer(start + next.key.lowerBound)
      unsafe shown.key_length = next.key.count
      if let value = next.value { unsafe shown.value = unsafe UnsafeRawPointer(start + value.lowerBound) }
      unsafe shown.value_length = next.valueLength
      unsafe shown.version = next.version
      unsafe shown.expires_at_ms = next.expiry.instant
      try unsafe fill(entry, shown)
      return ESKER_OK
    }
  }
}

/// See `esker_cursor_close` in esker.h.
@c(esker_cursor_close)
package func closeCursor(_ cursor: OpaquePointer?) -> esker_status {
  unsafe closing(cursor, CursorObject.self)
}
