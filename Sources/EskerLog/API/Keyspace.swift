/// A named set of keys in a store, apart from all others: equal keys in two keyspaces are two entries.
///
/// Keyspaces share the store's log, so a batch may span several. A value of this type keeps its store open.
public struct Keyspace: ByteStore {
  /// The part of the keyspace that the engine works with.
  public let core: KeyspaceCore

  /// The store the keyspace belongs to.
  public let store: LogStore

  /// The keyspace's name; empty for the default keyspace.
  public var name: String { core.name }

  /// When values expire if the call does not say; nil: as the store's ``Options/defaultExpiry`` says.
  public var defaultExpiry: Duration? { core.defaultExpiry }

  /// Sets when values put from now on expire if the call does not say. Kept in the store, durably, by an edit of the
  /// manifest; nil returns to the store's own default.
  public func setDefaultExpiry(_ duration: Duration?) throws(StoreError) {
    try core.engine.setDefaultExpiry(duration, of: core)
  }

  /// Suspending twins of the operations that wait for the disk.
  public var async: AsyncStore { AsyncStore(core: core) }
}
