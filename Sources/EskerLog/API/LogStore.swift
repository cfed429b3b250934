package import EskerFormat
internal import EskerPlatform

/// An embedded, log-structured key-value store for bytes.
///
/// Every write is appended to a log of segment files, and found again through an in-memory hash index. A store is a directory. One
/// process may have it open for writing, or several that write in turn, see ``Options/sharing``; any number may read it meanwhile.
///
/// ```swift
/// let store = try LogStore(at: "cities.esker")
/// try store.put("Vienna", forKey: "at")
/// let name = try store.get("at")        // the bytes of "Vienna"
/// ```
///
/// The operations of ``ByteStore`` apply to the default keyspace.
///
/// All methods may be called from any thread at any time. Reads take no lock. Releasing the last reference closes the store; on
/// one of the store's own threads, that happens a moment later, on another thread.
public final class LogStore: ByteStore {
  /// The maximum length of a key, in bytes.
  public static let maximumKeyLength = StoreLimits.keyLength
  /// The maximum length of a value, in bytes: 1 GiB.
  public static let maximumValueLength = StoreLimits.valueLength
  /// The maximum size of a batch, in bytes of records: 2 GiB.
  public static let maximumBatchLength = StoreLimits.batchLength

  @usableFromInline
  let engine: Engine

  /// The part of the default keyspace that the engine works with. Not part of the interface.
  public let _core: _KeyspaceCore

  /// False for a handle that the store itself holds; see ``Engine/kept``.
  private let closesAtEnd: Bool

  /// Opens the store at `path`, or creates it if nothing exists there, or only an empty directory.
  ///
  /// After a clean close, this takes the same time for any number of keys; after a crash, it replays the log since the last
  /// checkpoint. ``Options/onEvent`` is notified of what was found. A relative path is made absolute here: the process may change
  /// its working directory while the store is open.
  ///
  /// - Throws: ``StoreError/locked(path:holder:)``, ``StoreError/notAStore(path:)``,
  ///   ``StoreError/unknownFormat(path:version:)``, ``StoreError/damaged(_:reason:)`` if both copies of the manifest or a
  ///   whole segment are lost, ``StoreError/noSpace(path:needed:)`` and ``StoreError/failed(operation:path:errno:)``.
  public convenience init(at path: String, options: Options = Options()) throws(StoreError) {
    try self.init(at: path, options: options, host: .system)
  }

  /// A new store in memory, for tests and previews: the same engine, which writes to files without names. It needs no directory, and is gone
  /// with the last reference to it. Everything works but for other processes; `path` is not one that others could open.
  ///
  /// A backup to a directory makes a store of it that stays. With ``Options/clock``, a test moves the time.
  ///
  /// - Throws: ``StoreError/failed(operation:path:errno:)`` if there is no memory, or there are too many open files.
  public static func inMemory(options: Options = Options()) throws(StoreError) -> LogStore {
    let files = MemoryFileSystem()
    var host = StoreHost.system
    host.platform.fileSystem = files
    host.platform.pageCacheRoom = { nil }
    return try LogStore(at: files.root + "/store", options: options, host: host)
  }

  /// Opens a store on a given host, such as one with a simulated disk, a fake clock, and background work done inline.
  package init(at path: String, options: Options, host: StoreHost) throws(StoreError) {
    engine = try Self.open(host.absolute(path), options, host)
    guard let core = engine.keydir.keyspaces[0] else { throw .closed }
    _core = core
    closesAtEnd = true
  }

  /// Creates a store in a directory that carries the mark of a copy in progress; its path is absolute.
  init(building storeID: StoreID, at path: String, options: Options, host: StoreHost) throws(StoreError) {
    engine = try Engine(path: path, options: options, host: host, building: storeID)
    guard let core = engine.keydir.keyspaces[0] else { throw .closed }
    _core = core
    closesAtEnd = true
  }

  /// A handle for objects that the store itself retains. It does not keep the store open.
  private init(withinItself store: LogStore) {
    engine = store.engine
    _core = store._core
    closesAtEnd = false
  }

  deinit {
    guard closesAtEnd else { return }
    // On one of the store's own threads, which cannot wait for its own end, close on another.
    let engine = engine
    if WorkerThread.isCurrentThread {
      do throws(PlatformError) { _ = try WorkerThread(name: "esker-close") { try? engine.close() } } catch {
        // The store stays open and locked until the process ends; the next opening recovers, as after a crash.
        engine.env.emit(.backgroundFailure(operation: "close", StoreError(error)))
        engine.env.deliverEvents()
      }
    } else {
      try? engine.close()
    }
  }

  /// The object attached to the store for `key`; if there is none, or one that is no longer valid, attaches the result of `make`
  /// until the store is closed.
  ///
  /// - Parameters:
  ///   - key: a type that identifies one kind of object.
  ///   - isValid: whether an object may still be used.
  ///   - make: gets a handle that does not keep the store open.
  package func keeping<Kept: AnyObject & Sendable, Failure: Error>(
    for key: Any.Type,
    while isValid: (Kept) -> Bool,
    _ make: (LogStore) throws(Failure) -> Kept
  ) throws(Failure) -> Kept {
    let key = ObjectIdentifier(key)
    if let kept = engine.kept.withLock({ $0?[key] }) as? Kept, isValid(kept) { return kept }
    let made = try make(LogStore(withinItself: self))
    // Released after the lock, as its end may call the store.
    let replaced = engine.kept.withLock { kept -> (any AnyObject & Sendable)? in
      defer { kept?[key] = made }
      return kept?[key]
    }
    withExtendedLifetime(replaced) {}
    return made
  }

  private static func open(_ path: String, _ options: Options, _ host: StoreHost) throws(StoreError) -> Engine {
    let files = ManifestFiles(directory: path, fileSystem: host.platform.fileSystem)
    for _ in 0..<(options.readOnly || options.sharing != .exclusive ? LogPosition.mostTries : 0) {
      let before = try? files.read().newest?.generation
      do throws(StoreError) { return try Engine(path: path, options: options, host: host) } catch {
        if error != StoreError.overtaken(at: path) {
          // The writer may have merged a segment after the manifest was read and before the segment was opened.
          guard case .damaged = error, let before, try files.read().newest?.generation != before else { throw error }
        }
        host.platform.pause()
      }
    }
    return try Engine(path: path, options: options, host: host)
  }

  /// The path of the store's directory, made absolute when the store was opened.
  public var path: String { engine.env.path }

  /// Whether the store was opened with ``Options/readOnly``.
  package var isReadOnly: Bool { engine.env.options.readOnly }

  /// The store's identity.
  package var storeID: StoreID { engine.env.storeID }

  /// The current store time, in milliseconds since 1970.
  package var storeTime: Int64 { engine.env.time.now }

  /// The default keyspace, which the store's own operations use.
  public var `default`: Keyspace { Keyspace(core: core, store: self) }

  /// The keyspace called `name`, created on first use. Creating it takes a durable edit of the manifest; later calls take a
  /// dictionary look-up.
  ///
  /// The empty name is that of the ``default`` keyspace. Names are compared as Swift compares strings, so two spellings of é
  /// name one keyspace; keys are compared by their bytes, so they are two keys.
  ///
  /// - Throws: ``StoreError/invalidKeyspace(_:)`` for a name of more than 255 bytes; ``StoreError/noSuchKeyspace(_:)`` if a
  ///   read-only store has no such keyspace; what an edit of the manifest throws.
  public func keyspace(_ name: String) throws(StoreError) -> Keyspace {
    if let core = engine.keydir.keyspaces[name] { return Keyspace(core: core, store: self) }
    return try keyspaces([name])[0]
  }

  /// The keyspace called `name`, with the most that it may take: a cache in a store that is not. See ``Keyspace/setCapacity(_:)``, which
  /// it does, but in a reader.
  ///
  /// - Throws: what ``keyspace(_:)`` and ``Keyspace/setCapacity(_:)`` throw.
  public func keyspace(_ name: String, capacity: Keyspace.Capacity) throws(StoreError) -> Keyspace {
    let keyspace = try keyspace(name)
    try keyspace.use(capacity)
    return keyspace
  }

  /// The keyspaces with these names, in their order, created if there are none. However many are created, that takes one
  /// durable edit of the manifest.
  ///
  /// - Throws: what ``keyspace(_:)`` throws; then none was created.
  /// - Complexity: O(keyspaces of the store) if one is created.
  public func keyspaces(_ names: [String]) throws(StoreError) -> [Keyspace] {
    try engine.keyspaces(named: names).map { Keyspace(core: $0, store: self) }
  }

  /// The keyspace called `name`, created on first use, with its forms recorded where none are; see ``Keyspace/keyForm``. What is
  /// recorded stays: if it contradicts `forms`, nothing is recorded. Nor is anything by a read-only store.
  ///
  /// - Throws: what ``keyspace(_:)`` throws; a read-only store, also what ``refresh()`` throws.
  package func keyspace(_ name: String, recording forms: KeyspaceForms) throws(StoreError) -> Keyspace {
    let cores = try engine.keyspaces(named: [name], recording: forms)
    return Keyspace(core: cores[0], store: self)
  }

  /// Removes a keyspace with all its entries, in constant time. Space is reclaimed, and the index purged, in the background.
  ///
  /// Operations of existing ``Keyspace`` values then throw ``StoreError/keyspaceRemoved(_:)``, also if a keyspace of that name
  /// is created again, which is another one. Snapshots taken before still show the entries; feeds report
  /// ``LogChange/Kind/removeAll``. In a store that is not synced, a power failure may undo the removal, as it may any write.
  ///
  /// - Returns: false if there is no such keyspace.
  /// - Throws: ``StoreError/invalidKeyspace(_:)`` for the default keyspace, which cannot be removed; what a put throws.
  @discardableResult
  public func removeKeyspace(_ name: String, durability: Durability? = nil) throws(StoreError) -> Bool {
    let sequence = try engine.removeKeyspace(named: name)
    if sequence != 0 { try engine.settle(sequence, durability) }
    return sequence != 0
  }

  /// The names of all keyspaces except the default one, in no particular order.
  ///
  /// - Throws: ``StoreError/closed``.
  public var keyspaceNames: [String] {
    get throws(StoreError) { try engine.keyspaceNames }
  }

  /// The number of entries in all keyspaces, without expired ones; see ``ByteStore/count()``.
  ///
  /// - Throws: ``StoreError/closed``.
  /// - Complexity: O(keyspaces), or that of ``ByteStore/count()`` where an entry may have expired.
  public func totalCount() throws(StoreError) -> Int {
    try engine.liveCount(of: engine.keydir.keyspaces.all)
  }

  /// Commits a batch of writes atomically: after a crash, and in a snapshot, either all of them are there or none.
  ///
  /// Reads of single keys may see a part of the batch while it is being committed. The batch is built in memory and logged when
  /// `body` returns; if `body` throws, nothing is logged.
  ///
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; ``StoreError/batchTooLarge(_:)``; what a put throws.
  public func write<R: ~Copyable>(
    durability: Durability? = nil,
    _ body: (inout WriteBatch) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    var batch = WriteBatch(defaultKeyspace: core)
    let result = try body(&batch)
    try engine.commit(batch, durability: durability)
    return result
  }

  /// Commits a batch of writes atomically; `body` may throw any error, which discards the batch.
  public func write<R: ~Copyable>(
    durability: Durability? = nil,
    _ body: (inout WriteBatch) throws -> R
  ) throws -> R {
    var batch = WriteBatch(defaultKeyspace: core)
    let result = try body(&batch)
    try engine.commit(batch, durability: durability)
    return result
  }

  /// A snapshot of the current state, which can be iterated while writes continue. Costs O(segments), and holds no lock
  /// afterwards.
  ///
  /// - Throws: ``StoreError/closed``.
  public func snapshot() throws(StoreError) -> Snapshot {
    try engine.snapshot()
  }

  /// Makes every write durable that returned before the call, or was read.
  ///
  /// - Throws: ``StoreError/syncFailed(errno:)``; from then on, the store rejects writes until it is reopened.
  public func sync() throws(StoreError) {
    try engine.sync()
  }

  /// Makes durable what this process has written, and what other processes wrote that write in turn: takes the turn for that.
  ///
  /// - Throws: also what a write throws before it begins.
  package func syncAll() throws(StoreError) {
    try engine.checkMayWrite()
    try engine.sync()
  }

  /// Waits until the write with that sequence number is durable; triggers a sync if none is in progress. Throws what ``sync()``
  /// throws.
  ///
  /// A number that no write has yet counts as that of the last write: nothing later is waited for.
  public func waitDurable(_ sequence: SequenceNumber) throws(StoreError) {
    try engine.waitDurable(sequence.rawValue)
  }

  /// The sequence number of the last write; 0 in a store that was never written. Of a closed store, the last before it was closed.
  public var lastSequence: SequenceNumber { SequenceNumber(rawValue: engine.publishedSequence) }

  /// The sequence number up to which every write survives a power failure. Of a closed store, as its close left it.
  public var durableSequence: SequenceNumber { SequenceNumber(rawValue: engine.durableSequence) }

  /// Statistics of the store, gathered by this call. Cheap enough to poll: O(segments). Of a closed store, which holds no keys and
  /// no segments, the counters are those of its whole life.
  public var statistics: Statistics { Statistics(of: engine) }

  /// Reads every byte of the store and verifies its checksums: manifests, segments, footers, checkpoint. Checks that each entry of
  /// the index leads to a record. Runs concurrently with reads and writes.
  ///
  /// - Parameter progress: called with the share done, from 0 to 1; returns false to stop.
  /// - Returns: what was checked, and every damaged range.
  /// - Throws: ``StoreError/cancelled`` if `progress` stopped it, or another error, such as ``StoreError/closed``, if the check
  ///   cannot continue; damage is in the report.
  /// - Complexity: O(bytes on disk).
  public func verify(progress: ((Double) -> Bool)? = nil) throws(StoreError) -> Report.Verification {
    try StoreVerification(of: engine).run(progress: progress)
  }

  /// Removes every expired entry of every keyspace now.
  ///
  /// - Returns: the number of entries removed.
  /// - Complexity: O(entries).
  @discardableResult
  public func removeAllExpired() throws(StoreError) -> Int {
    try engine.inTurn { () throws(StoreError) in try engine.maintainer.removeExpired(in: nil) }
  }

  /// Sets the store time back to the wall clock's, after the wall clock had been set to a wrong later time.
  ///
  /// Store time never goes back by itself, so that expired values do not reappear. After a wrong jump forward, it would stand still
  /// until the wall clock catches up. Values that expired under the wrong time become visible again, except that those removed by
  /// ``removeAllExpired()`` stay away until a recovery from a crash reads their records again.
  public func resetClock() throws(StoreError) {
    try engine.resetClock()
  }

  /// Catches up with what the writer has logged, in a read-only store. Reads do this themselves when they notice new records; call
  /// it to be sure to see everything written before the call. Does nothing in a writer.
  ///
  /// - Throws: ``StoreError/closed``; ``StoreError/otherStore(path:)`` if this store was replaced by another;
  ///   ``StoreError/damaged(_:reason:)`` if a listed segment is missing, or the store was replaced by an older copy of itself;
  ///   ``StoreError/failed(operation:path:errno:)``. Reads then show the same state as before, or a newer one.
  /// - Complexity: O(what was written since); if unread parts of the log were merged, O(contents of the new segments).
  public func refresh() throws(StoreError) {
    try engine.follower.refresh()
  }

  /// Syncs, writes an index checkpoint so that the next opening is immediate, and releases unused space. Idempotent.
  ///
  /// Reads and writes that begin afterwards throw ``StoreError/closed``; a task whose write is already logged still learns whether
  /// it became durable.
  ///
  /// The store is closed even if this throws. If a sync fails, its error is thrown, and the next opening recovers. If a sync failed
  /// earlier, nothing is written, and ``StoreError/syncFailed(errno:)`` is thrown with the earlier cause.
  public func close() throws(StoreError) {
    try engine.close()
  }

  /// Suspending versions of the operations that wait for the disk.
  public var async: Keyspace.Async { Keyspace.Async(core: core) }
}
