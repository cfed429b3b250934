internal import Esker
internal import EskerLog

/// What happened to a remote storage, as far as it is reported.
public enum RemoteChange<Key: Sendable>: Sendable {
  /// The value of the key was written, removed, evicted or has expired, or may have been; by this process too.
  case changed(Key)
  /// Anything may have changed: a connection was lost, a domain has moved, or changes came faster than they were taken.
  case doubtful
  /// The remote store has lost a write of the key: an older value is back.
  case rolledBack(Key)
  /// A queued write of the key was lost, or is refused. Told also of what was lost before the iteration began, if nobody heard it; the
  /// number of losses is in ``RemoteQueueStatistics``.
  case lost(Key, RemoteLoss)
}

extension RemoteChange: Equatable where Key: Equatable {}

extension RemoteStorage {
  /// What changes from now on, in the order in which it is reported; ends when the iteration does.
  ///
  /// Changes carry keys only; read the value if you need it. Each comes alone: servers do not tell which were made together. At most
  /// 1,024 changes wait to be taken; if there are more, a ``RemoteChange/doubtful`` follows them in place of the rest, and possibly
  /// another. A value that expires is reported when the server removes it, which may be much later.
  public func changes() -> AsyncStream<RemoteChange<Key>> {
    let (stream, buffer) = ChangeBuffer<Key>.make()
    let (scope, keys, observers) = (view.scope, view.keys, view.tiers.observers)
    @Sendable func key(_ bytes: [UInt8]) -> Key? {
      guard bytes.starts(with: scope) else { return nil }
      return try? bytes[scope.count...].withBytes { bytes throws in try keys.decode(bytes) }
    }
    let number = observers.add { report in
      switch report {
      case .changed(let bytes): if let key = key(bytes) { buffer.add(.changed(key)) }
      case .rolledBack(let bytes): if let key = key(bytes) { buffer.add(.rolledBack(key)) }
      case .raised: buffer.add(.doubtful)
      case .suspended, .leased: break
      }
    }
    let queue = view.tiers.queue(name)
    let listener = queue?.listen { bytes, loss in if let key = key(bytes) { buffer.add(.lost(key, loss)) } }
    view.core.observe()
    buffer.onTermination {
      observers.remove(number)
      if let listener { queue?.stopListening(listener) }
    }
    return stream
  }
}
