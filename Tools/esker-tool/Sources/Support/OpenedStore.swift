import Esker

/// A store that stays open from one command to the next.
struct OpenedStore {
  /// The store's directory, as the commands are given it.
  let path: String
  let store: LogStore
  let isReadOnly: Bool
  let notices: StoreNotices

  /// Calls the body of a command that only reads.
  ///
  /// - Throws: What `body` throws; ``ToolError/damageFound`` if it succeeded on a damaged store.
  func read<R>(_ body: (LogStore) throws -> R) throws -> R {
    // Shows what another process has written meanwhile.
    try store.refresh()
    let result = try body(store)
    if notices.foundDamage { throw ToolError.damageFound }
    return result
  }

  /// Calls the body of a command that writes.
  func write<R>(_ body: (LogStore) throws -> R) throws -> R {
    guard !isReadOnly else { throw ToolError.readOnlyShell }
    return try body(store)
  }
}
