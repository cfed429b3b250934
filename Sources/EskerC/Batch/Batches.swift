// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed, and so is each length.

import CEsker
import EskerLog

/// See `esker_batch_create` in esker.h.
@c(esker_batch_create)
package func createBatch(
  _ store: OpaquePointer?,
  _ batch: UnsafeMutablePointer<OpaquePointer?>?
) -> esker_status {
  unsafe batch?.pointee = nil
  return unsafe calling(store, LogStore.self) { store in
    let result = try unsafe place(batch)
    return try unsafe handOut(BatchObject(store), result)
  }
}

/// Adds an operation to a batch.
private func adding(
  to batch: OpaquePointer?,
  _ keyspace: OpaquePointer?,
  _ body: (inout WriteBatch, Keyspace) throws -> Void
) -> esker_status {
  unsafe calling(batch, BatchObject.self) { batch in
    unsafe calling(keyspace, KeyspaceObject.self) { object in
      let keyspace = object.keyspace
      guard keyspace.store === batch.store else { throw StoreError.otherStore(path: keyspace.store.path) }
      try batch.contents.use { contents in try body(&contents, keyspace) }
      return ESKER_OK
    }
  }
}

/// See `esker_batch_put` in esker.h.
@c(esker_batch_put)
package func putInBatch(
  _ batch: OpaquePointer?,
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ value: UnsafeRawPointer?,
  _ valueLength: Int,
  _ options: UnsafePointer<esker_write_options>?
) -> esker_status {
  unsafe adding(to: batch, keyspace) { contents, keyspace in
    let key = try unsafe EskerC.key(key, keyLength)
    let value = try unsafe EskerC.value(value, valueLength)
    try unsafe contents.put(value, forKey: key, in: keyspace, expiry: WriteSettings(options).expiry)
  }
}

/// See `esker_batch_remove` in esker.h.
@c(esker_batch_remove)
package func removeInBatch(
  _ batch: OpaquePointer?,
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int
) -> esker_status {
  unsafe adding(to: batch, keyspace) { contents, keyspace in
    try unsafe contents.remove(EskerC.key(key, keyLength), in: keyspace)
  }
}

/// See `esker_batch_require` in esker.h.
@c(esker_batch_require)
package func requireInBatch(
  _ batch: OpaquePointer?,
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ version: UInt64
) -> esker_status {
  unsafe adding(to: batch, keyspace) { contents, keyspace in
    let required = version == 0 ? nil : SequenceNumber(rawValue: version)
    try unsafe contents.require(EskerC.key(key, keyLength), version: required, in: keyspace)
  }
}

/// See `esker_batch_commit` in esker.h.
@c(esker_batch_commit)
package func commitBatch(
  _ batch: OpaquePointer?,
  _ options: UnsafePointer<esker_write_options>?
) -> esker_status {
  unsafe calling(batch, BatchObject.self) { batch in
    let settings = try unsafe WriteSettings(options)
    try batch.contents.use { contents in
      try batch.store.commit(contents, durability: settings.durability)
      contents.removeAll()
    }
    return ESKER_OK
  }
}

/// See `esker_batch_free` in esker.h.
@c(esker_batch_free)
package func freeBatch(_ batch: OpaquePointer?) -> esker_status {
  unsafe closing(batch, BatchObject.self)
}
