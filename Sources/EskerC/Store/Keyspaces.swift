// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed. What is written to memory for a result was counted before.

import CEsker
import EskerLog

/// See `esker_keyspace_open` in esker.h.
@c(esker_keyspace_open)
package func openKeyspace(
  _ store: OpaquePointer?,
  _ name: UnsafePointer<CChar>?,
  _ keyspace: UnsafeMutablePointer<OpaquePointer?>?
) -> esker_status {
  unsafe keyspace?.pointee = nil
  return unsafe calling(store, LogStore.self) { store in
    let result = try unsafe place(keyspace)
    let name = unsafe name == nil ? "" : try text(name, "the name")
    return try unsafe handOut(KeyspaceObject(store.keyspace(name)), result)
  }
}

/// See `esker_keyspace_close` in esker.h.
@c(esker_keyspace_close)
package func closeKeyspace(_ keyspace: OpaquePointer?) -> esker_status {
  unsafe closing(keyspace, KeyspaceObject.self)
}

/// See `esker_keyspace_remove` in esker.h.
@c(esker_keyspace_remove)
package func removeKeyspace(_ store: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> esker_status {
  unsafe calling(store, LogStore.self) { store in
    try unsafe store.removeKeyspace(text(name, "the name")) ? ESKER_OK : ESKER_NOT_FOUND
  }
}

/// See `esker_keyspace_names` in esker.h.
@c(esker_keyspace_names)
package func keyspaceNames(
  _ store: OpaquePointer?,
  _ names: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?,
  _ count: UnsafeMutablePointer<Int>?
) -> esker_status {
  unsafe names?.pointee = nil
  unsafe count?.pointee = 0
  return unsafe calling(store, LogStore.self) { store in
    let (result, number) = try unsafe (place(names), place(count))
    let found = try store.keyspaceNames.map { Array($0.utf8) }
    let stride = unsafe MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
    let memory = try unsafe allocate((found.count + 1) * stride + found.reduce(0) { $0 + $1.count + 1 })
    let array = unsafe memory.bindMemory(to: UnsafeMutablePointer<CChar>?.self, capacity: found.count + 1)
    var next = unsafe memory + (found.count + 1) * stride
    for (position, name) in found.enumerated() {
      unsafe next.copyBytes(of: name)
      unsafe next.storeBytes(of: 0, toByteOffset: name.count, as: UInt8.self)
      unsafe (array + position).initialize(to: next.assumingMemoryBound(to: CChar.self))
      unsafe next += name.count + 1
    }
    unsafe (array + found.count).initialize(to: nil)
    unsafe result.pointee = unsafe array
    unsafe number.pointee = found.count
    return ESKER_OK
  }
}

/// See `esker_count` in esker.h.
@c(esker_count)
package func count(_ keyspace: OpaquePointer?, _ count: UnsafeMutablePointer<UInt64>?) -> esker_status {
  unsafe count?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let result = try unsafe place(count)
    unsafe result.pointee = try UInt64(object.keyspace.count())
    return ESKER_OK
  }
}
