extension LogStorage: ObservableStorage {
  /// Calls `body` with every change of the keyspace, or of one key; see ``ObservableStorage``.
  ///
  /// All changes are reported, whoever makes them: any view, the `Keyspace` itself, each write of a batch, an import. Values that
  /// expired or are evicted are reported when they are taken out. Records that a merge moves do not change.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` for a store that is open for reading only; follow `changes(since:)`
  ///   of the store there.
  public func observe(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    var keyBytes: [UInt8]?
    if let key { try withBytes(of: key) { (bytes) throws(StorageError) in keyBytes = bytes.copied() } }
    return try broadcaster.observe(key: keyBytes) { body(change($0)) }
  }

  /// A change as this view sees it.
  private func change(_ notice: ChangeQueue<[UInt8], KeyspaceChange>.Notice) -> StorageChange<Key, Value> {
    var known: Key?
    do throws(StorageError) {
      switch notice {
      case .missed(let count): return .missed(count)
      case .ended: return .closed
      case .change(.emptied): return .removedAll
      case .change(.put(let keyBytes, let before, let after)):
        let key = try key(from: keyBytes)
        known = key
        return .set(key: key, before: before.flatMap { value(from: $0) }, after: try value(from: after, key))
      case .change(.loss(let keyBytes, let before, let cause)):
        let key = try key(from: keyBytes)
        let value = value(from: before)
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

  func value(from bytes: [UInt8], _ key: Key) throws(StorageError) -> Value {
    do { return try values.decode(bytes) } catch { throw undecodable(key, error) }
  }

  /// What was there before, if it can be read: if not, that must not hide what is there now.
  private func value(from before: Result<[UInt8], StoreError>) -> Value? {
    guard let bytes = try? before.get() else { return nil }
    return try? values.decode(bytes)
  }
}

extension LogStorage: LogBacked {
  var logView: LogBacking? { LogBacking(broadcaster: broadcaster, formOfKeys: keys.id) }
}
