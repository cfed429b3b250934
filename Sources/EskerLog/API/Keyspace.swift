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

  /// The most that its entries may take together. Unlimited by default.
  public var capacity: Capacity { Capacity(core.budget) }

  /// Sets the most that the entries of this keyspace may take together, and evicts at once what is more. Saved durably in the store by
  /// an edit of the manifest.
  ///
  /// With a capacity the keyspace is a cache, in a store that is not: before a write that would exceed it, those entries are evicted
  /// that were written longest ago, except those that were read or written again since they came, or since they were last spared. An
  /// evicted key is absent, as if it had been removed. Other keyspaces lose nothing. See <doc:Capacity>.
  ///
  /// - Throws: What ``setDefaultExpiry(_:)`` throws, and what a removal throws.
  /// - Complexity: O(1) if nothing has to go. Else O(what goes), and the first time after an opening O(entries of the store).
  public func setCapacity(_ capacity: Capacity) throws(StoreError) {
    try core.engine.setBudget(KeyspaceBudget(capacity), of: core, evicts: true)
  }

  /// Sets the capacity that a program asks for as it opens the keyspace: nil keeps what there is, and a reader records nothing.
  package func use(_ capacity: Capacity?) throws(StoreError) {
    guard let capacity, !store.isReadOnly else { return }
    try setCapacity(capacity)
  }

  /// Records a capacity without evicting anything: what is more goes with the next write that would add to it.
  package func record(_ capacity: Capacity) throws(StoreError) {
    try core.engine.setBudget(KeyspaceBudget(capacity), of: core, evicts: false)
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

extension Keyspace {
  /// The most that the entries of a keyspace may take together; they never take more.
  public struct Capacity: Hashable, Sendable {
    /// Bytes of records: those of keys and values, and 40 to 55 for each entry, as long as they are not packed; nil for no limit.
    public var bytes: Int?
    /// The number of entries; nil for no limit.
    public var entries: Int?

    /// Limits the bytes, the number of entries, or both.
    public init(bytes: Int? = nil, entries: Int? = nil) {
      self.bytes = bytes
      self.entries = entries
    }

    /// At most so many bytes of records.
    public static func bytes(_ bytes: Int) -> Capacity { Capacity(bytes: bytes) }

    /// At most so many entries.
    public static func entries(_ entries: Int) -> Capacity { Capacity(entries: entries) }

    /// No limit.
    public static let unlimited = Capacity()
  }
}

extension Keyspace.Capacity {
  package init(_ budget: KeyspaceBudget) {
    let limits = budget.limits
    self.init(bytes: limits.bytes, entries: limits.entries)
  }
}

extension KeyspaceBudget {
  fileprivate init(_ capacity: Keyspace.Capacity) {
    self.init(
      bytes: capacity.bytes.map { UInt64(clamping: $0) } ?? .max,
      entries: capacity.entries.map { UInt64(clamping: $0) } ?? .max
    )
  }
}
