package import EskerFormat

/// A named set of keys in a store: equal keys in different keyspaces are different entries.
///
/// Keyspaces share the store's log, so a batch may span several. A value of this type keeps its store open. Thread safety: any
/// thread.
public struct Keyspace: ByteStore {
  /// The part of the keyspace that the engine works with. Not part of the interface.
  public let _core: _KeyspaceCore

  /// The store the keyspace belongs to.
  public let store: LogStore

  init(core: KeyspaceCore, store: LogStore) {
    _core = core
    self.store = store
  }

  /// The keyspace's name; empty for the default keyspace.
  public var name: String { core.name }

  /// Whether the keyspace was removed, so that its operations throw ``StoreError/keyspaceRemoved(_:)``.
  package var isRemoved: Bool { core.tag.isRemoved }

  /// After what time values expire that are put without an expiry; nil if the store's ``Options/defaultExpiry`` applies.
  public var defaultExpiry: Duration? { core.defaultExpiry }

  /// Sets after what time values expire that are put from now on without an expiry; nil restores the store's default. Saved
  /// durably in the store by an edit of the manifest.
  ///
  /// - Throws: ``StoreError/readOnly``, ``StoreError/closed``, ``StoreError/noSpace(path:needed:)``,
  ///   ``StoreError/syncFailed(errno:)`` and ``StoreError/failed(operation:path:errno:)``.
  public func setDefaultExpiry(_ duration: Duration?) throws(StoreError) {
    try core.engine.setDefaultExpiry(duration, of: core)
  }

  /// The form that keys have as bytes, such as `utf8` or `int64`, recorded by the first typed view; nil if there was none.
  ///
  /// The forms are a note for typed views and for the tool. The operations of this type read and write any bytes.
  public var keyForm: String? { core.forms.keys }

  /// The form that values have as bytes, such as `cbor`, recorded by the first typed view; nil if there was none.
  public var valueForm: String? { core.forms.values }

  /// Both forms.
  package var forms: KeyspaceForms { core.forms }

  /// Records the forms where none are; what is recorded stays.
  package func record(_ forms: KeyspaceForms) throws(StoreError) {
    try core.engine.record(forms, of: core)
  }

  /// Suspending versions of the operations that wait for the disk.
  public var async: Keyspace.Async { Keyspace.Async(core: core) }
}
