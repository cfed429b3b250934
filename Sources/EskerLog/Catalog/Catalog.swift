internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Which segments and keyspaces there are, in memory and on disk, and which addresses the segments have. What LevelDB calls a
/// version set.
///
/// Keeps: the list holds what the manifest lists, segments that are being made, and none that is gone; a row says `sealed` only
/// of what is durable or cut; an emptied keyspace shows its old incarnation until the reset is durable; after ``end()`` nothing
/// is written, as the files may be another process's; what ``uninstall(_:)`` takes is taken once.
///
/// Calls segments, commits and the environment. Thread safety: any thread.
final class Catalog: Sendable {
  let env: Environment
  let commits: CommitQueue
  /// Leads from addresses to the memory of segments.
  let granules: GranuleTable
  private let addresses = AddressSpace()
  let reserve: SpaceReserve

  private let present: Guarded<Present>
  private let edits: Guarded<ManifestState>
  /// The last reset of each keyspace that was emptied since the store was opened.
  private let resets = Guarded<[UInt32: Reset]>([:], .keyspaces)
  private let nextSegmentID: Atomic<UInt64>

  /// What there is now. No disk is waited for under its lock.
  private struct Present {
    /// First what merges wrote, then the log's in its order.
    var segments: [Segment] = []
    /// What a merge is leading the index to, and is in no manifest yet.
    var arriving: [Segment] = []
    /// What a merge has replaced in the manifest and the index still leads to in part.
    var leaving: [Segment] = []
    /// The highest number in a segment of the log that was merged away.
    var mergedThrough: UInt64 = 0
    /// Merged away, until somebody finds the time to let go of them: to close a removed file takes long.
    var disposed: [Segment] = []
    /// Files of segments that recovery cut off, to be removed once the cut is durable.
    var discarded: [String] = []
  }

  /// What the manifest says.
  private struct ManifestState {
    let files: ManifestFiles
    /// The last manifest that was written, or read.
    var manifest: Manifest
    /// True once the store is closed: from then on the files may be another process's.
    var isEnded = false
  }

  private struct Reset {
    var sequence: UInt64
    /// The incarnation that was emptied last by a reset that is durable, and the present one.
    var before: UInt32
    var after: UInt32
  }

  /// - Parameter manifest: the one that was read.
  /// - Throws: when there is no memory.
  init(_ env: Environment, _ commits: CommitQueue, _ files: ManifestFiles, _ manifest: Manifest) throws(StoreError) {
    guard let granules = GranuleTable() else {
      throw .failed(operation: "allocate memory for", path: env.path, errno: PlatformError.outOfMemory)
    }
    self.env = env
    self.commits = commits
    self.granules = granules
    reserve = SpaceReserve(directory: env.path, fileSystem: env.platform.fileSystem)
    nextSegmentID = Atomic(manifest.nextSegmentID)
    var manifest = manifest
    if !manifest.keyspaces.contains(where: { $0.id == 0 }) { manifest.keyspaces.append(KeyspaceRow(id: 0, name: "")) }
    present = Guarded(Present(mergedThrough: manifest.mergedThrough), .segments)
    edits = Guarded(ManifestState(files: files, manifest: manifest), .manifests)
  }

  deinit {
    granules.deallocate()
  }

  // MARK: The list

  /// Every segment: first those that merges wrote, then the log's in its order.
  var segments: [Segment] { present.withLock { $0.segments } }

  /// The segments, and up to which number some of the log may have been merged away.
  var version: (segments: [Segment], mergedThrough: UInt64) { present.withLock { ($0.segments, $0.mergedThrough) } }

  /// The highest sequence number in a segment of the log that was merged away.
  var mergedThrough: UInt64 { present.withLock { $0.mergedThrough } }

  /// Every segment that the index may lead to, and whether a merge is about to change to which.
  var shown: (segments: [Segment], isAmidMerge: Bool) {
    present.withLock { present in
      (present.segments + present.arriving + present.leaving, !present.arriving.isEmpty)
    }
  }

  /// What the index may lead to and no manifest lists: a merge's outputs before its edit, and its inputs after.
  var unlisted: [Segment] { present.withLock { $0.arriving + $0.leaving } }

  /// The last segment of the log.
  var lastLogSegment: Segment? { present.withLock { $0.segments.last { $0.kind == .log } } }

  /// Bytes of records in all segments that take no more of them.
  var recordBytes: Int {
    present.withLock { $0.segments.reduce(0) { $0 + $1.recordsEnd } }
  }

  /// Segments that are full but not sealed yet, in the order of the log.
  ///
  /// One that the manifest calls sealed may be merged away, and whoever reads the log knows that the numbers go on behind a
  /// sealed segment as the manifest says. So none is sealed before those ahead of it, whenever it was created.
  var fullSegments: [Segment] {
    let finished = segments.filter {
      $0.isSealed && !$0.isSettled
    }
    return Self.inOrder(finished)
  }

  /// Whether so many full segments wait to be sealed that their descriptors could run out: until then each needs its own.
  var isCrowdedUnsealed: Bool { fullSegments.count > DescriptorLimit.current / 8 }

  var fullBytes: Int {
    fullSegments.reduce(0) { $0 + $1.recordsEnd }
  }

  /// Puts a segment at the end of the list.
  func add(_ segment: Segment) {
    present.withLock { $0.segments.append(segment) }
  }

  /// Puts segments back that were taken off by ``remove(_:)``.
  func putBack(_ segments: [Segment]) {
    present.withLock { $0.segments += segments }
  }

  /// Takes segments off the list.
  func remove(_ gone: [Segment]) {
    present.withLock { present in present.segments.removeAll { segment in gone.contains { $0 === segment } } }
  }

  /// Takes those off the list that a condition picks.
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

  /// What merges wrote, then log segments by their first record; those without one last.
  static func inOrder(_ list: [Segment]) -> [Segment] {
    func place(_ segment: Segment) -> (Int, UInt64, UInt64) {
      let first = segment.firstSequence
      return (segment.kind == .log ? 1 : 0, first == 0 ? .max : first, segment.id)
    }
    return list.sorted { place($0) < place($1) }
  }

  /// Says that a merge leads the index to segments that are in no manifest yet; none: that it was undone.
  func setArriving(_ segments: [Segment]) {
    present.withLock { $0.arriving = segments }
  }

  /// Says that the index leads no more to what a merge has replaced.
  func endLeaving() {
    present.withLock { $0.leaving = [] }
  }

  // MARK: What goes

  /// Ends the resolution of a segment's addresses once no reader can follow one. To be called once for each segment, by who
  /// took it off the list, or never put it there.
  func uninstall(_ segment: Segment) {
    guard segment.lease.endResolving() else { return assertionFailure("the segment was given up twice") }
    // A reader that found an address before it went from the index may still follow it. The segment is held until then, and
    // with it the lease: nobody else gets these addresses before they are taken away.
    env.epochs.retire { [self] in granules.uninstall(segment) }
  }

  /// Uninstalls a segment that is on no list any more, and removes its file.
  func discard(_ segment: Segment) {
    uninstall(segment)
    removeFile(segment.path)
  }

  /// Removes a file that is not listed. What cannot be removed now, the next opening removes.
  func removeFile(_ path: String) {
    try? env.platform.fileSystem.remove(path)
  }

  /// Keeps segments that were merged away for whoever has time to let go of them; how many there are.
  func dispose(of segments: [Segment]) -> Int {
    present.withLock { present in
      present.disposed += segments
      return present.disposed.count
    }
  }

  /// Lets go of them.
  func disposePending() {
    let segments = present.withLock { present in
      defer { present.disposed = [] }
      return present.disposed
    }
    // Before the list goes, so that it holds the last references.
    env.epochs.collect()
    withExtendedLifetime(segments) {}
  }

  /// Waits until removed files are closed, which takes as long as a reader may stand in them: some microseconds. They take
  /// space until then.
  func closeRemoved() {
    if !env.epochs.isPinned { env.epochs.synchronize() }
    env.epochs.collect()
  }

  /// Notes files that may go once the next edit is durable.
  func discardLater(_ paths: [String]) {
    present.withLock { $0.discarded += paths }
  }

  var hasDiscarded: Bool { present.withLock { !$0.discarded.isEmpty } }

  /// The files that were noted, which the caller removes after an edit.
  func takeDiscarded() -> [String] {
    present.withLock { present in
      defer { present.discarded = [] }
      return present.discarded
    }
  }

  /// Removes them: an edit is durable.
  func removeDiscarded() {
    for path in takeDiscarded() { removeFile(path) }
  }

  /// Nothing is listed any more. Nobody uses the store.
  func takeAll() -> [Segment] {
    let list = present.withLock { present in
      defer { present.segments = [] }
      return present.segments
    }
    for segment in list where segment.lease.endResolving() { granules.uninstall(segment) }
    return list
  }

  // MARK: Addresses and numbers

  /// A run of addresses for a segment of that many bytes; nil when there is none. O(segments).
  func takeAddresses(for bytes: Int) -> AddressSpace.Lease? { addresses.take(GranuleTable.granules(for: bytes)) }

  /// Certain granules; nil when a part of them is taken.
  func takeAddresses(at granules: Range<Int>) -> AddressSpace.Lease? { addresses.take(granules) }

  /// Bytes of segments that were merged away and are still in use.
  var pinnedBytes: Int { addresses.pinnedBytes }

  /// A number for a new segment's file.
  func takeSegmentID() -> UInt64 { nextSegmentID.wrappingAdd(1, ordering: .relaxed).oldValue }

  /// A number that no segment has, nor any above it.
  var firstFreeSegmentID: UInt64 { nextSegmentID.load(ordering: .relaxed) }

  /// No new segment takes a number up to this one: a file may have it.
  func passSegmentIDs(through id: UInt64) { nextSegmentID.max(id &+ 1, ordering: .relaxed) }

  // MARK: Keyspaces

  /// Notes that a keyspace was emptied by the record with that number, which may not be durable yet; 0 for one that is.
  func noteReset(of keyspace: KeyspaceTag, from old: UInt32, at sequence: UInt64) {
    let durable = commits.durable.load(ordering: .acquiring)
    resets.withLock { resets in
      // The manifest names the last incarnation that is durable, however many resets follow it.
      let known = resets[keyspace.id]
      let before = known.map { $0.sequence > durable ? $0.before : old } ?? old
      resets[keyspace.id] = Reset(sequence: sequence, before: before, after: keyspace.incarnation)
    }
  }

  // MARK: The manifest

  /// The last manifest that was written, or read. Waits for an edit under way.
  var manifest: Manifest { edits.withLock { $0.manifest } }

  /// Reads both copies of the manifest. Waits for an edit under way.
  func readCopies() throws(StoreError) -> ManifestFiles.Reading {
    try edits.withLock { (state) throws(StoreError) in try state.files.read() }
  }

  /// As ``readCopies()``, looking again while another process writes them.
  func readCopiesBesideWriter() throws(StoreError) -> ManifestFiles.Reading {
    try edits.withLock { (state) throws(StoreError) in try state.files.readBesideWriter(env.platform) }
  }

  /// Takes those off the list that the last manifest does not list; the others stay on it. No edit comes in between.
  func removeUnlisted(_ unused: [Segment]) -> [Segment] {
    edits.withLock { state in
      let listed = Set(state.manifest.segments.map(\.id))
      let unlisted = unused.filter { !listed.contains($0.id) }
      remove(unlisted)
      return unlisted
    }
  }

  /// Writes the manifest anew from the present state and a change, durably. Nothing that is open is different before that.
  ///
  /// - Parameters:
  ///   - merge: the segments that a merge replaces, and by which.
  ///   - isAll: the edit is all that the call does: if nobody knows whether it took place, the call says so.
  /// - Throws: ``StoreError/closed`` once the store is, which the caller may have had no chance to see: it looked, and then
  ///   waited for a lock.
  func write<R>(
    replacing merge: (removed: [Segment], added: [Segment]) = ([], []),
    isAll: Bool = false,
    _ change: (inout Manifest) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    // What is on disk is not known any more: there is nothing to go on from.
    if let code = commits.failureCode { throw .syncFailed(errno: code) }
    let outcome = try edits.withLock { (state) throws(StoreError) -> Result<R, PlatformFailure> in
      guard !state.isEnded else { throw .closed }
      func replaced(_ list: [Segment]) -> [Segment] {
        merge.added + list.filter { segment in !merge.removed.contains { $0 === segment } }
      }
      var manifest = state.manifest
      fill(&manifest, with: replaced(segments))
      let result = try change(&manifest)
      env.session?.syncBegan()
      do throws(ManifestFiles.Failure) { env.countWritten(try state.files.write(manifest, env.session)) } catch {
        guard case .nothingWritten(let reason) = error else { return .failure(PlatformFailure(error: error.error)) }
        env.session?.syncEnded()
        throw StoreError(reason, needed: manifest.encoded().count)
      }
      env.session?.syncEnded()
      state.manifest = manifest
      present.withLock { present in
        present.mergedThrough = manifest.mergedThrough
        // Not the list as it was: a segment may have been created meanwhile.
        present.segments = replaced(present.segments)
        guard !merge.removed.isEmpty else { return }
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

  /// What every manifest says of the present state. Nothing in it may run ahead of the log on disk.
  private func fill(_ manifest: inout Manifest, with list: [Segment]) {
    let durable = commits.durable.load(ordering: .acquiring)
    manifest.generation += 1
    manifest.durableSequence = max(manifest.durableSequence, durable)
    manifest.storeTime = max(manifest.storeTime, env.time.now)
    manifest.nextSegmentID = firstFreeSegmentID
    manifest.segments = list.map { $0.row() }
    resets.withLock { resets in
      for position in manifest.keyspaces.indices {
        guard let reset = resets[manifest.keyspaces[position].id] else { continue }
        manifest.keyspaces[position].incarnation = reset.sequence > durable ? reset.before : reset.after
      }
    }
  }

  #if DEBUG
    /// Runs a body while the manifest cannot be written. For tests.
    func holdingManifest<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
      try edits.withLock { (_) throws(E) in try body() }
    }
  #endif

  /// Nothing is written any more, nor set aside or given back.
  func end() {
    edits.withLock { state in
      state.isEnded = true
      state.files.close()
    }
    reserve.end()
  }

  // MARK: A writer in another process

  /// Lists segments besides those that were listed, because a newer manifest does.
  func enter(_ opened: [Segment], _ manifest: Manifest) {
    present.withLock { present in
      // Together: a feed that sees a gap in the list must know that a merge made it.
      present.mergedThrough = max(present.mergedThrough, manifest.mergedThrough)
      present.segments = Self.inOrder(present.segments + opened)
    }
  }

  /// Lets a newer manifest take effect, which lists all but some segments.
  func adopt(_ manifest: Manifest, without leaving: [Segment]) {
    edits.withLock { state in
      state.manifest = manifest
      remove(leaving)
    }
  }
}
