extension LogStorage: ObservableStorage {
  /// Calls `body` with every change of the keyspace, or of one key; see ``ObservableStorage``.
  ///
  /// Heard is all that changes, whoever does it: any view, the `Keyspace` itself, each write of a batch, an import, and also
  /// what expired or is evicted, as it is taken out. Records that a merge moves do not change.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` for a store that is open for reading only; follow `changes(since:)`
  ///   of the store there.
  public func observe(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    var keyBytes: [UInt8]?
    if let key { try withBytes(of: key) { (bytes) throws(StorageError) in keyBytes = bytes.copied() } }
    return try hub.observe(key: keyBytes) { body(change($0)) }
  }

  /// A change as this view sees it.
  private func change(_ told: ChangeQueue<[UInt8], KeyspaceChange>.Told) -> StorageChange<Key, Value> {
    var known: Key?
    do throws(StorageError) {
      switch told {
      case .missed(let count): return .missed(count)
      case .ended: return .closed
      case .change(.emptied): return .removedAll
      case .change(.put(let keyBytes, let before, let after)):
        let key = try key(from: keyBytes)
        known = key
        var replaced: Value?
        if let before { replaced = try value(from: before, key) }
        return .set(key: key, before: replaced, after: try value(from: .success(after), key))
      case .change(.loss(let keyBytes, let before, let cause)):
        let key = try key(from: keyBytes)
        known = key
        let value = try value(from: before, key)
        return switch cause {
        case .removal: .removed(key: key, before: value)
        case .expiry: .expired(key: key, before: value)
        case .eviction: .evicted(key: key, before: value)
        }
      }
    } catch {
      return .unreadable(key: known, error)
    }
  }

  private func value(from bytes: Result<[UInt8], StoreError>, _ key: Key) throws(StorageError) -> Value {
    let bytes = try translating { () throws(StoreError) in try bytes.get() }
    do { return try values.decode(bytes) } catch { throw undecodable(key, error) }
  }
}
