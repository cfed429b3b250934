internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Verifies the checksums of all files of a store.
struct StoreVerification: Sendable {
  private let engine: Engine
  private var env: Environment { engine.env }
  private var catalog: Catalog { engine.catalog }

  init(of engine: Engine) {
    self.engine = engine
  }

  /// Verifies everything, on as many threads as there are processors, at most ``mostVerifiers``.
  func run(progress: ((Double) -> Bool)?) throws(StoreError) -> Report.Verification {
    try engine.checkBeforeRead()
    var report = Report.Verification()
    try verifyManifests(&report)
    let snapshot = try engine.snapshot()
    let extents = snapshot.extents
    let done = VerificationProgress(total: extents.reduce(0) { $0 + $1.end })
    let rounds = IndexTargets.rounds(engine.keydir, extents)
    for (number, round) in rounds.enumerated() {
      // Before any work, so that the caller can cancel it.
      done.report(to: progress)
      let targets = IndexTargets.all(engine.writer, round) { jobs in work(jobs) { done.report(to: progress) } }
      for part in targets { report.add(part.report) }
      var jobs = round.extents.indices.map { position -> WorkerPool<Report.Verification>.Job in
        {
          let (segment, end) = round.extents[position]
          var verification = SegmentVerification(of: env, segment, end, done)
          return verification.run(targets.map { $0.lists[position] })
        }
      }
      if number == rounds.count - 1 { jobs.append { verifyCheckpoint(done) } }
      for part in work(jobs, { done.report(to: progress) }) { report.add(part) }
      done.report(to: progress)
      try env.checkOpen()
      try done.check()
    }
    settleUnknown(in: &report)
    addFindings(to: &report)
    _ = progress?(1)
    return report
  }

  /// Verifies the segments of a snapshot, as far as it includes them. The report includes damage that the opening found.
  func verifySegments(of snapshot: Snapshot, progress: (Double) -> Bool) throws(StoreError) -> Report.Verification {
    let extents = snapshot.extents
    let done = VerificationProgress(total: extents.reduce(0) { $0 + $1.end })
    let jobs = extents.map { extent -> WorkerPool<Report.Verification>.Job in
      {
        var verification = SegmentVerification(of: env, extent.segment, extent.end, done)
        return verification.run([])
      }
    }
    var report = Report.Verification()
    withoutActuallyEscaping(progress) { progress in
      for part in work(jobs, { done.report(to: progress) }) { report.add(part) }
      done.report(to: progress)
    }
    try env.checkOpen()
    try done.check()
    addFindings(to: &report)
    return report
  }

  /// Runs jobs on as many threads as is useful, or on this one if the store has no threads.
  private func work<Result: Sendable>(_ jobs: [WorkerPool<Result>.Job], _ meanwhile: () -> Void) -> [Result] {
    WorkerPool(jobs).run(threads: env.isThreaded ? min(Processors.count, Self.mostVerifiers) : 0, meanwhile)
  }

  /// More threads would only wait for memory.
  private static var mostVerifiers: Int { 8 }

  private func verifyManifests(_ report: inout Report.Verification) throws(StoreError) {
    let reading: ManifestFiles.Reading
    do throws(StoreError) {
      // Only if this store is read-only may another process be editing them. In a writer, edits wait until they are read.
      reading = env.isFollowing ? try catalog.readCopiesBesideWriter() : try catalog.readCopies()
    } catch {
      if case .accessDenied = error { throw error }
      return
    }
    report.files += reading.found
    for (path, error) in reading.damage {
      guard case .damaged(let location, let reason) = StoreError(error, in: path, what: "a copy of the manifest") else {
        continue
      }
      report.damage.append(.init(location: location, length: 0, reason: reason))
    }
    if reading.found < FileName.manifests.count {
      report.damage.append(
        .init(location: StoreError.Location(path: env.path), length: 0, reason: "one copy of the manifest is missing")
      )
    }
  }

  private func verifyCheckpoint(_ done: VerificationProgress) -> Report.Verification {
    var report = Report.Verification()
    let manifest = catalog.manifest
    guard manifest.checkpointID != 0 else { return report }
    report.files += 1
    let host = StoreHost(platform: env.platform, background: .inline)
    do throws(PlatformError) {
      let (checkpoint, damage) =
        try LoadedCheckpoint.load(manifest, directory: env.path, host: host, verifyingAll: true)
      if let checkpoint { report.bytes += checkpoint.byteCount }
      if case .damaged(let location, let reason) = damage {
        report.damage.append(.init(location: location, length: 0, reason: reason))
      }
    } catch { done.fail(error) }
    return report
  }

  // MARK: Findings of the opening

  /// Where the opening found no damage, it did not have to read: the index, which a checkpoint or a footer gave it, knows of all that was
  /// there.
  private func settleUnknown(in report: inout Report.Verification) {
    let places = Dictionary(grouping: engine.findings, by: \.location.path)
    for position in report.damage.indices where report.damage[position].unknown > 0 {
      let damage = report.damage[position]
      guard let start = damage.location.offset else { continue }
      let wasMet = places[damage.location.path]?.contains { finding in
        finding.location.offset.map { (start..<start + damage.length).contains($0) } ?? true
      }
      if wasMet != true { report.damage[position].unknown = 0 }
    }
  }

  /// Adds the opening's findings to a report, unless it already covers them.
  private func addFindings(to report: inout Report.Verification) {
    var found: [Report.Verification.Damage] = []
    for finding in engine.findings where !report.covers(finding.location) && !isReadable(finding.location) {
      // A file may be too short, and records missing at its end.
      if let known = found.firstIndex(where: { $0.location == finding.location }) {
        found[known].reason += "; \(finding.reason)"
        found[known].length = max(found[known].length, finding.length)
        found[known].records = max(found[known].records, finding.records)
        found[known].unknown = found[known].records
      } else {
        found.append(finding)
        // The index was made without them.
        found[found.count - 1].unknown = finding.records
      }
    }
    report.damage += found
  }

  /// Whether a record can now be read where a read-only store could not read one at its opening, since the writer has
  /// written it meanwhile.
  private func isReadable(_ location: StoreError.Location) -> Bool {
    guard env.isFollowing, let offset = location.offset else { return false }
    let segment = catalog.segments.first { $0.id == location.segment }
    guard let segment, segment.kind == .log, case .record = segment.readRecord(at: offset, end: .max) else {
      return false
    }
    return segment.view(at: offset, end: .max)?.bodyIsIntact == true
  }
}

extension Report.Verification {
  fileprivate mutating func add(_ part: Report.Verification) {
    files += part.files
    bytes += part.bytes
    records += part.records
    damage += part.damage
  }
}

extension Report.Verification {
  /// Whether a damaged range of the report contains a location.
  fileprivate func covers(_ location: StoreError.Location) -> Bool {
    damage.contains { known in
      guard known.location.path == location.path else { return false }
      guard let start = known.location.offset, let offset = location.offset else { return true }
      return offset == start || (start..<start + known.length).contains(offset)
    }
  }
}
