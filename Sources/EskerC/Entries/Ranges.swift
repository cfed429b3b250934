// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed.

import CEsker
import EskerLog

/// See `esker_count_range` in esker.h.
@c(esker_count_range)
package func countRange(
  _ keyspace: OpaquePointer?,
  _ range: UnsafePointer<esker_range>?,
  _ count: UnsafeMutablePointer<UInt64>?
) -> esker_status {
  unsafe count?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let result = try unsafe place(count)
    let keys = try unsafe RangeSettings.keys(range)
    unsafe result.pointee = try UInt64(object.keyspace.count(in: keys))
    return ESKER_OK
  }
}

/// See `esker_remove_range` in esker.h.
@c(esker_remove_range)
package func removeRange(
  _ keyspace: OpaquePointer?,
  _ range: UnsafePointer<esker_range>?,
  _ options: UnsafePointer<esker_write_options>?,
  _ removed: UnsafeMutablePointer<UInt64>?
) -> esker_status {
  unsafe removed?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let keys = try unsafe RangeSettings.keys(range)
    let settings = try unsafe WriteSettings(options)
    let count = try object.keyspace.removeAll(in: keys, durability: settings.durability)
    unsafe removed?.pointee = UInt64(count)
    return ESKER_OK
  }
}
