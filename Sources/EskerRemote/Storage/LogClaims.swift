internal import Esker
internal import EskerPlatform

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

  private struct State {
    /// Kept, so that no other store gets the identity of one of them.
    var stores: [Claim: LogStore] = [:]
    var isClosed = false
  }

  /// Who has what.
  private static let taken = Guarded([Claim: ObjectIdentifier](), .leaf)
  private let state = Guarded(State(), .leaf)

  deinit { release() }

  /// Takes a log for keyspaces of the tiers of a name and prefix, unless they have it. One that is only read is nobody's.
  ///
  /// - Throws: ``Esker/StorageError/back(name:underlying:)`` with ``RemoteLogInUse``, or with ``RemoteError/stopped`` after
  ///   ``release()``.
  func claim(_ store: LogStore, _ name: String, _ prefix: String, for view: String) throws(StorageError) {
    if store.isReadOnly { return }
    let claim = Claim(store: ObjectIdentifier(store), keyspaces: "\(name)/\(prefix)")
    let own = ObjectIdentifier(self)
    let holder = Self.taken.withLock { taken in
      let holder = taken[claim] ?? own
      taken[claim] = holder
      return holder
    }
    guard holder == own else {
      throw .back(name: view, underlying: RemoteLogInUse(name: name, prefix: prefix, path: store.path))
    }
    let isClosed = state.withLock { state in
      if !state.isClosed { state.stores[claim] = store }
      return state.isClosed
    }
    guard isClosed else { return }
    Self.taken.withLock { $0[claim] = nil }
    throw .back(name: view, underlying: RemoteError.stopped)
  }

  /// Lets others have them, from now on for good.
  func release() {
    let former = state.withLock { state in
      state.isClosed = true
      defer { state.stores = [:] }
      return state.stores
    }
    Self.taken.withLock { taken in for claim in former.keys { taken[claim] = nil } }
    withExtendedLifetime(former) {}
  }
}
