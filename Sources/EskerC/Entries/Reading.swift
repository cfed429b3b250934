// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed, and so is each length.

import CEsker
import EskerLog

/// Values up to this length are copied once, without a look at how long they are before.
private let usualLength = 4096

/// See `esker_get` in esker.h.
@c(esker_get)
package func get(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ value: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ valueLength: UnsafeMutablePointer<Int>?
) -> esker_status {
  unsafe value?.pointee = nil
  unsafe valueLength?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let (result, resultLength) = try unsafe (place(value), place(valueLength))
    let copy = try unsafe copy(of: key, in: object.keyspace)
    guard let copy = unsafe copy else { return ESKER_NOT_FOUND }
    unsafe result.pointee = copy.baseAddress
    unsafe resultLength.pointee = copy.count
    return ESKER_OK
  }
}

/// A copy of a value for the caller; nil if there is none.
private func copy(
  of key: UnsafeRawBufferPointer,
  in keyspace: Keyspace
) throws -> UnsafeMutableRawBufferPointer? {
  var length = 0
  let usual = try unsafe withUnsafeTemporaryAllocation(byteCount: usualLength, alignment: 16) {
    buffer -> UnsafeMutableRawBufferPointer? in
    guard let found = try unsafe keyspace.get(key, into: buffer) else { return nil }
    length = found
    let result = try unsafe UnsafeMutableRawBufferPointer(start: allocate(found), count: found)
    if found <= buffer.count { unsafe result.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<found])) }
    return unsafe result
  }
  guard var result = unsafe usual, length > usualLength else { return unsafe usual }
  while true {
    do {
      guard let found = try unsafe keyspace.get(key, into: result) else {
        unsafe giveBack(result.baseAddress)
        return nil
      }
      if found <= result.count { return unsafe UnsafeMutableRawBufferPointer(start: result.baseAddress, count: found) }
      // It was replaced by a longer one.
      unsafe giveBack(result.baseAddress)
      unsafe result = try unsafe UnsafeMutableRawBufferPointer(start: allocate(found), count: found)
    } catch let error as StoreError {
      unsafe giveBack(result.baseAddress)
      throw error
    }
  }
}

/// See `esker_get_into` in esker.h.
@c(esker_get_into)
package func getInto(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ buffer: UnsafeMutableRawPointer?,
  _ capacity: Int,
  _ valueLength: UnsafeMutablePointer<Int>?
) -> esker_status {
  unsafe valueLength?.pointee = 0
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let resultLength = try unsafe place(valueLength)
    guard capacity >= 0, unsafe buffer != nil || capacity == 0 else {
      throw CallFailure.invalid("a buffer is NULL, or has an impossible capacity")
    }
    let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
    guard let length = try unsafe object.keyspace.get(key, into: target) else { return ESKER_NOT_FOUND }
    unsafe resultLength.pointee = length
    return length <= capacity ? ESKER_OK : ESKER_BUFFER_TOO_SMALL
  }
}

/// See `esker_get_many` in esker.h.
@c(esker_get_many)
package func getMany(
  _ keyspace: OpaquePointer?,
  _ keys: UnsafePointer<esker_slice>?,
  _ count: Int,
  _ values: UnsafeMutablePointer<esker_slice>?,
  _ block: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> esker_status {
  unsafe block?.pointee = nil
  return unsafe calling(keyspace, KeyspaceObject.self) { object in
    guard (0...Int(ESKER_MAXIMUM_KEY_COUNT)).contains(count) else {
      throw CallFailure.invalid("more than \(ESKER_MAXIMUM_KEY_COUNT) keys")
    }
    let isGiven = unsafe keys != nil && values != nil
    guard count == 0 || isGiven else {
      throw CallFailure.invalid("the keys, or the places for values, are NULL")
    }
    let result = try unsafe place(block)
    let (slices, found) = unsafe (
      UnsafeBufferPointer(start: keys, count: count), UnsafeMutableBufferPointer(start: values, count: count)
    )
    // The caller may have passed one array as both.
    let lent = unsafe Result { try unsafe slices.map { slice in try unsafe key(slice.data, slice.length) } }
    for position in 0..<count { unsafe found[position] = unsafe esker_slice(data: nil, length: 0) }
    let wanted = try unsafe lent.get()
    var bytes = GrowingBytes()
    var places = [Range<Int>?](repeating: nil, count: count)
    try unsafe object.keyspace.withValues(forKeys: wanted) { (position: Int, value: RawSpan?) throws in
      guard let value else { return }
      guard let place = bytes.append(value) else { throw CallFailure.noMemory }
      places[position] = place..<place + value.byteCount
    }
    // Not null, even if there are no bytes.
    guard bytes.append(RawSpan()) != nil, let memory = unsafe bytes.handOver() else { throw CallFailure.noMemory }
    for (position, place) in places.enumerated() {
      guard let place else { continue }
      unsafe found[position] = unsafe esker_slice(data: memory + place.lowerBound, length: place.count)
    }
    unsafe result.pointee = unsafe memory
    return ESKER_OK
  }
}

/// See `esker_contains` in esker.h.
@c(esker_contains)
package func contains(_ keyspace: OpaquePointer?, _ key: UnsafeRawPointer?, _ keyLength: Int) -> esker_status {
  unsafe calling(keyspace, KeyspaceObject.self) { object in
    try unsafe object.keyspace.contains(EskerC.key(key, keyLength)) ? ESKER_OK : ESKER_NOT_FOUND
  }
}

/// See `esker_get_info` in esker.h.
@c(esker_get_info)
package func getInfo(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ info: UnsafeMutablePointer<esker_info>?
) -> esker_status {
  unsafe calling(keyspace, KeyspaceObject.self) { object in
    try unsafe fill(info, esker_info())
    guard let metadata = try unsafe object.keyspace.metadata(forKey: EskerC.key(key, keyLength)) else {
      return ESKER_NOT_FOUND
    }
    try unsafe fill(
      info,
      esker_info(
        size: 0,
        version: metadata.version.rawValue,
        value_length: UInt64(metadata.length),
        expires_at_ms: metadata.expiry.instant
      )
    )
    return ESKER_OK
  }
}
