internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// The segments and keyspaces of a store, in memory and on disk, and the addresses of the segments. LevelDB calls this a
/// version set.
///
/// Invariants: the list contains what the manifest lists and segments being created, and none that has been removed; a
/// row says `sealed` only if the segment is durable or was cut; an emptied keyspace keeps its old incarnation until the
/// reset is durable; after ``end()`` nothing is written, since the files may belong to another process; ``uninstall(_:)``
/// is called once per segment.
///
/// Calls segments, commits and the environment. Thread safety: any thread.
final class Catalog: Sendable {
  let env: Environment
  let commits: CommitQueue
  /// Maps addresses to the memory of segments.
  let granules: GranuleTable
  private let addresses = AddressSpace()
  let reserve: SpaceReserve

  private let present: Guarded<Present>
  private let edits: Guarded<ManifestState>
  let resets: KeyspaceResets
  /// Relaxed, both: numbers by themselves; nothing is read through them.
  private let nextSegmentID: Atomic<UInt64>
  /// The mean size in bytes of the records written lately; 0 as long as that is unknown.
  let usualRecordSize = Atomic<Int>(0)

  /// The current state in memory. No disk access happens under its lock.
  private struct Present {
    /// First the segments that merges wrote, then those of the log, in order.
    var segments: [Segment] = []
    /// Outputs of a merge that the index is being pointed to and no manifest lists yet.
    var arriving: [Segment] = []
    /// Inputs of a merge that are replaced in the manifest but that the index may still point to.
    var leaving: [Segment] = []
    /// The highest number in a segment of the log that was merged away.
    var mergedThrough: UInt64 = 0
    /// The highest number of a record that has replaced another: as if all up to there had been merged.
    var reusedThrough: UInt64 = 0
    /// The settings that the manifest records.
    var settings: StoredSettings
    /// Merged away and waiting to be released in the background: closing a removed file takes long.
    var disposed: [Segment] = []
    /// Files of segments that recovery cut off, to be removed once the cut is durable.
    var discarded: [String] = []
    /// The segments that make room next, in this order, as manifests list them.
    var evictions: [Segment] = []
    /// How many of their files were removed, and of how many that is durable.
    var removals = (made: 0, durable: 0)
    /// Bytes of both copies of the manifest and of the checkpoint, in whole pages.
    var manifestBytes = 0
    var checkpoint: (id: UInt64, bytes: Int) = (0, 0)
    /// Files that no list contains: those that a merge is writing, and those that are about to be removed.
    var unlistedFiles: Set<String> = []
    /// What openings have found before this one, and this one, if it is for writing.
    var past: [OpeningRow]
    var opening: OpeningRow?
    /// Whether the past was lost to damage.
    var lacksPast: Bool

    var history: [OpeningRow] { (past + [opening].compactMap(\.self)).kept }
  }

  private struct ManifestState {
    let files: ManifestFiles
    /// The last manifest written or read.
    var manifest: Manifest
    /// True once the store is closed: the files may then belong to another process.
    var isEnded = false
  }

  /// - Parameters:
  ///   - manifest: The manifest that was read.
  ///   - lacksHistory: Whether its history was lost to damage.
  /// - Throws: When out of memory.
  init(
    _ env: Environment,
    _ commits: CommitQueue,
    _ files: ManifestFiles,
    _ manifest: Manifest,
    lacksHistory: Bool
  ) throws(StoreError) {
    guard let granules = GranuleTable() else {
      throw .failed(operation: "allocate memory for", path: env.path, errno: PlatformError.outOfMemory)
    }
    self.env = env
    self.commits = commits
    self.granules = granules
    resets = KeyspaceResets(commits)
    reserve = SpaceReserve(directory: env.path, fileSystem: env.platform.fileSystem)
    nextSegmentID = Atomic(manifest.nextSegmentID)
    var manifest = manifest
    if !manifest.keyspaces.contains(where: { $0.id == 0 }) { manifest.keyspaces.append(KeyspaceRow(id: 0, name: "")) }
    let listed = Present(
      mergedThrough: manifest.mergedThrough,
      settings: manifest.settings,
      past: manifest.history,
      lacksPast: lacksHistory
    )
    present = Guarded(listed, .segments)
    edits = Guarded(ManifestState(files: files, manifest: manifest), .manifests)
    let bytes = FileName.manifests.reduce(0) { $0 + self.bytes(of: "\(env.path)/\($1)") }
    present.withLock { $0.manifestBytes = bytes }
    noteCheckpoint(manifest.checkpointID)
  }

  private func noteCheckpoint(_ id: UInt64) {
    guard env.settings.capacity != nil, present.withLock({ $0.checkpoint.id != id }) else { return }
    let bytes = id == 0 ? 0 : bytes(of: checkpointPath(id))
    present.withLock { $0.checkpoint = (id, bytes) }
  }

  deinit {
    granules.deallocate()
  }

  // MARK: The list

  /// All segments: first those that merges wrote, then those of the log, in order.
  var segments: [Segment] { present.withLock { $0.segments } }

  /// The segments, and the number up to which parts of the log may have been merged away.
  var version: (segments: [Segment], mergedThrough: UInt64) {
    present.withLock { ($0.segments, max($0.mergedThrough, $0.reusedThrough)) }
  }

  /// The highest sequence number of what was merged away, or has replaced a record.
  var mergedThrough: UInt64 { version.mergedThrough }

  /// Notes that records up to a number have replaced others: nobody can read all changes since an earlier one.
  func noteReuse(through sequence: UInt64) {
    present.withLock { $0.reusedThrough = max($0.reusedThrough, sequence) }
  }

  /// The settings that the last manifest records.
  var settings: StoredSettings { present.withLock { $0.settings } }

  /// All segments that the index may point to, and whether a merge is changing that at the moment.
  var shown: (segments: [Segment], isAmidMerge: Bool) {
    present.withLock { present in
      (present.segments + present.arriving + present.leaving, !present.arriving.isEmpty)
    }
  }

  /// The segments that the index may point to but no manifest lists: a merge's outputs before its edit, and its inputs
  /// after.
  var unlisted: [Segment] { present.withLock { $0.arriving + $0.leaving } }

  /// The last segment of the log, spares left out.
  var lastLogSegment: Segment? { present.withLock { $0.segments.last { $0.kind == .log && $0.firstSequence != 0 } } }

  /// Bytes of records in all segments that take no more records.
  var recordBytes: Int {
    present.withLock { $0.segments.reduce(0) { $0 + $1.recordBytes } }
  }

  /// Segments that are full but not sealed yet, in the order of the log.
  ///
  /// A segment that the manifest calls sealed may be merged away, and a reader of the log relies on the manifest for the
  /// number at which the log continues after it. So segments are sealed in the order of the log, whenever they were
  /// created. Those that make room next need no seal.
  var fullSegments: [Segment] {
    let (segments, evictions) = present.withLock { ($0.segments, Set($0.evictions.map(\.id))) }
    return Self.inOrder(segments.filter { $0.facts.awaitsSettling && !evictions.contains($0.id) })
  }

  /// Whether so many full segments are unsealed that descriptors may run out: each keeps its own until it is sealed.
  var isCrowdedUnsealed: Bool { fullSegments.count > DescriptorLimit.current / 8 }

  var fullBytes: Int {
    fullSegments.reduce(0) { $0 + $1.recordBytes }
  }

  /// Adds a segment at the end of the list.
  func add(_ segment: Segment) {
    present.withLock { $0.segments.append(segment) }
  }

  /// Puts back segments that ``remove(_:)`` took off the list.
  func putBack(_ segments: [Segment]) {
    present.withLock { $0.segments += segments }
  }

  /// Takes segments off the list.
  func remove(_ gone: [Segment]) {
    present.withLock { present in present.segments.removeAll { segment in gone.contains { $0 === segment } } }
  }

  /// Takes the segments that satisfy a condition off the list.
  func take(where isChosen: (Segment) -> Bool) -> [Segment] {
    present.withLock { present in
      let taken = present.segments.filter(isChosen)
      present.segments.removeAll { segment in taken.contains { $0 === segment } }
      return taken
    }
  }

  /// Orders the list by the segments' first records.
  func order() {
    present.withLock { $0.segments = Self.inOrder($0.segments) }
  }

  /// The segments that merges wrote, then log segments by their first record; those without one last.
  static func inOrder(_ list: [Segment]) -> [Segment] {
    func place(_ segment: Segment) -> (Int, UInt64, UInt64) {
      let first = segment.firstSequence
      return (segment.kind == .log ? 1 : 0, first == 0 ? .max : first, segment.id)
    }
    return list.sorted { place($0) < place($1) }
  }

  /// Notes that a merge is pointing the index to segments that no manifest lists yet; an empty list undoes that.
  func setArriving(_ segments: [Segment]) {
    present.withLock { $0.arriving = segments }
  }

  /// Notes that the index no longer points to the segments that a merge has replaced.
  func endLeaving() {
    present.withLock { $0.leaving = [] }
  }

  // MARK: Removal

  /// Stops resolving a segment's addresses once no reader can be following one. Must be called once per segment, by the
  /// code that took it off the list or never put it there.
  func uninstall(_ segment: Segment) {
    guard segment.lease.endResolving() else { return assertionFailure("the segment was given up twice") }
    // A reader that found an address before it left the index may still follow it. The closure holds the segment until
    // then, and with it the lease: these addresses are not reused before they stop resolving.
    env.epochs.retire { [self] in granules.uninstall(segment) }
  }

  /// Uninstalls a segment that is no longer on a list, and removes its file.
  func discard(_ segment: Segment) {
    uninstall(segment)
    removeFile(segment.path)
    forget(unlistedFiles: [segment.path])
  }

  /// Removes a file that is not listed. If that fails, the next opening removes it.
  func removeFile(_ path: String) {
    try? env.platform.fileSystem.remove(path)
  }

  func checkpointPath(_ id: UInt64) -> String { "\(env.path)/\(FileName.checkpoint(id))" }

  /// Removes the file of a checkpoint that the manifest does not name any more; 0 for none.
  func removeCheckpoint(_ id: UInt64) {
    guard id != 0 else { return }
    removeFile(checkpointPath(id))
    forget(unlistedFiles: [checkpointPath(id)])
  }

  /// Queues segments that were merged away for ``disposePending()``; returns how many are queued.
  func dispose(of segments: [Segment]) -> Int {
    present.withLock { present in
      present.disposed += segments
      return present.disposed.count
    }
  }

  /// Releases the segments that ``dispose(of:)`` has queued.
  func disposePending() {
    let segments = present.withLock { present in
      defer { present.disposed = [] }
      return present.disposed
    }
    // While the list still exists, so that it holds the last references.
    env.epochs.collect()
    withExtendedLifetime(segments) {}
  }

  /// Closes removed files, which take space until then. Waits for readers of them: microseconds, and never long, since one of them
  /// may be waiting for whoever waits here. Called with no lock of the store held.
  func closeRemoved() { env.epochs.collect(within: 250_000_000) }

  /// Notes files to be removed once the next edit is durable.
  func discardLater(_ paths: [String]) {
    present.withLock { $0.discarded += paths }
  }

  var hasDiscarded: Bool { present.withLock { !$0.discarded.isEmpty } }

  /// Takes the noted files, which the caller removes after an edit.
  func takeDiscarded() -> [String] {
    present.withLock { present in
      defer { present.discarded = [] }
      return present.discarded
    }
  }

  /// Removes the noted files: an edit is durable.
  func removeDiscarded() {
    for path in takeDiscarded() { removeFile(path) }
  }

  // MARK: Eviction

  /// The segments whose files may be removed without an edit, in this order.
  var evictions: [Segment] { present.withLock { $0.evictions } }

  /// Lists segments as those that make room next, behind the ones that are listed as such. All their records have been published.
  func queueEvictions(_ segments: [Segment]) throws(StoreError) {
    assert(segments.allSatisfy(\.isSealed), "a segment makes room that takes records")
    let before = evictions
    present.withLock { $0.evictions = before + segments }
    do throws(StoreError) { try commit(.evicting(segments)) } catch {
      // Another edit may have listed them meanwhile, and none has to.
      present.withLock { $0.evictions = before }
      throw error
    }
  }

  /// Notes that the file of the first of those was removed, before the index is told.
  func noteRemoval() { present.withLock { $0.removals.made += 1 } }

  /// Makes sure that no file that was removed to make room is back after a power failure.
  func syncRemovals() throws(StoreError) {
    let removals = present.withLock { $0.removals }
    guard removals.durable < removals.made else { return }
    do throws(PlatformError) { try env.platform.fileSystem.syncDirectory(env.path) } catch {
      commits.noteFailure(error)
      throw StoreError(error)
    }
    present.withLock { $0.removals.durable = max($0.removals.durable, removals.made) }
  }

  /// Takes the first segment off the list whose file was removed to make room.
  func removeEvicted(_ segment: Segment) {
    present.withLock { present in
      assert(present.evictions.first === segment, "segments make room in the order that was listed")
      present.evictions.removeFirst()
      present.segments.removeAll { $0 === segment }
      // Together: a feed that sees a gap in the list must know what has caused it.
      if segment.kind == .log { present.mergedThrough = max(present.mergedThrough, segment.lastSequence) }
    }
  }

  // MARK: Files

  /// Notes files that no list contains although they take space.
  func note(unlistedFiles paths: [String]) { present.withLock { $0.unlistedFiles.formUnion(paths) } }
  func forget(unlistedFiles paths: [String]) { present.withLock { $0.unlistedFiles.subtract(paths) } }

  /// Bytes of what the manifest lists and of its copies, in whole pages, and the paths of the other files that may be there.
  var extents: (listed: Int, unlisted: [String]) {
    present.withLock { present in
      let listed = present.segments + present.arriving
      let bytes = listed.reduce(present.manifestBytes + present.checkpoint.bytes) { $0 + Self.wholePages($1.extent) }
      let known = present.unlistedFiles.isEmpty ? [] : Set(listed.map(\.path))
      return (bytes, present.unlistedFiles.filter { !known.contains($0) } + present.discarded)
    }
  }

  /// Empties the list. The store must no longer be in use.
  func takeAll() -> [Segment] {
    granules.end()
    let list = present.withLock { present in
      defer { present.segments = [] }
      return present.segments
    }
    for segment in list where segment.lease.endResolving() { granules.uninstall(segment) }
    return list
  }

  // MARK: Addresses and numbers

  /// Takes an address range for a segment of this many bytes; nil if there is none. O(segments).
  func takeAddresses(for bytes: Int) -> AddressSpace.Lease? { addresses.take(GranuleTable.granules(for: bytes)) }

  /// Takes the given granules; nil if any of them is in use.
  func takeAddresses(at granules: Range<Int>) -> AddressSpace.Lease? { addresses.take(granules) }

  /// Bytes of segments that were merged away but are still in use.
  var pinnedBytes: Int { addresses.pinnedBytes }

  /// Takes an id for a new segment.
  func takeSegmentID() -> UInt64 { nextSegmentID.wrappingAdd(1, ordering: .relaxed).oldValue }

  /// The lowest id such that neither it nor any above it is taken.
  var firstFreeSegmentID: UInt64 { nextSegmentID.load(ordering: .relaxed) }

  /// Skips all ids up to this one, since a file may have it.
  func passSegmentIDs(through id: UInt64) { nextSegmentID.max(id &+ 1, ordering: .relaxed) }

  // MARK: History

  /// What openings have found, this one included if it is for writing, and whether any of it was lost to damage.
  var history: (rows: [OpeningRow], lacksPast: Bool) { present.withLock { ($0.history, $0.lacksPast) } }

  /// Notes what this opening has found, for all manifests from now on. Of a read-only store there is nothing to note.
  func note(_ opening: Report.Opening) {
    if env.isFollowing { return }
    let row = OpeningRow(opening, in: env.path)
    present.withLock { $0.opening = row }
  }

  // MARK: The manifest

  /// The last manifest written or read. Waits for an edit in progress.
  var manifest: Manifest { edits.withLock { $0.manifest } }

  /// Reads both copies of the manifest. Waits for an edit in progress.
  func readCopies() throws(StoreError) -> ManifestFiles.Reading {
    try edits.withLock { (state) throws(StoreError) in try state.files.read() }
  }

  /// Like ``readCopies()``, but retries while another process is writing them.
  func readCopiesBesideWriter() throws(StoreError) -> ManifestFiles.Reading {
    try edits.withLock { (state) throws(StoreError) in try state.files.readBesideWriter(env.platform) }
  }

  /// Takes the segments that the last manifest does not list off the list, and returns them. No edit happens in between.
  func removeUnlisted(_ unused: [Segment]) -> [Segment] {
    edits.withLock { state in
      let listed = Set(state.manifest.segments.map(\.id))
      let unlisted = unused.filter { !listed.contains($0.id) }
      note(unlistedFiles: unlisted.map(\.path))
      remove(unlisted)
      return unlisted
    }
  }

  /// Writes a new manifest, from the current state and a change, durably. The open store changes only after that.
  ///
  /// - Parameters:
  ///   - merge: The segments that a merge replaces, and their replacements.
  ///   - isBrief: Whether the edit is one of so many that only one copy is synced: later damage to that copy may then lose it.
  ///   - isAll: Whether the edit is all that the call does: if its outcome is unknown, so is that of the call.
  /// - Throws: ``StoreError/closed`` if the store was closed, even if the caller has checked: it may have waited for the
  ///   lock.
  func write<R>(
    replacing merge: (removed: [Segment], added: [Segment]) = ([], []),
    isBrief: Bool = false,
    isAll: Bool = false,
    _ change: (inout Manifest) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    // It is unknown what is on disk, so there is no state to continue from.
    if let code = commits.failureCode { throw .syncFailed(errno: code) }
    let outcome = try edits.withLock { (state) throws(StoreError) -> Result<R, PlatformFailure> in
      guard !state.isEnded else { throw .closed }
      if isHeldElsewhere { throw .suspended(path: env.path) }
      func replaced(_ list: [Segment]) -> [Segment] {
        merge.added + list.filter { segment in !merge.removed.contains { $0 === segment } }
      }
      var manifest = state.manifest
      // Together: a segment whose file is removed meanwhile is listed with its place, and so passes for gone.
      let (list, evictions) = present.withLock { ($0.segments, $0.evictions) }
      fill(&manifest, with: replaced(list), evictions)
      let result = try change(&manifest)
      if manifest.state == .clean {
        manifest.forgetBeginnings()
        manifest.forgetEvictions()
      }
      if env.settings.capacity != nil {
        let bytes = FileName.manifests.count * Self.wholePages(manifest.encoded().count)
        present.withLock { $0.manifestBytes = max($0.manifestBytes, bytes) }
      }
      let sync = env.session?.beginSync()
      do throws(ManifestFiles.Failure) {
        env.countWritten(try state.files.write(manifest, env.session, isBrief: isBrief))
      } catch {
        let isUnknown = if case .unknown = error { true } else { false }
        if let sync { env.session?.end(sync, failed: isUnknown) }
        guard case .nothingWritten(let reason) = error else { return .failure(PlatformFailure(error: error.error)) }
        throw StoreError(reason, needed: manifest.encoded().count)
      }
      if let sync { env.session?.end(sync) }
      state.manifest = manifest
      noteCheckpoint(manifest.checkpointID)
      present.withLock { present in
        present.mergedThrough = manifest.mergedThrough
        present.settings = manifest.settings
        // Applied to the current list: a segment may have been created meanwhile.
        present.segments = replaced(present.segments)
        guard !merge.removed.isEmpty else { return }
        assert(
          !present.evictions.contains { segment in merge.removed.contains { $0 === segment } },
          "a segment is merged that may go"
        )
        present.arriving = []
        present.leaving = merge.removed
      }
      return .success(result)
    }
    switch outcome {
    case .success(let result): return result
    case .failure(let failure):
      commits.fail(failure.error.code)
      throw isAll ? .outcomeUnknown(errno: failure.error.code) : StoreError(failure.error)
    }
  }

  private struct PlatformFailure: Error {
    var error: PlatformError
  }

  /// Fills in the current state. Nothing in a manifest may be ahead of the log on disk.
  private func fill(_ manifest: inout Manifest, with list: [Segment], _ evictions: [Segment]) {
    let durable = commits.durableSequence
    manifest.generation += 1
    manifest.durableSequence = max(manifest.durableSequence, durable)
    manifest.storeTime = max(manifest.storeTime, env.time.now)
    manifest.nextSegmentID = firstFreeSegmentID
    manifest.settings = StoredSettings(env.settings)
    manifest.segments = Segment.rows(of: list)
    for (place, segment) in evictions.enumerated() {
      guard let position = list.firstIndex(where: { $0 === segment }) else { continue }
      manifest.segments[position].evictionPlace = place + 1
    }
    manifest.mergedThrough = max(manifest.mergedThrough, min(durable, present.withLock { $0.reusedThrough }))
    resets.apply(to: &manifest.keyspaces, durable: durable)
    manifest.keyspaces.removeAll { $0.tag.isRemoved }
    manifest.history = history.rows
  }

  #if DEBUG
    /// Runs a body while the manifest cannot be written. For tests.
    func holdingManifest<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
      try edits.withLock { (_) throws(E) in try body() }
    }
  #endif

  /// Ends all changes to the files: no manifest is written, no space reserved or released.
  func end() {
    edits.withLock { state in
      state.isEnded = true
      state.files.close()
    }
    reserve.end()
  }

  // MARK: Turns

  /// Whether this process has let go of the files. While it takes them over again, it writes.
  private var isHeldElsewhere: Bool { env.isSuspended && env.isFollowing }

  /// Lets go of the files: waits for an edit in progress, after which none is made before ``takeOver()``. The store is marked suspended.
  func letGo() {
    edits.withLock { _ in }
    reserve.pause(true)
    // A file of that name may be another one by the time that they could be removed.
    _ = takeDiscarded()
  }

  /// Takes the files back as they are.
  func takeBack() {
    renewMissed()
    reserve.pause(false)
  }

  /// Takes the files over from another process: what is listed is what the manifest lists that was adopted last.
  func takeOver() {
    // Segments are released where no lock is held: that may unmap them.
    _ = present.withLock { present in
      assert(present.arriving.isEmpty && present.leaving.isEmpty, "a merge is under way in a suspended store")
      // The manifests of others have it by now, if it ever wrote one.
      present.opening = nil
      // As after an opening, until this process lists some again.
      defer { present.evictions = [] }
      return present.evictions
    }
    let manifest = manifest
    if manifest.nextSegmentID > 0 { passSegmentIDs(through: manifest.nextSegmentID - 1) }
    let lengths = Dictionary(manifest.segments.map { ($0.id, $0.fileLength) }, uniquingKeysWith: { first, _ in first })
    for segment in segments {
      if let length = lengths[segment.id] { segment.shrinkToFile(durable: Int(clamping: length)) }
    }
    takeBack()
    // Another process may have begun with it, and found that a record was too large: then it goes on in the next one.
    for segment in segments where segment.kind == .log && !segment.isSealed {
      _ = growToFile(segment)
      if segment.isEmpty { segment.change { $0.begin(with: 0) } }
    }
  }

  /// The same, where the last process has left word of what manifests do not say.
  func takeOver(at baton: Baton) {
    passSegmentIDs(through: baton.nextSegmentID - 1)
    noteReuse(through: baton.reusedThrough)
    takeOver()
  }

  /// What manifests do not say, for the process that is next.
  func describe(in baton: inout Baton) {
    baton.nextSegmentID = firstFreeSegmentID
    baton.reusedThrough = present.withLock { $0.reusedThrough }
  }

  /// The segments that are listed and empty, but for one.
  func spares(besides tail: Segment) -> [Segment] {
    segments.filter { $0.kind == .log && $0.firstSequence == 0 && !$0.isSealed && $0 !== tail }
  }

  /// Whether all segments are there that the manifest lists.
  var hasAllListed: Bool { Set(segments.map(\.id)).isSuperset(of: manifest.segments.map(\.id)) }

  /// Whether each segment is where the manifest says, as it must be for its checkpoint to be of use: a store that follows another process
  /// may have had to put one elsewhere.
  var isWhereListed: Bool {
    let places = Dictionary(manifest.segments.map { ($0.id, Int($0.granule)) }, uniquingKeysWith: { first, _ in first })
    return segments.allSatisfy { segment in places[segment.id].map { $0 == segment.granule } ?? true }
  }

  // MARK: A writer in another process

  /// Adds segments that a newer manifest lists.
  func enter(_ opened: [Segment], _ manifest: Manifest) {
    present.withLock { present in
      // Together: a feed that sees a gap in the list must know that a merge has caused it.
      present.mergedThrough = max(present.mergedThrough, manifest.mergedThrough)
      present.segments = Self.inOrder(present.segments + opened)
    }
  }

  /// Adopts a newer manifest, which no longer lists the given segments.
  func adopt(_ manifest: Manifest, without leaving: [Segment]) {
    edits.withLock { state in
      state.manifest = manifest
      present.withLock { present in
        present.settings = manifest.settings
        present.past = manifest.history
        present.lacksPast = present.lacksPast && manifest.history.isEmpty
      }
      remove(leaving)
    }
  }
}
