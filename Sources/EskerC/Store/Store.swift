// Safety: pointers are the caller's, who keeps what they point to until its call returns, as esker.h says. Each is looked at before it is
// followed.

import CEsker
import EskerLog

/// See `esker_open` in esker.h.
@c(esker_open)
package func open(
  _ path: UnsafePointer<CChar>?,
  _ options: UnsafePointer<esker_options>?,
  _ store: UnsafeMutablePointer<OpaquePointer?>?
) -> esker_status {
  unsafe store?.pointee = nil
  return calling {
    let result = try unsafe place(store)
    let settings = try unsafe OpenSettings(options)
    if settings.isInMemory { return try unsafe handOut(LogStore.inMemory(options: settings.options), result) }
    let path = try unsafe text(path, "the path")
    try settings.creation.check(path)
    return try unsafe handOut(LogStore(at: path, options: settings.options), result)
  }
}

extension OpenSettings.Creation {
  /// Throws if there must be a store at a path and there is none, or the other way round.
  fileprivate func check(_ path: String) throws(StoreError) {
    switch self {
    case .ifMissing: return
    case .never: _ = try LogStore.history(at: path)
    case .always:
      do throws(StoreError) { _ = try LogStore.history(at: path) } catch {
        // Whether there is something else is for the opening to find.
        if case .notAStore = error { return }
        throw error
      }
      throw .directoryNotEmpty(path: path)
    }
  }
}

/// See `esker_close` in esker.h.
@c(esker_close)
package func close(_ store: OpaquePointer?) -> esker_status {
  unsafe closing(store, LogStore.self) { store in try store.close() }
}

/// See `esker_sync` in esker.h.
@c(esker_sync)
package func sync(_ store: OpaquePointer?) -> esker_status {
  unsafe calling(store, LogStore.self) { store in
    try store.sync()
    return ESKER_OK
  }
}

/// See `esker_refresh` in esker.h.
@c(esker_refresh)
package func refresh(_ store: OpaquePointer?) -> esker_status {
  unsafe calling(store, LogStore.self) { store in
    try store.refresh()
    return ESKER_OK
  }
}

/// See `esker_merge` in esker.h.
@c(esker_merge)
package func merge(_ store: OpaquePointer?) -> esker_status {
  unsafe calling(store, LogStore.self) { store in
    try store.merge()
    return ESKER_OK
  }
}

/// See `esker_backup` in esker.h.
@c(esker_backup)
package func backup(
  _ store: OpaquePointer?,
  _ directory: UnsafePointer<CChar>?,
  _ previous: UnsafePointer<CChar>?
) -> esker_status {
  unsafe calling(store, LogStore.self) { store in
    let directory = try unsafe text(directory, "the directory")
    let earlier = unsafe previous == nil ? nil : try text(previous, "the previous backup")
    try store.backup(to: directory, reusing: earlier)
    return ESKER_OK
  }
}

/// See `esker_statistics` in esker.h.
@c(esker_statistics)
package func statistics(
  _ store: OpaquePointer?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ length: UnsafeMutablePointer<Int>?
) -> esker_status {
  unsafe json?.pointee = nil
  unsafe length?.pointee = 0
  return unsafe calling(store, LogStore.self) { store in
    let result = try unsafe place(json)
    // Throws if the store is closed: its statistics would be those of nothing.
    _ = try store.keyspaceNames
    try unsafe JSONText(statisticsOf: store).handOut(result, length)
    return ESKER_OK
  }
}
