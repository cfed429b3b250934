// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed, and so is each length. What a viewer is shown is lent until it returns.

import CEsker
import EskerLog

/// See `esker_view` in esker.h.
@c(esker_view)
package func view(
  _ keyspace: OpaquePointer?,
  _ key: UnsafeRawPointer?,
  _ keyLength: Int,
  _ viewer: esker_viewer?,
  _ context: UnsafeMutableRawPointer?
) -> esker_status {
  unsafe calling(keyspace, KeyspaceObject.self) { object in
    let key = try unsafe EskerC.key(key, keyLength)
    let viewer = try unsafe Viewer(viewer, context)
    let isShown: Void? = try unsafe object.keyspace.withEntry(forKey: key) { (value, metadata) throws(StoreError) in
      _ = unsafe viewer.goesOn(after: key, value, metadata)
    }
    return isShown == nil ? ESKER_NOT_FOUND : ESKER_OK
  }
}

/// See `esker_view_range` in esker.h.
@c(esker_view_range)
package func viewRange(
  _ keyspace: OpaquePointer?,
  _ range: UnsafePointer<esker_range>?,
  _ viewer: esker_viewer?,
  _ context: UnsafeMutableRawPointer?
) -> esker_status {
  unsafe calling(keyspace, KeyspaceObject.self) { object in
    let settings = try unsafe RangeSettings(range)
    let viewer = try unsafe Viewer(viewer, context)
    var isStopped = false
    try object.keyspace.forEachEntry(
      in: settings.range ?? .all,
      order: settings.order,
      limit: Int(clamping: settings.limit)
    ) { (key, value, metadata) throws(StoreError) in
      unsafe key.withUnsafeBytes { key in
        isStopped = unsafe !viewer.goesOn(after: key, settings.keysOnly ? nil : value, metadata)
      }
      return !isStopped
    }
    return isStopped ? ESKER_OK : ESKER_END
  }
}

/// A function of the caller's that is shown entries, with what it is to be called with.
///
/// Safety: it exists only during a call, for which the caller keeps both.
@safe
private struct Viewer {
  private let function: esker_viewer
  private let context: UnsafeMutableRawPointer?

  init(_ function: esker_viewer?, _ context: UnsafeMutableRawPointer?) throws {
    guard let function = unsafe function else { throw CallFailure.invalid("the function to call is NULL") }
    unsafe self.function = unsafe function
    unsafe self.context = unsafe context
  }

  /// Shows an entry, without its value if that is nil; whether the caller wants more.
  ///
  /// Safety: the bytes are lent until the function returns, and so is the entry itself.
  func goesOn(after key: UnsafeRawBufferPointer, _ value: RawSpan?, _ metadata: ValueMetadata) -> Bool {
    guard let value else { return unsafe goesOn(key, nil, metadata) }
    return unsafe value.withUnsafeBytes { value in unsafe goesOn(key, value, metadata) }
  }

  private func goesOn(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer?,
    _ metadata: ValueMetadata
  ) -> Bool {
    var entry = unsafe esker_entry()
    return unsafe withUnsafeMutablePointer(to: &entry) { entry in
      // Of no bytes, some address that is not null.
      let nowhere = UnsafeRawPointer(entry)
      unsafe entry.pointee.size = MemoryLayout<esker_entry>.size
      unsafe entry.pointee.key = key.baseAddress ?? nowhere
      unsafe entry.pointee.key_length = key.count
      if let value = unsafe value { unsafe entry.pointee.value = value.baseAddress ?? nowhere }
      unsafe entry.pointee.value_length = metadata.length
      unsafe entry.pointee.version = metadata.version.rawValue
      unsafe entry.pointee.expires_at_ms = metadata.expiry.instant
      return unsafe function(context, entry) == 0
    }
  }
}
