internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Where the index leads, now and for each open snapshot. What Bitcask calls its key directory.
///
/// Keeps: the index leads only to records of segments that the catalog lists, that a merge is bringing, or that it has just
/// replaced; every change is noted for
/// checkpoints and snapshots before it is made; the live figures of a segment are those of what is led to in it, and a
/// keyspace's count that of what is led to of it.
///
/// Nothing outside this file changes where the index leads. What does is called under the writer's lock, which a `KeysState`
/// proves, and takes what was found under the same hold of it; each change does the same, in this order:
///
/// 1. A checkpoint under way saves the bucket as it was.
/// 2. Open snapshots note the place that the index leads to no more, and the one that a record is moved to. An iterator asks the
///    index first and the notes second, so it finds in one of them whatever it shows. Noted is only what the index leads to: a
///    place that it left before a snapshot was taken is not the snapshot's.
/// 3. The index changes.
/// 4. The figures of live records and of entries follow.
///
/// Calls the catalog, segments and the environment. Thread safety: reading, any thread.
///
/// Safety: threads may share it. Its properties are constants, safe for many threads or atomic, except `index`, which only a
/// holder of the writer's lock changes; readers go through `reader`, pinned. The marks are freed with the keydir, their only user.
@safe
final class Keydir: @unchecked Sendable {
  let env: Environment
  let catalog: Catalog
  let keyspaces = KeyspaceTable()
  // Copies, so that a read follows one reference less.
  let granules: GranuleTable
  let epochs: EpochDomain
  let time: StoreTime
  let verifiesReads: Bool
  /// The index for readers, without a reference to count.
  let reader: HashIndex.Reader
  /// Which keys were read lately, in a store of limited capacity.
  let readMarks: ReadMarks?
  /// The checkpoint that the index was loaded from, until it has all been copied.
  let loadedCheckpoint: LoadedCheckpoint?

  private let index: HashIndex
  // Relaxed, all three: flags that are set once, and nothing is read through them.
  /// False once entries of emptied keyspaces may be in the index.
  private let isSwept = Atomic<Bool>(true)
  /// True once a record could not be indexed for want of memory: what the index does not lead to may then be alive.
  private let lacksEntries = Atomic<Bool>(false)
  /// True once the log was found to have more keys of one hash than any store has: of those, not all are in the index.
  private let forged = Atomic<Bool>(false)

  /// - Parameter checkpoint: the index as it was, if it was kept.
  /// - Throws: when there is no memory.
  init(_ catalog: Catalog, loadedFrom checkpoint: LoadedCheckpoint?) throws(StoreError) {
    env = catalog.env
    self.catalog = catalog
    granules = catalog.granules
    epochs = env.epochs
    time = env.time
    verifiesReads = env.options.verification == .everyRead
    readMarks = env.options.capacity.map { ReadMarks(capacity: $0) }
    loadedCheckpoint = checkpoint
    guard let index = checkpoint?.makeIndex(epochs: env.epochs) ?? HashIndex(epochs: env.epochs) else {
      throw Self.outOfMemory(env)
    }
    self.index = index
    reader = index.reader
  }

  deinit {
    readMarks?.deallocate()
  }

  static func outOfMemory(_ env: Environment) -> StoreError {
    .failed(operation: "allocate memory for the index of", path: env.path, errno: PlatformError.outOfMemory)
  }

  // MARK: Facts

  var bucketCount: Int { index.bucketCount }
  /// Entries in the index.
  var count: Int { index.count }
  var memoryBytes: Int { index.memoryBytes }
  /// True once a page of the checkpoint was found damaged.
  var isDamaged: Bool { index.isDamaged }
  /// True while the index, or a part of it, stands in the checkpoint's pages.
  @inline(__always)
  var needsMigration: Bool { index.needsMigration }

  /// True once something alive may not be in the index.
  var isIncomplete: Bool { lacksEntries.load(ordering: .relaxed) }

  /// Notes that a record is in the log and could not be indexed.
  func noteIncomplete() { lacksEntries.store(true, ordering: .relaxed) }

  /// True once the log was found to be nobody's work but a forger's.
  var isLogForged: Bool { forged.load(ordering: .relaxed) }

  /// Notes that; true for the first time.
  func noteForgery() -> Bool { !forged.exchange(true, ordering: .relaxed) }

  /// True when entries of emptied keyspaces may be in the index.
  var needsSweep: Bool { !isSwept.load(ordering: .relaxed) }

  #if DEBUG
    /// For tests.
    var indexUnderTest: HashIndex { index }
  #endif

  // MARK: Room

  /// Makes sure that so many entries can be added under this hold of the writer's lock.
  @inline(__always)
  func reserve(_ count: Int = 1) throws(StoreError) {
    guard index.reserve(count) else { throw Self.outOfMemory(env) }
  }

  /// Splits a bucket if that is due.
  @inline(__always)
  func grow() { index.grow() }

  /// Makes the index, which holds nothing yet, large enough for so many keys.
  func makeRoom(for count: Int) { index.makeRoom(for: count) }

  /// Has memory ready for what the writer is about to add. Takes no lock.
  func prepareGrowth() {
    for _ in 0..<64 where index.needsGrowth { index.prepareGrowth() }
  }

  /// Brings in what the next step of ``migrate(_:)`` needs. Takes no lock.
  func prepareMigration() { index.prepareMigration() }

  /// Copies a chunk of the index out of the checkpoint's pages; false when there is none left.
  func migrate(_ keys: borrowing KeysState) -> Bool { index.migrateNextChunk() }

  // MARK: Searching

  /// A search that may be followed by a change under the same hold of the writer's lock.
  @inline(__always)
  func writeProbe(_ hash: UInt64) -> WriteProbe { index.writeProbe(hash) }

  /// Calls a body with the entries of some buckets; false when they cannot all be had.
  func forEachEntry(
    inBuckets buckets: Range<Int>,
    _ keys: borrowing KeysState,
    _ body: (IndexEntry) -> Void
  ) -> Bool {
    index.forEachEntry(inBuckets: buckets, body)
  }

  // MARK: Changes
  /// Leads the index to the newest record of a key. Inlined into every put: it pays one comparison for checkpoints and one
  /// for snapshots.
  ///
  /// - Parameters:
  ///   - existing: the record it led to, if any, as a search has just found it.
  ///   - probe: where that search ended.
  @inline(__always)
  func lead(
    _ hash: UInt64,
    to address: UInt64,
    _ size: Int,
    replacing existing: Existing,
    at probe: WriteProbe,
    _ core: KeyspaceCore?,
    _ keys: borrowing KeysState
  ) {
    saveForCheckpoint(hash, keys)
    if existing.address == 0 {
      // Fails for want of memory, if nobody has reserved it, and in a damaged bucket.
      guard index.insert(hash, address: address, after: probe) else {
        noteIncomplete()
        return
      }
      if let core { core.countEntries(1) }
    } else {
      note(existing.address, existing.sequence, keys)
      probe.replaceCurrent(with: address)
      granules.countDead(at: existing.address, bytes: existing.size)
    }
    granules.countLive(at: address, bytes: size)
  }

  /// Takes a record that has just been found out of the index.
  func takeOut(_ hash: UInt64, _ existing: Existing, _ core: KeyspaceCore?, _ keys: borrowing KeysState) {
    saveForCheckpoint(hash, keys)
    note(existing.address, existing.sequence, keys)
    // False in a damaged bucket, where the entry stays.
    guard index.remove(hash, address: existing.address) else { return }
    granules.countDead(at: existing.address, bytes: existing.size)
    core?.countEntries(-1)
  }

  /// Takes a record out of the index if that leads to it; false if it does not.
  func takeOut(
    _ hash: UInt64,
    at address: UInt64,
    _ size: Int,
    of keyspace: KeyspaceTag,
    _ keys: borrowing KeysState
  ) -> Bool {
    guard find(hash, at: address) != nil else { return false }
    saveForCheckpoint(hash, keys)
    note(address, keys)
    guard index.remove(hash, address: address) else { return false }
    granules.countDead(at: address, bytes: size)
    keyspaces.core(of: keyspace)?.countEntries(-1)
    return true
  }

  /// Leads the index from one place of a record to another; false if it does not lead to the first.
  @discardableResult
  func move(
    _ hash: UInt64,
    from old: (address: UInt64, size: Int),
    to new: (address: UInt64, size: Int),
    _ keys: borrowing KeysState
  ) -> Bool {
    guard let probe = find(hash, at: old.address) else { return false }
    saveForCheckpoint(hash, keys)
    for listener in keys.listeners {
      // Whatever its number: a snapshot that it is too new for does not ask.
      listener.noteSuperseded(old.address, 0)
      listener.noteEntering(new.address)
    }
    probe.replaceCurrent(with: new.address)
    granules.countDead(at: old.address, bytes: old.size)
    granules.countLive(at: new.address, bytes: new.size)
    return true
  }

  /// Takes the intact records that a condition picks out of some buckets; how many there were.
  ///
  /// - Parameter hear: told of each whose keyspace was not emptied since.
  func takeOut(
    inBuckets buckets: Range<Int>,
    _ keys: borrowing KeysState,
    where condition: (StoredRecord) -> Bool,
    hear: (KeyspaceCore, StoredRecord, UInt64) -> Void
  ) -> Int {
    // A closure must not capture what is `inout`.
    let (checkpoint, listeners) = (keys.checkpoint, keys.listeners)
    return index.removeEntries(inBuckets: buckets) { entry in
      guard let place = granules.place(of: entry.address), let record = StoredRecord(at: place), condition(record),
        record.headIsIntact
      else { return false }
      checkpoint?.willChange(entry.bucket, of: index)
      for listener in listeners { listener.noteSuperseded(entry.address, record.sequence) }
      granules.countDead(at: entry.address, bytes: record.size)
      if let core = keyspaces.core(of: record.keyspace) {
        core.countEntries(-1)
        hear(core, record, entry.address)
      }
      return true
    }
  }

  /// Takes all that leads into a segment out of the index, damaged or not.
  ///
  /// - Complexity: O(index).
  func takeOut(from segment: Segment, _ keys: borrowing KeysState) {
    let addresses =
      segment.startUnits..<segment.startUnits + UInt64(segment.granuleCount) << UInt64(GranuleTable.granuleShift)
    let (checkpoint, listeners) = (keys.checkpoint, keys.listeners)
    _ = index.removeEntries(inBuckets: 0..<index.bucketCount) { entry in
      guard addresses.contains(entry.address) else { return false }
      checkpoint?.willChange(entry.bucket, of: index)
      let record = granules.place(of: entry.address).flatMap { StoredRecord(at: $0) }
      // One that cannot be read is every snapshot's, as damage.
      for listener in listeners { listener.noteSuperseded(entry.address, record?.sequence ?? 0) }
      granules.countDead(at: entry.address, bytes: record?.size ?? 0)
      if let record { keyspaces.core(of: record.keyspace)?.countEntries(-1) }
      return true
    }
  }

  // MARK: Before a change

  /// The slot that leads to a place; nil when none does.
  @inline(__always)
  private func find(_ hash: UInt64, at address: UInt64) -> WriteProbe? {
    var probe = index.writeProbe(hash)
    while let found = probe.next() {
      if found == address { return probe }
    }
    return nil
  }

  /// Lets a checkpoint under way keep the bucket as it was.
  @inline(__always)
  private func saveForCheckpoint(_ hash: UInt64, _ keys: borrowing KeysState) {
    if let checkpoint = keys.checkpoint { checkpoint.willChange(index.bucket(of: hash), of: index) }
  }

  /// Lets open snapshots know that a record was alive until now.
  @inline(__always)
  private func note(_ address: UInt64, _ sequence: UInt64, _ keys: borrowing KeysState) {
    if !keys.listeners.isEmpty {
      for listener in keys.listeners { listener.noteSuperseded(address, sequence) }
    }
  }

  /// As above, of a record whose number is not at hand.
  private func note(_ address: UInt64, _ keys: borrowing KeysState) {
    guard !keys.listeners.isEmpty else { return }
    // One that cannot be read is every snapshot's, as damage.
    note(address, granules.place(of: address).flatMap { StoredRecord(at: $0) }?.sequence ?? 0, keys)
  }

  // MARK: Keyspaces

  /// Begins the next incarnation of a keyspace: what the index leads to of the one before is there no more, and is swept out
  /// later.
  func empty(_ core: KeyspaceCore, beginning tag: KeyspaceTag, at sequence: UInt64, _ keys: borrowing KeysState) {
    catalog.noteReset(of: tag, from: core.tag.incarnation, at: sequence)
    core.begin(incarnation: tag.incarnation)
    core.setCount(0)
    isSwept.store(false, ordering: .relaxed)
  }

  // MARK: Checkpoints

  /// Notes the present state as what a checkpoint shall show. Until ``endCut(_:)`` every bucket is saved before it changes.
  func beginCut(
    at sequence: UInt64,
    replaying place: (segment: UInt64, offset: Int),
    _ meta: CheckpointMeta,
    _ keys: inout KeysState
  ) -> CheckpointCut {
    index.splitsPaused = true
    let cut = CheckpointCut(sequence: sequence, replaying: place, index: index, meta: meta)
    keys.checkpoint = cut
    return cut
  }

  /// Copies the next buckets of a cut; false when the index is damaged.
  func copy(
    _ buckets: Range<Int>,
    of cut: CheckpointCut,
    main: UnsafeMutableRawBufferPointer,
    overflow: inout OverflowImage,
    _ keys: borrowing KeysState
  ) -> Bool {
    cut.copied = buckets.upperBound
    // Safety: the caller passes 64 bytes for each bucket and keeps them.
    return unsafe index.exportBuckets(buckets, saved: cut.saved, main: main, overflow: &overflow)
  }

  func endCut(_ keys: inout KeysState) {
    keys.checkpoint = nil
    index.splitsPaused = false
  }

  /// Takes over what the checkpoint knows besides the index.
  func adopt(_ checkpoint: LoadedCheckpoint) {
    let live = checkpoint.liveBySegment
    for segment in catalog.segments {
      guard let row = live[segment.id] else { continue }
      granules.setLive(segment, bytes: Int(clamping: row.liveBytes), records: Int(clamping: row.liveRecords))
    }
    for row in checkpoint.meta.keyspaces {
      keyspaces.core(of: row.tag)?.setCount(Int(clamping: row.count))
    }
  }
}

/// What is told of each place that the index is about to lead to no more, and which snapshots are open. Guarded by the writer's
/// lock.
struct KeysState: ~Copyable {
  fileprivate(set) var listeners: [SnapshotState] = []
  /// The checkpoint that is being copied.
  fileprivate var checkpoint: CheckpointCut?
  private(set) var openSnapshots = 0

  /// Opens a snapshot.
  mutating func open(_ snapshot: SnapshotState) {
    add(snapshot)
    openSnapshots += 1
  }

  /// Closes it.
  mutating func close(_ snapshot: SnapshotState) {
    remove(snapshot)
    openSnapshots -= 1
  }

  /// Tells a snapshot of every place that the index leads to no more, from now on.
  mutating func add(_ snapshot: SnapshotState) { listeners.append(snapshot) }

  /// Tells it no more.
  mutating func remove(_ snapshot: SnapshotState) { listeners.removeAll { $0 === snapshot } }
}
