internal import Esker
internal import EskerPlatform
internal import Synchronization

/// Why a storage is not made: its log has copies, times of leases, or queued writes of other tiers, which are in use.
///
/// Two tiers in one process that keep something in one log, under one name and prefix, would each take what the other wrote for their
/// own: an older copy could replace what the other's write has left, and a queued write would be replayed by both.
public struct RemoteLogInUse: Error, Hashable, Sendable {
  /// What the remote store is called.
  public var name: String
  /// What stands before every key.
  public var prefix: String
  /// The directory of the log.
  public var path: String

  init(name: String, prefix: String, path: String) {
    self.name = name
    self.prefix = prefix
    self.path = path
  }
}

extension RemoteLogInUse: CustomStringConvertible {
  /// What is in use, and what can be done.
  public var description: String {
    "the log at \(path) is used by other tiers named \"\(name)\" with the prefix \"\(prefix)\" in this process; share those, stop them "
      + "first, or give these a log, a name or a prefix of their own"
  }
}

/// The logs that tiers use: one tiers at a time, of all in the process. Other processes cannot open them for writing meanwhile.
final class LogClaims: Sendable {
  private struct Claim: Hashable {
    let store: ObjectIdentifier
    /// What names of keyspaces begin with.
    let keyspaces: String
  }

  private struct Holder {
    let claims: ObjectIdentifier
    /// Kept, so that no other store gets its identity.
    let store: LogStore
  }

  /// Who has what, of all in the process.
  private static let holders = Guarded([Claim: Holder](), .leaf)
  /// Read and set under the lock of `holders`.
  private let isClosed = Atomic(false)

  deinit { release() }

  /// Takes a log for keyspaces of the tiers of a name and prefix, unless they have it. One that is only read is nobody's.
  ///
  /// - Throws: ``/Esker/StorageError/back(name:underlying:)`` with ``RemoteLogInUse``, or with ``RemoteError/stopped`` after
  ///   ``release()``.
  func claim(_ store: LogStore, _ name: String, _ prefix: String, for view: String) throws(StorageError) {
    if store.isReadOnly { return }
    let claim = Claim(store: ObjectIdentifier(store), keyspaces: "\(name)/\(prefix)")
    let own = ObjectIdentifier(self)
    let refusal: (any Error)? = Self.holders.withLock { holders in
      if isClosed.load(ordering: .relaxed) { return RemoteError.stopped }
      if let holder = holders[claim], holder.claims != own {
        return RemoteLogInUse(name: name, prefix: prefix, path: store.path)
      }
      holders[claim] = Holder(claims: own, store: store)
      return nil
    }
    if let refusal { throw .back(name: view, underlying: refusal) }
  }

  /// Lets others have them, from now on for good.
  func release() {
    let own = ObjectIdentifier(self)
    let former = Self.holders.withLock { holders in
      isClosed.store(true, ordering: .relaxed)
      let former = holders.filter { $0.value.claims == own }
      for claim in former.keys { holders[claim] = nil }
      return former
    }
    withExtendedLifetime(former) {}
  }
}
