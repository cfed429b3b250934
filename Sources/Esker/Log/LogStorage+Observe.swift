extension LogStorage: ObservableStorage {
  /// Calls `body` with every change that any view of the keyspace makes; see ``ObservableStorage``.
  ///
  /// Writes made past the views, to the `Keyspace` itself or in a batch, are not heard.
  public func observe(
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> Observation {
    try hub.observe(key: nil) { body(change($0)) }
  }

  /// Calls `body` with every change of one key that any view of the keyspace makes; see ``ObservableStorage``.
  public func observe(
    _ key: Key,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> Observation {
    var keyBytes: [UInt8] = []
    try withBytes(of: key) { (bytes) throws(StorageError) in keyBytes = bytes.copied() }
    return try hub.observe(key: keyBytes) { body(change($0)) }
  }

  /// A change as this view sees it.
  private func change(_ change: ByteChange) -> StorageChange<Key, Value> {
    do throws(StorageError) {
      switch change.action {
      case .put(let before, let after):
        let key = try key(from: change.key)
        var replaced: Value?
        if let before { replaced = try value(from: before, key) }
        return .set(key: key, before: replaced, after: try value(from: after, key))
      case .removal(let before):
        let key = try key(from: change.key)
        return .removed(key: key, before: try value(from: before, key))
      case .removalOfAll: return .removedAll
      case .removalOfExpired(let count): return .removedExpired(count: count)
      case .missed(let count): return .missed(count)
      }
    } catch {
      return .unreadable(error)
    }
  }

  private func value(from bytes: [UInt8], _ key: Key) throws(StorageError) -> Value {
    do { return try values.decode(bytes) } catch { throw undecodable(key, error) }
  }
}
