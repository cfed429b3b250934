internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Where the index leads, now and for each open snapshot. Bitcask calls this the key directory.
///
/// Invariants: the index leads only to records of segments that the catalog lists, that a merge is adding, or that it has just
/// replaced. Every change is noted for checkpoints and snapshots before it is made. The live figures of a segment, and the count
/// of a keyspace, cover exactly the records that the index leads to: each entry of the index counts for a keyspace, or as unpurged.
///
/// Only this file changes where the index leads. Its functions that do so are called under the writer's lock, which a `KeydirState`
/// proves, with results of a search under the same hold of the lock. Each change takes these steps, in order:
///
/// 1. A checkpoint in progress saves the bucket as it was.
/// 2. A key that the index does not have yet is put into the order of its keyspace's keys, if that is kept.
/// 3. Open snapshots note the address that the index is about to leave, and the address that a record is moved to. An iterator
///    checks the index first and the notes second, so it finds every record of its snapshot in one of them. Only an address that
///    the index leads to is noted: one that it left before a snapshot was taken is not part of the snapshot.
/// 4. The index changes.
/// 5. A key that it has no longer is taken out of the order.
/// 6. The counts of live records and of entries are updated.
///
/// Calls the catalog, segments and the environment. Thread safety: any thread may read.
///
/// Safety: threads may share it. Its properties are constants, safe for many threads or atomic, except `index`, which only a
/// holder of the writer's lock changes; readers go through `reader`, pinned. The marks are freed with the keydir, their only user.
@safe
final class Keydir: @unchecked Sendable {
  let env: Environment
  let catalog: Catalog
  let keyspaces = KeyspaceTable()
  // Copies, which save a read one indirection.
  let granules: GranuleTable
  let epochs: EpochDomain
  let time: StoreTime
  let verifiesReads: Bool
  /// Whether a large record that was verified is not verified again for some time.
  let remembersVerified: Bool
  /// The index for readers, without reference counting.
  let reader: HashIndex.Reader
  /// Which keys were read recently, in a store of limited capacity.
  let readMarks: ReadMarks?
  /// The checkpoint that the index was loaded from, if any.
  let loadedCheckpoint: LoadedCheckpoint?

  private let index: HashIndex
  // Relaxed, all of them: nothing is read through them.
  /// Entries of the index that count for no keyspace, since theirs was emptied or removed. Changed under the writer's lock.
  private let unpurged = Atomic<Int>(0)
  /// True once a record could not be indexed for lack of memory: a record may then be live although the index does not lead to
  /// it.
  private let lacksEntries = Atomic<Bool>(false)
  /// The capacity of all hash lists together, in hashes. Changed under the writer's lock.
  let keyHashCapacity = Atomic<Int>(0)
  /// The bytes of all keys in order in the last checkpoint.
  private let savedOrders = Atomic<Int>(0)
  /// True once the log turned out to have implausibly many keys with one hash, not all of which are in the index.
  private let forged = Atomic<Bool>(false)

  /// - Parameter checkpoint: the saved index, if there is one.
  /// - Throws: when out of memory.
  init(_ catalog: Catalog, loadedFrom checkpoint: LoadedCheckpoint?) throws(StoreError) {
    env = catalog.env
    self.catalog = catalog
    granules = catalog.granules
    epochs = env.epochs
    time = env.time
    verifiesReads = env.options.verification != .openingOnly
    remembersVerified = env.options.verification == .onceInMemory
    readMarks = env.options.readOnly ? nil : env.settings.capacity.map { ReadMarks(capacity: $0) }
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
  var byteCount: Int { index.byteCount }
  /// True once a page of the checkpoint was found damaged.
  var isDamaged: Bool { index.isDamaged }
  /// True while any part of the index is still in the checkpoint's pages.
  @inline(__always)
  var needsMigration: Bool { index.needsMigration }

  /// True once a live record may be missing from the index.
  var isIncomplete: Bool { lacksEntries.load(ordering: .relaxed) }

  /// Notes that a record of the log could not be indexed.
  func noteIncomplete() { lacksEntries.store(true, ordering: .relaxed) }

  /// Throws if a key that was not found may be there all the same.
  ///
  /// - Parameter isDamaged: whether the search met damage.
  @inline(__always)
  func checkAbsence(isDamaged: Bool) throws(StoreError) {
    if isDamaged { throw indexDamage() }
    try checkWhole()
  }

  /// Throws if a live record may be missing from the index.
  @inline(__always)
  func checkWhole() throws(StoreError) { if isIncomplete { throw lackOfEntries() } }

  @inline(never)
  private func lackOfEntries() -> StoreError { self.isDamaged ? indexDamage() : Self.outOfMemory(env) }

  /// True once the log turned out to be forged.
  var isLogForged: Bool { forged.load(ordering: .relaxed) }

  /// Notes that the log is forged; true for the first call.
  func noteForgery() -> Bool { !forged.exchange(true, ordering: .relaxed) }

  /// True when entries of emptied or removed keyspaces are in the index.
  var needsPurge: Bool { unpurged.load(ordering: .relaxed) > 0 }

  /// The number of entries in all keyspaces, under the writer's lock.
  var liveCount: Int { index.count - unpurged.load(ordering: .relaxed) }

  /// Counts entries for their keyspace, or as unpurged.
  @inline(__always)
  private func countEntries(_ change: Int, of core: KeyspaceCore?) {
    if let core { core.countEntries(change) } else { countUnpurged(change) }
  }

  @inline(never)
  private func countUnpurged(_ change: Int) {
    unpurged.store(unpurged.load(ordering: .relaxed) + change, ordering: .relaxed)
  }

  #if DEBUG
    /// For tests.
    var indexUnderTest: HashIndex { index }
  #endif

  // MARK: Room

  /// Makes sure that `count` entries can be added under this hold of the writer's lock.
  @inline(__always)
  func reserve(_ count: Int = 1) throws(StoreError) {
    guard index.reserve(count) else { throw Self.outOfMemory(env) }
  }

  /// Splits a bucket if one is due.
  @inline(__always)
  func grow() { index.grow() }

  /// Makes the empty index large enough for `count` keys.
  func makeRoom(for count: Int) { index.makeRoom(for: count) }

  /// Prepares memory for the next insertions. Takes no lock.
  func prepareGrowth() {
    for _ in 0..<64 where index.needsGrowth { index.prepareGrowth() }
  }

  /// Prepares the next step of ``migrate(_:)``. Takes no lock.
  func prepareMigration() { index.prepareMigration() }

  /// Copies a chunk of the index out of the checkpoint's pages; false if none is left.
  func migrate(_ keys: borrowing KeydirState) -> Bool { index.migrateNextChunk() }

  // MARK: Searching

  /// A search that may be followed by a change under the same hold of the writer's lock.
  @inline(__always)
  func writeProbe(_ hash: UInt64) -> WriteProbe { index.writeProbe(hash) }

  /// Fetches the record from memory to which the index leads for a hash; false if there is none. Called under the writer's lock.
  func prefetchRecord(_ hash: UInt64) -> Bool {
    var probe = writeProbe(hash)
    guard let address = probe.next() else { return false }
    granules.prefetch(address)
    return true
  }

  /// Calls `body` with each entry of some buckets; false if some cannot be read.
  func forEachEntry(
    inBuckets buckets: Range<Int>,
    _ keys: borrowing KeydirState,
    _ body: (IndexEntry) -> Void
  ) -> Bool {
    index.forEachEntry(inBuckets: buckets, body)
  }

  /// Keeps entries in their buckets, so that a walk which releases the lock in between sees each one once.
  func pauseSplits(_ keys: inout KeydirState) {
    keys.splitPauses += 1
    index.splitsPaused = true
  }

  /// Undoes one call of ``pauseSplits(_:)``.
  func resumeSplits(_ keys: inout KeydirState) {
    keys.splitPauses -= 1
    index.splitsPaused = keys.splitPauses > 0
  }

  // MARK: Changes

  /// Leads the index to the newest record of a key. Inlined into every put: costs one comparison for checkpoints and one for
  /// snapshots.
  ///
  /// - Parameters:
  ///   - unpacked: the size that the record has as long as it is not packed.
  ///   - expiry: when the record expires, or an earlier instant if that is not known; `Int64.max` for never.
  ///   - existing: the result of a search under the same hold of the lock.
  ///   - probe: where that search ended.
  @inline(__always)
  func upsert(
    _ hash: UInt64,
    to address: UInt64,
    _ size: Int,
    unpacked: Int,
    expiring expiry: Int64,
    replacing existing: CurrentRecord,
    at probe: WriteProbe,
    _ core: KeyspaceCore?,
    _ keys: borrowing KeydirState
  ) {
    saveForCheckpoint(hash, keys)
    if expiry != .max { core?.expiry.note(expiry) }
    if existing.address == 0 {
      // Unwrapped behind the call: here it would be retained for each new key.
      if core?.keptKeys.isEmpty == false { keepKey(hash, at: address, of: core, keys) }
      // Fails when out of memory, unless that was reserved, and in a damaged bucket.
      guard index.insert(hash, address: address, after: probe) else {
        noteIncomplete()
        return
      }
      countEntries(1, of: core)
      core?.countBytes(unpacked)
    } else {
      if existing.damage != nil { keepKeyInsteadOfAnother(hash, at: address, of: core, keys) }
      note(existing.address, existing.sequence, keys)
      probe.replaceCurrent(with: address)
      granules.countDead(at: existing.address, bytes: existing.size)
      core?.countBytes(unpacked &- existing.unpackedSize)
    }
    granules.countLive(at: address, bytes: size)
  }

  /// Removes a record that was just found from the index, since a later record says so.
  func removeEntry(_ hash: UInt64, _ existing: CurrentRecord, _ core: KeyspaceCore?, _ keys: borrowing KeydirState) {
    saveForCheckpoint(hash, keys)
    note(existing.address, existing.sequence, keys)
    // Fails in a damaged bucket, where the entry stays.
    guard index.remove(hash, address: existing.address) else { return }
    dropKey(hash, at: existing.address, of: core, isSwept: false)
    granules.countDead(at: existing.address, bytes: existing.size)
    countEntries(-1, of: core)
    core?.countBytes(-existing.unpackedSize)
  }

  /// Removes the record at `address` from the index, of which the log says nothing; false if the index does not lead to it.
  func removeEntry(
    _ hash: UInt64,
    at address: UInt64,
    _ size: Int,
    of keyspace: KeyspaceTag,
    _ keys: borrowing KeydirState
  ) -> Bool {
    guard find(hash, at: address) != nil else { return false }
    saveForCheckpoint(hash, keys)
    note(address, keys)
    guard index.remove(hash, address: address) else { return false }
    let core = keyspaces.core(of: keyspace)
    dropKey(hash, at: address, of: core, isSwept: true)
    granules.countDead(at: address, bytes: size)
    countEntries(-1, of: core)
    // Of what the index led to, not even the lengths may be readable: then it takes what its segment said.
    let record = granules.place(of: address).flatMap { StoredRecord(at: $0) }
    core?.countBytes(-(record?.unpackedSize ?? size))
    return true
  }

  /// Leads the index from one copy of a record to another; false if it does not lead to the first.
  @discardableResult
  func move(
    _ hash: UInt64,
    from old: (address: UInt64, size: Int),
    to new: (address: UInt64, size: Int),
    _ keys: borrowing KeydirState
  ) -> Bool {
    guard let probe = find(hash, at: old.address) else { return false }
    saveForCheckpoint(hash, keys)
    for listener in keys.listeners {
      // Sequence number 0: snapshots that the record is too new for never ask about it.
      listener.noteSuperseded(old.address, 0)
      listener.noteEntering(new.address)
    }
    probe.replaceCurrent(with: new.address)
    granules.countDead(at: old.address, bytes: old.size)
    granules.countLive(at: new.address, bytes: new.size)
    return true
  }

  /// Removes the intact records in some buckets that meet a condition from the index; returns how many.
  ///
  /// - Parameter onRemoved: Called for each removed record of a current keyspace.
  func removeEntries(
    inBuckets buckets: Range<Int>,
    _ keys: borrowing KeydirState,
    where condition: (StoredRecord) -> Bool,
    onRemoved: (KeyspaceCore, StoredRecord, UInt64) -> Void
  ) -> Int {
    // A closure cannot capture a borrowed parameter.
    let (checkpoint, listeners) = (keys.checkpoint, keys.listeners)
    return index.removeEntries(inBuckets: buckets) { entry in
      guard let place = granules.place(of: entry.address), let record = StoredRecord(at: place), condition(record),
        record.headIsIntact
      else { return false }
      checkpoint?.willChange(entry.bucket, of: index)
      for listener in listeners { listener.noteSuperseded(entry.address, record.sequence) }
      granules.countDead(at: entry.address, bytes: record.size)
      let core = keyspaces.core(of: record.keyspace)
      core?.keptOrder?.sweep(record)
      countEntries(-1, of: core)
      core?.countBytes(-record.unpackedSize)
      if let core { onRemoved(core, record, entry.address) }
      return true
    }
  }

  /// Removes every entry that leads into a segment from the index, damaged or not.
  ///
  /// - Complexity: O(index).
  func removeEntries(from segment: Segment, _ keys: borrowing KeydirState) {
    let addresses =
      segment.startUnits..<segment.startUnits + UInt64(segment.granuleCount) << UInt64(GranuleTable.granuleShift)
    let (checkpoint, listeners) = (keys.checkpoint, keys.listeners)
    _ = index.removeEntries(inBuckets: 0..<index.bucketCount) { entry in
      guard addresses.contains(entry.address) else { return false }
      checkpoint?.willChange(entry.bucket, of: index)
      let record = granules.place(of: entry.address).flatMap { StoredRecord(at: $0) }
      // An unreadable record is part of every snapshot, as damage.
      for listener in listeners { listener.noteSuperseded(entry.address, record?.sequence ?? 0) }
      granules.countDead(at: entry.address, bytes: record?.size ?? 0)
      // The keyspace of an unreadable record is not known.
      let core = record.flatMap { keyspaces.core(of: $0.keyspace) }
      if let record { core?.keptOrder?.sweep(record) }
      countEntries(-1, of: core)
      core?.countBytes(-(record?.unpackedSize ?? 0))
      return true
    }
  }

  // MARK: Before a change

  /// The slot that leads to an address; nil if none does.
  @inline(__always)
  private func find(_ hash: UInt64, at address: UInt64) -> WriteProbe? {
    var probe = index.writeProbe(hash)
    while let found = probe.next() {
      if found == address { return probe }
    }
    return nil
  }

  /// Saves the bucket of a hash for a checkpoint in progress.
  @inline(__always)
  private func saveForCheckpoint(_ hash: UInt64, _ keys: borrowing KeydirState) {
    if let checkpoint = keys.checkpoint { checkpoint.willChange(index.bucket(of: hash), of: index) }
  }

  /// Notes in open snapshots that a record was live until now.
  @inline(__always)
  private func note(_ address: UInt64, _ sequence: UInt64, _ keys: borrowing KeydirState) {
    if !keys.listeners.isEmpty {
      for listener in keys.listeners { listener.noteSuperseded(address, sequence) }
    }
  }

  /// The same for a record whose sequence number is not at hand.
  private func note(_ address: UInt64, _ keys: borrowing KeydirState) {
    guard !keys.listeners.isEmpty else { return }
    // An unreadable record is part of every snapshot, as damage.
    note(address, granules.place(of: address).flatMap { StoredRecord(at: $0) }?.sequence ?? 0, keys)
  }

  // MARK: Keyspaces

  /// Begins the next incarnation of a keyspace. Entries of the previous one are no longer visible, and are purged later.
  func empty(_ core: KeyspaceCore, beginning tag: KeyspaceTag, at sequence: UInt64, _ keys: borrowing KeydirState) {
    catalog.resets.note(tag, from: core.tag.incarnation, at: sequence)
    core.begin(incarnation: tag.incarnation)
    countUnpurged(core.count)
    core.setCount(0, byteCount: 0)
    core.expiry.set(.max)
    beginKeyHashes(of: core)
    // It begins without keys. The old one stays with the scans that have it.
    if core.order != nil { core.order = tag.isRemoved ? nil : KeyOrder(isComplete: true) }
    core.keyClock?.removeAll()
    keyspaces.noteChange(of: core)
  }

  /// Removes a keyspace. Its entries are purged later, like those of an emptied one.
  func remove(_ core: KeyspaceCore, at sequence: UInt64, _ keys: borrowing KeydirState) {
    empty(core, beginning: KeyspaceTag(id: core.id, incarnation: KeyspaceTag.removal), at: sequence, keys)
    keyspaces.remove(core)
  }

  // MARK: Checkpoints

  /// The bytes of all keys in order in the last checkpoint.
  var savedOrderBytes: Int {
    get { savedOrders.load(ordering: .relaxed) }
    set { savedOrders.store(newValue, ordering: .relaxed) }
  }

  /// Records the current state for a checkpoint. Until ``endCut(_:)``, each bucket is saved before it changes.
  func beginCut(
    at sequence: UInt64,
    replaying place: (segment: UInt64, offset: Int),
    _ meta: CheckpointMeta,
    _ keys: inout KeydirState
  ) -> CheckpointCut {
    pauseSplits(&keys)
    let cut = CheckpointCut(sequence: sequence, replaying: place, index: index, meta: meta)
    keys.checkpoint = cut
    return cut
  }

  /// Copies the next buckets of a cut; false if the index is damaged.
  func copy(
    _ buckets: Range<Int>,
    of cut: CheckpointCut,
    main: UnsafeMutableRawBufferPointer,
    overflow: inout OverflowImage,
    _ keys: borrowing KeydirState
  ) -> Bool {
    cut.copied = buckets.upperBound
    // Safety: the caller passes 64 bytes for each bucket and keeps them.
    return unsafe index.exportBuckets(buckets, saved: cut.saved, main: main, overflow: &overflow)
  }

  func endCut(_ keys: inout KeydirState) {
    keys.checkpoint = nil
    resumeSplits(&keys)
  }

  /// Adopts the live figures and counts in the checkpoint.
  func adopt(_ checkpoint: LoadedCheckpoint) {
    let live = checkpoint.liveBySegment
    for segment in catalog.segments {
      guard let row = live[segment.id] else { continue }
      granules.setLive(segment, bytes: Int(clamping: row.liveBytes), records: Int(clamping: row.liveRecords))
    }
    for row in checkpoint.meta.keyspaces {
      guard let core = keyspaces.core(of: row.tag) else { continue }
      core.setCount(Int(clamping: row.count), byteCount: Int(clamping: row.byteCount))
      core.expiry.set(row.earliestExpiry)
      adoptKeyHashes(row.hashes, of: core)
      if let order = checkpoint.order(of: row.tag) { core.order = order }
    }
    savedOrderBytes = checkpoint.meta.orders.reduce(0) { $0 + Int($1.byteCount) }
    // A store may be closed, or killed, before all of a keyspace is purged, and the manifest may have forgotten it since.
    unpurged.store(index.count - keyspaces.count, ordering: .relaxed)
  }
}

/// The open snapshots and the checkpoint in progress, which are notified before the index leaves a record. Guarded by the
/// writer's lock.
struct KeydirState: ~Copyable {
  fileprivate(set) var listeners: [SnapshotState] = []
  /// The checkpoint in progress.
  fileprivate var checkpoint: CheckpointCut?
  /// The walks that keep buckets from being split.
  fileprivate var splitPauses = 0
  private(set) var openSnapshots = 0

  mutating func open(_ snapshot: SnapshotState) {
    add(snapshot)
    openSnapshots += 1
  }

  mutating func close(_ snapshot: SnapshotState) {
    remove(snapshot)
    openSnapshots -= 1
  }

  /// Notifies a snapshot from now on, without counting it as open.
  mutating func add(_ snapshot: SnapshotState) { listeners.append(snapshot) }

  mutating func remove(_ snapshot: SnapshotState) { listeners.removeAll { $0 === snapshot } }
}
