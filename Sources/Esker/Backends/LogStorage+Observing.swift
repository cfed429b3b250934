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
    try broadcaster.observe(key: try bytes(of: key)) { notice in
      switch notice {
      case .changes(let changes, _): for change in changes { body(shown(change)) }
      case .missed(let count): body(.missed(count))
      case .ended: body(.closed)
      }
    }
  }

  /// Calls `body` with every change of the keyspace, or of one key, with those of a batch at once; see ``ObservableStorage``.
  ///
  /// Of a batch that writes to several keyspaces, each storage reports what is its own, under the same number. The number is visible
  /// when the batch is reported: `changes(since:)` of the store begins behind it.
  ///
  /// - Throws: What ``observe(only:_:)`` throws.
  public func observeBatches(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken {
    try broadcaster.observe(key: try bytes(of: key), takesBatches: true) { notice in
      switch notice {
      case .changes(let changes, let number):
        body(StorageChange.Batch(changes.map(shown), sequence: number.map { SequenceNumber(rawValue: $0) }))
      case .missed(let count): body(StorageChange.Batch([.missed(count)]))
      case .ended: body(StorageChange.Batch([.closed]))
      }
    }
  }

  private func bytes(of key: Key?) throws(StorageError) -> [UInt8]? {
    var keyBytes: [UInt8]?
    if let key { try withBytes(of: key) { (bytes) throws(StorageError) in keyBytes = bytes.copied() } }
    return keyBytes
  }

  /// A change as this view sees it.
  private func shown(_ change: KeyspaceChange) -> StorageChange<Key, Value> {
    var known: Key?
    do throws(StorageError) {
      switch change {
      case .emptied: return .removedAll
      case .put(let keyBytes, let before, let after):
        let key = try key(from: keyBytes)
        known = key
        return .set(
          key: key,
          before: before.flatMap { value(from: $0, keyBytes) },
          after: try value(from: after, keyBytes, key)
        )
      case .loss(let keyBytes, let before, let cause):
        let key = try key(from: keyBytes)
        let value = value(from: before, keyBytes)
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

  func value(from bytes: [UInt8], _ keyBytes: [UInt8], _ key: Key) throws(StorageError) -> Value {
    do { return try decoded(bytes, keyBytes) } catch { throw undecodable(key, error) }
  }

  private func decoded(_ bytes: [UInt8], _ key: [UInt8]) throws -> Value {
    try bytes.withBytes { bytes throws in try key.withBytes { key throws in try decoded(bytes, key) } }
  }

  /// What was there before, if it can be read: if not, that must not hide what is there now.
  private func value(from before: Result<[UInt8], StoreError>, _ keyBytes: [UInt8]) -> Value? {
    guard let bytes = try? before.get() else { return nil }
    return try? decoded(bytes, keyBytes)
  }
}

extension LogStorage: LogBacked {
  var logView: LogBacking? { LogBacking(broadcaster: broadcaster, formOfKeys: keys.id) }
}
