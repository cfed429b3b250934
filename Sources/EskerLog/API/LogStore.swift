package import EskerFormat
internal import EskerPlatform

/// An embedded, log-structured store of keys and values, bytes in and bytes out.
///
/// Every write is appended to a log of segment files and found again through a hash index in memory. One store lives in
/// one directory and is open for writing in one process at a time; read-only openers are welcome beside it.
///
/// ```swift
/// let store = try LogStore(at: "cities.esker")
/// try store.put("Vienna", forKey: "at")
/// let name = try store.get("at")        // the bytes of "Vienna"
/// ```
///
/// The store's operations are those of ``ByteStore``, applied to its default keyspace.
///
/// All methods may be called from any thread at any time. Reads take no lock. The last reference closes the store; if it goes
/// on a thread of the store's own, that happens a moment later on another one.
public final class LogStore: ByteStore {
  /// Longest key, in bytes.
  public static let maximumKeyLength = Limits.keyLength
  /// Longest value, in bytes: 1 GiB.
  public static let maximumValueLength = Limits.valueLength
  /// Largest batch, in bytes of records: 2 GiB.
  public static let maximumBatchLength = Limits.batchLength

  @usableFromInline
  let engine: Engine

  /// The part of the default keyspace that the engine works with.
  public let core: KeyspaceCore

  /// False for a handle of the store's own; see ``Engine/kept``.
  private let closesAtEnd: Bool

  /// Opens the store at `path`, or creates it if nothing or an empty directory is there.
  ///
  /// After a clean close this takes the same time whatever the number of keys; after a crash it replays what was logged
  /// since the last checkpoint. ``Options/onEvent`` hears what was found.
  ///
  /// - Throws: ``StoreError/locked(path:holder:)``, ``StoreError/notAStore(path:)``,
  ///   ``StoreError/unknownFormat(path:version:)``, ``StoreError/damaged(_:reason:)`` when both copies of the manifest or a
  ///   whole segment are gone, ``StoreError/noSpace(path:needed:)`` and ``StoreError/failed(operation:path:errno:)``.
  public convenience init(at path: String, options: Options = Options()) throws(StoreError) {
    try self.init(at: path, options: options, host: .system)
  }

  /// Opens a store on a host of the caller's making: a simulated disk, a fake clock, background work done inline.
  package init(at path: String, options: Options, host: Host) throws(StoreError) {
    engine = try Self.open(path, options, host)
    guard let core = engine.keydir.keyspaces[0] else { throw .closed }
    self.core = core
    closesAtEnd = true
  }

  /// Makes a store in a directory that bears a copy's mark.
  init(building storeID: StoreID, at path: String, options: Options, host: Host) throws(StoreError) {
    engine = try Engine(path: path, options: options, host: host, building: storeID)
    guard let core = engine.keydir.keyspaces[0] else { throw .closed }
    self.core = core
    closesAtEnd = true
  }

  /// A handle for what the store itself keeps: the last reference to the store closes it all the same.
  private init(withinItself store: LogStore) {
    engine = store.engine
    core = store.core
    closesAtEnd = false
  }

  deinit {
    guard closesAtEnd else { return }
    // What the store's own thread called may have held the last reference, and that thread cannot wait for its own end.
    let engine = engine
    if WorkerThread.isCurrentThread {
      do throws(PlatformError) { _ = try WorkerThread(name: "esker-close") { try? engine.close() } } catch {
        // It stays open and locked as long as the process lives. What was written is recovered, as after a crash.
        engine.env.emit(.backgroundFailure(operation: "close", StoreError(error)))
        engine.env.deliverEvents()
      }
    } else {
      try? engine.close()
    }
  }

  /// What was made for `key` before and is still kept; otherwise what `make` makes now, kept until the store is closed.
  ///
  /// - Parameters:
  ///   - key: a type that stands for one kind of thing only.
  ///   - make: is given a handle that does not keep the store open.
  package func keeping<Kept: AnyObject & Sendable, Failure: Error>(
    for key: Any.Type,
    _ make: (LogStore) throws(Failure) -> Kept
  ) throws(Failure) -> Kept {
    let key = ObjectIdentifier(key)
    if let kept = engine.kept.withLock({ $0?[key] }) as? Kept { return kept }
    let made = try make(LogStore(withinItself: self))
    engine.kept.withLock { $0?[key] = made }
    return made
  }

  private static func open(_ path: String, _ options: Options, _ host: Host) throws(StoreError) -> Engine {
    let files = ManifestFiles(directory: path, fileSystem: host.platform.fileSystem)
    for _ in 0..<(options.readOnly ? LogPosition.mostTries : 0) {
      let before = try? files.read().newest?.generation
      do throws(StoreError) { return try Engine(path: path, options: options, host: host) } catch {
        // The writer may have merged away a segment between the look at the manifest and the opening of the file.
        guard case .damaged = error, let before, try files.read().newest?.generation != before else { throw error }
        host.platform.pause()
      }
    }
    return try Engine(path: path, options: options, host: host)
  }

  /// The directory the store lives in, as it was given.
  public var path: String { engine.env.path }

  /// The store's identity.
  package var storeID: StoreID { engine.env.storeID }

  /// The present store time, in milliseconds.
  package var storeTime: Int64 { engine.env.time.now }

  /// The store's own keyspace: the one its direct operations use.
  public var `default`: Keyspace { Keyspace(core: core, store: self) }

  /// The keyspace called `name`, created on its first use. Costs an edit of the manifest the first time, since it is made
  /// durable, and a dictionary look-up from then on.
  ///
  /// - Throws: ``StoreError/invalidKeyspace(_:)`` for a name of more than 255 bytes; in a read-only store
  ///   ``StoreError/readOnly`` for a name that does not exist.
  public func keyspace(_ name: String) throws(StoreError) -> Keyspace {
    Keyspace(core: try engine.keyspace(named: name), store: self)
  }

  /// The names of all keyspaces created so far, in no order; the default keyspace has none.
  public var keyspaceNames: [String] { engine.keyspaceNames }

  /// Entries of all keyspaces, expired ones that were not reaped yet included. O(1).
  public var totalCount: Int { engine.keydir.keyspaces.count }

  /// Writes and removes in one step: after any crash, and in any snapshot, all of it is there or nothing.
  ///
  /// Reads of single keys may see a part of it while `write` is under way. The batch is built in memory and logged when
  /// `body` returns; if `body` throws, nothing is.
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

  /// Writes and removes in one step, with a body that may throw errors of its own; any error discards the batch.
  public func write<R: ~Copyable>(
    durability: Durability? = nil,
    _ body: (inout WriteBatch) throws -> R
  ) throws -> R {
    var batch = WriteBatch(defaultKeyspace: core)
    let result = try body(&batch)
    try engine.commit(batch, durability: durability)
    return result
  }

  /// The store as it is now, to be iterated while writes go on. Takes constant time and holds no lock.
  public func snapshot() throws(StoreError) -> Snapshot {
    try engine.snapshot()
  }

  /// Makes every write that returned before the call durable.
  ///
  /// - Throws: ``StoreError/syncFailed(errno:)``: from then on the store refuses writes until it is opened again.
  public func sync() throws(StoreError) {
    try engine.sync()
  }

  /// Waits until the write with that number is durable; asks for a sync if none is under way.
  public func waitDurable(_ sequence: SequenceNumber) throws(StoreError) {
    try engine.waitDurable(sequence.rawValue)
  }

  /// The number of the last write; 0 in a store that was never written.
  public var lastSequence: SequenceNumber { SequenceNumber(rawValue: engine.publishedSequence) }

  /// The number up to which every write survives a power cut.
  public var durableSequence: SequenceNumber { SequenceNumber(rawValue: engine.durableSequence) }

  /// Figures about the store, gathered now. Cheap enough to poll: O(segments).
  public var statistics: Statistics { Statistics(of: engine) }

  /// Reads every byte of the store and checks it against its checksums: manifests, segments, footers, checkpoint. Checks
  /// that each entry of the index leads to a record. Runs beside reads and writes.
  ///
  /// - Parameter progress: told the share that is done, from 0 to 1; returns false to stop.
  /// - Returns: what was checked and every damaged range.
  /// - Throws: only when the check itself cannot go on, such as ``StoreError/closed``, or ``StoreError/cancelled`` when
  ///   `progress` stopped it; damage is in the report.
  /// - Complexity: O(bytes on disk).
  public func verify(progress: ((Double) -> Bool)? = nil) throws(StoreError) -> VerificationReport {
    try StoreVerification(of: engine).run(progress: progress)
  }

  /// Removes every expired entry of every keyspace now.
  ///
  /// - Returns: how many entries went. O(entries).
  @discardableResult
  public func removeAllExpired() throws(StoreError) -> Int {
    try engine.keeper.removeExpired(in: nil)
  }

  /// Lets store time follow the wall clock backwards once, after the wall clock had been set to a wrong later time.
  ///
  /// Store time never goes back by itself, so that nothing expired comes back. After a bogus jump forward it would stand
  /// still until the wall clock catches up; this sets it to the wall clock's time. A value that expired under the wrong time
  /// is visible again, with one exception: one that ``removeAllExpired()`` has removed stays away until its record is read
  /// again in a recovery from a crash.
  public func resetClock() throws(StoreError) {
    try engine.resetClock()
  }

  /// Brings a read-only store up to what the writer has logged. Reads do this by themselves when they see more; call it to
  /// be sure to see all that was written before the call. Does nothing in a writer.
  ///
  /// - Throws: ``StoreError/closed``; ``StoreError/otherStore(path:)`` when another store was put in the place of this one;
  ///   ``StoreError/damaged(_:reason:)`` when a listed segment is missing, or an older copy of the store was put there;
  ///   ``StoreError/failed(operation:path:errno:)``. What is shown then is what was shown before, or newer.
  /// - Complexity: O(what was written since); when a part of the log was merged away unread, O(what the new segments hold).
  public func refresh() throws(StoreError) {
    try engine.follower.refresh()
  }

  /// Syncs, writes an index checkpoint so that the next opening is immediate, and gives unused space back. Idempotent.
  ///
  /// What waits in memory ahead of the store is written first, as `HybridStorage` in `Esker` says; what that fails of is thrown,
  /// and the store is closed all the same.
  /// Reads and writes that begin afterwards throw ``StoreError/closed``; a task whose write is logged by then is told whether it
  /// became durable. If syncing fails the store is closed all the same,
  /// the error is thrown, and the next opening recovers. If a sync failed earlier, nothing is written,
  /// ``StoreError/syncFailed(errno:)`` is thrown with the cause of that time, and the next opening recovers.
  public func close() throws(StoreError) {
    try engine.close()
  }

  /// Suspending twins of the operations that wait for the disk.
  public var async: AsyncStore { AsyncStore(core: core) }
}
