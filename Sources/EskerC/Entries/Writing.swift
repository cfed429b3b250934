// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed, and so is each length.

import CEsker
import EskerLog

/// See `esker_put` in esker.h.
@c(esker_put)
package func put(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ value: UnsafeRawPointer?,
  _ valueLength: Int,
  _ options: UnsafePointer<esker_write_options>?,
  _ version: UnsafeMutablePointer<UInt64>?
) -> esker_status {
  unsafe version?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let value = try unsafe EskerC.value(value, valueLength)
    let settings = try unsafe WriteSettings(options)
    let sequence = try unsafe object.keyspace.put(
      value,
      forKey: key,
      expiry: settings.expiry,
      durability: settings.durability
    )
    unsafe version?.pointee = sequence.rawValue
    return ESKER_OK
  }
}

/// The status of a write on a condition, whose version is nil if that did not hold.
private func status(_ sequence: SequenceNumber?, _ version: UnsafeMutablePointer<UInt64>?) -> esker_status {
  guard let sequence else { return ESKER_CONFLICT }
  unsafe version?.pointee = sequence.rawValue
  return ESKER_OK
}

/// See `esker_put_if_absent` in esker.h.
@c(esker_put_if_absent)
package func putIfAbsent(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ value: UnsafeRawPointer?,
  _ valueLength: Int,
  _ options: UnsafePointer<esker_write_options>?,
  _ version: UnsafeMutablePointer<UInt64>?
) -> esker_status {
  unsafe putIfVersion(keyspace, key, keyLength, 0, value, valueLength, options, version)
}

/// See `esker_put_if_version` in esker.h.
@c(esker_put_if_version)
package func putIfVersion(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ expected: UInt64,
  _ value: UnsafeRawPointer?,
  _ valueLength: Int,
  _ options: UnsafePointer<esker_write_options>?,
  _ version: UnsafeMutablePointer<UInt64>?
) -> esker_status {
  unsafe version?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let value = try unsafe EskerC.value(value, valueLength)
    let settings = try unsafe WriteSettings(options)
    let sequence = try unsafe object.keyspace.compareAndSet(
      value,
      forKey: key,
      ifVersion: expected == 0 ? nil : SequenceNumber(rawValue: expected),
      expiry: settings.expiry,
      durability: settings.durability
    )
    return unsafe status(sequence, version)
  }
}

/// See `esker_compare_and_set` in esker.h.
@c(esker_compare_and_set)
package func compareAndSet(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ expected: UnsafeRawPointer?,
  _ expectedLength: Int,
  _ value: UnsafeRawPointer?,
  _ valueLength: Int,
  _ options: UnsafePointer<esker_write_options>?,
  _ version: UnsafeMutablePointer<UInt64>?
) -> esker_status {
  unsafe version?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let present = try unsafe EskerC.value(expected, expectedLength)
    let value = try unsafe EskerC.value(value, valueLength)
    let settings = try unsafe WriteSettings(options)
    let sequence = try unsafe object.keyspace.compareAndSet(
      value,
      forKey: key,
      ifValue: present.baseAddress == nil ? nil : [UInt8](present),
      expiry: settings.expiry,
      durability: settings.durability
    )
    return unsafe status(sequence, version)
  }
}

/// See `esker_increment` in esker.h.
@c(esker_increment)
package func increment(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ amount: Int64,
  _ options: UnsafePointer<esker_write_options>?,
  _ sum: UnsafeMutablePointer<Int64>?
) -> esker_status {
  unsafe sum?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let settings = try unsafe WriteSettings(options)
    guard settings.expiry == nil else {
      throw CallFailure.invalid("an increment was given an expiry, but a counter keeps its own")
    }
    let result = try unsafe object.keyspace.increment(key, by: amount, durability: settings.durability)
    unsafe sum?.pointee = result
    return ESKER_OK
  }
}

/// See `esker_touch` in esker.h.
@c(esker_touch)
package func touch(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ options: UnsafePointer<esker_write_options>?,
  _ version: UnsafeMutablePointer<UInt64>?
) -> esker_status {
  unsafe version?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let settings = try unsafe WriteSettings(options)
    guard let expiry = settings.expiry else { throw CallFailure.invalid("the options do not say when it expires") }
    let sequence = try unsafe object.keyspace.touch(key, expiry: expiry, durability: settings.durability)
    guard let sequence else { return ESKER_NOT_FOUND }
    unsafe version?.pointee = sequence.rawValue
    return ESKER_OK
  }
}

/// See `esker_remove` in esker.h.
@c(esker_remove)
package func remove(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ options: UnsafePointer<esker_write_options>?
) -> esker_status {
  unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let settings = try unsafe WriteSettings(options)
    return try unsafe object.keyspace.remove(key, durability: settings.durability) ? ESKER_OK : ESKER_NOT_FOUND
  }
}

/// See `esker_remove_if_version` in esker.h.
@c(esker_remove_if_version)
package func removeIfVersion(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ expected: UInt64,
  _ options: UnsafePointer<esker_write_options>?
) -> esker_status {
  unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let settings = try unsafe WriteSettings(options)
    let version = SequenceNumber(rawValue: expected)
    let isRemoved = try unsafe object.keyspace.remove(key, ifVersion: version, durability: settings.durability)
    return isRemoved ? ESKER_OK : ESKER_CONFLICT
  }
}

/// See `esker_remove_all` in esker.h.
@c(esker_remove_all)
package func removeAll(
  _ keyspace: OpaquePointer?,
  _ options: UnsafePointer<esker_write_options>?
) -> esker_status {
  unsafe calling(keyspace, KeyspaceObject.self) { object in
    let settings = try unsafe WriteSettings(options)
    try object.keyspace.removeAll(durability: settings.durability)
    return ESKER_OK
  }
}
