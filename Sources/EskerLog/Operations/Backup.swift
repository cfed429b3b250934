internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Copies a store while it is in use.
struct Backup {
  private let engine: Engine
  private var env: Environment { engine.env }
  private var catalog: Catalog { engine.catalog }

  init(of engine: Engine) {
    self.engine = engine
  }

  /// Writes a backup of the store's current state.
  ///
  /// The snapshot keeps its segments' files open, so a file that a merge unlinks meanwhile can still be copied.
  func make(
    to directory: String,
    reusing previous: String?,
    sharing: Bool,
    as kind: CopyKind = .backup,
    progress: ((Double) -> Bool)?
  ) throws(StoreError) -> Report.Backup {
    let host = StoreHost(platform: env.platform, background: .inline)
    let directory = try host.absolute(directory)
    let earlier = try previousBackup(previous, host)
    _ = try StoreDirectory(path: directory, host: host).namesForCopy(of: kind)
    let snapshot = try snapshotAtRest()
    let listed = catalog.manifest
    var plan = BackupPlan(snapshot, listed: listed)
    try requireIntact(snapshot) { progress?($0 / 2) ?? true }
    var target = try BackupDirectory(at: directory, for: kind, of: env.storeID, host: host)
    var report = Report.Backup(
      sequence: snapshot.sequence,
      segments: plan.parts.count,
      sharedSegments: 0,
      bytes: plan.bytes,
      copiedBytes: 0
    )
    do throws(StoreError) {
      var done = 0
      for number in plan.parts.indices {
        let part = plan.parts[number]
        try env.checkOpen()
        let length = Int(clamping: part.row.fileLength)
        let name = FileName.segment(part.segment.id)
        if part.isFinal, sharing, target.share(part.segment.path, as: name) {
          report.sharedSegments += 1
        } else if part.isFinal, let file = earlier?.file(for: part.row), target.share(file, as: name) {
          report.sharedSegments += 1
        } else {
          plan.parts[number].row = try target.copy(part.segment, part.row, as: name)
          report.copiedBytes += Int(clamping: plan.parts[number].row.fileLength)
        }
        done += length
        if progress?(0.5 + Double(done) / Double(max(1, plan.bytes)) / 2) == false { throw .cancelled }
      }
      try target.finish(manifest(of: snapshot, plan, listed))
    } catch {
      target.abandon()
      throw error
    }
    return report
  }

  /// Takes a snapshot between two merges, so that a backup does not copy both the inputs and the outputs of a merge.
  private func snapshotAtRest() throws(StoreError) -> Snapshot {
    try engine.snapshot(betweenMerges: true)
  }

  /// Throws if anything to be copied or shared is damaged: a backup must not be worse than one that it replaces.
  private func requireIntact(_ snapshot: Snapshot, progress: (Double) -> Bool) throws(StoreError) {
    let report = try StoreVerification(of: engine).verifySegments(of: snapshot, progress: progress)
    guard let first = report.damage.first else { return }
    let more = report.damage.count > 1 ? ", and \(report.damage.count - 1) more damaged ranges" : ""
    throw .damaged(first.location, reason: "\(first.reason)\(more); nothing was copied: \(StoreError.remedyOfLive)")
  }

  /// What ``make(to:reusing:sharing:as:progress:)`` would do now.
  func plan(
    to directory: String,
    reusing previous: String?,
    sharing: Bool,
    as kind: CopyKind = .backup
  ) throws(StoreError) -> Report.Backup {
    let host = StoreHost(platform: env.platform, background: .inline)
    let directory = try host.absolute(directory)
    let earlier = try previousBackup(previous, host)
    _ = try StoreDirectory(path: directory, host: host).namesForCopy(of: kind)
    let snapshot = try snapshotAtRest()
    let plan = BackupPlan(snapshot, listed: catalog.manifest)
    var report = Report.Backup(
      sequence: snapshot.sequence,
      segments: plan.parts.count,
      sharedSegments: 0,
      bytes: plan.bytes,
      copiedBytes: 0
    )
    for part in plan.parts {
      if part.isFinal, sharing || earlier?.file(for: part.row) != nil {
        report.sharedSegments += 1
      } else {
        report.copiedBytes += Int(clamping: part.row.fileLength)
      }
    }
    return report
  }

  private func previousBackup(_ path: String?, _ host: StoreHost) throws(StoreError) -> PreviousBackup? {
    guard let path else { return nil }
    return try PreviousBackup(at: host.absolute(path), of: env.storeID, fileSystem: host.platform.fileSystem)
  }

  /// The manifest that the store would have if it had been closed right after the snapshot.
  private func manifest(of snapshot: Snapshot, _ plan: BackupPlan, _ listed: Manifest) -> Manifest {
    var manifest = Manifest(storeID: env.storeID, seed: env.seed)
    let sequence = snapshot.sequence.rawValue
    manifest.generation = 1
    manifest.settings = listed.settings
    manifest.state = .clean
    manifest.durableSequence = sequence
    manifest.nextSequence = sequence + 1
    manifest.storeTime = snapshot.time
    manifest.mergedThrough = min(max(listed.mergedThrough, catalog.mergedThrough), sequence)
    // Above all ids that the store has used, so that a name never refers to two different files.
    manifest.nextSegmentID = catalog.firstFreeSegmentID
    manifest.segments = plan.parts.map(\.row)
    manifest.keyspaces = snapshot.keyspaceRows
    manifest.nextKeyspaceID = snapshot.nextKeyspaceID
    manifest.history = (catalog.history.rows + [row(of: snapshot)]).kept
    return manifest
  }

  /// What the copy's history says of its making.
  private func row(of snapshot: Snapshot) -> OpeningRow {
    var report = Report.Opening(kind: .copied, time: env.options.clock.now())
    report.isComplete = true
    report.lastSequence = snapshot.sequence
    report.keys = snapshot.count
    return OpeningRow(report, in: env.path)
  }
}
