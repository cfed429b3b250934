internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Reads everything and compares it with its checksums, on as many threads as there are processors.
  func verify(progress: ((Double) -> Bool)?) throws(StoreError) -> VerificationReport {
    if status.load(ordering: .acquiring) != 0 { try checkReadable() }
    var report = VerificationReport()
    verifyManifests(&report)
    let snapshot = try snapshot()
    let extents = snapshot.extents
    let done = VerificationProgress(total: extents.reduce(0) { $0 + $1.end })
    let rounds = IndexTargets.rounds(self, extents)
    for (number, round) in rounds.enumerated() {
      // What is done before anybody was told could not be stopped.
      done.report(to: progress)
      let targets = IndexTargets.all(self, round) { jobs in work(jobs) { done.report(to: progress) } }
      for part in targets { report.add(part.report) }
      var jobs = round.extents.indices.map { position -> Crew<VerificationReport>.Job in
        {
          let (segment, end) = round.extents[position]
          var verification = SegmentVerification(of: self, segment, end, done)
          return verification.run(targets.map { $0.lists[position] })
        }
      }
      if number == rounds.count - 1 { jobs.append { self.verifyCheckpoint() } }
      for part in work(jobs, { done.report(to: progress) }) { report.add(part) }
      done.report(to: progress)
      if status.load(ordering: .acquiring) & Status.closed != 0 { throw .closed }
      try done.check()
    }
    addFindings(to: &report)
    _ = progress?(1)
    return report
  }

  /// Reads the segments that a snapshot shows, as far as it shows them, and compares them with their checksums; what the opening
  /// found wrong with segments is in the report too.
  func verifySegments(of snapshot: Snapshot, progress: (Double) -> Bool) throws(StoreError) -> VerificationReport {
    let extents = snapshot.extents
    let done = VerificationProgress(total: extents.reduce(0) { $0 + $1.end })
    let jobs = extents.map { extent -> Crew<VerificationReport>.Job in
      {
        var verification = SegmentVerification(of: self, extent.segment, extent.end, done)
        return verification.run([])
      }
    }
    var report = VerificationReport()
    withoutActuallyEscaping(progress) { progress in
      for part in work(jobs, { done.report(to: progress) }) { report.add(part) }
      done.report(to: progress)
    }
    if status.load(ordering: .acquiring) & Status.closed != 0 { throw .closed }
    try done.check()
    addFindings(to: &report)
    return report
  }

  /// Does jobs on as many threads as help, or on this one where the store has none.
  private func work<Result: Sendable>(_ jobs: [Crew<Result>.Job], _ meanwhile: () -> Void) -> [Result] {
    Crew(jobs).run(threads: background.isThreaded ? min(Processors.count, Self.mostVerifiers) : 0, meanwhile)
  }

  /// More of them would only wait for memory.
  private static var mostVerifiers: Int { 8 }

  private func verifyManifests(_ report: inout VerificationReport) {
    let found = manifests.withLock { state -> ManifestFiles.Reading? in
      // Another process may be editing them only beside a read-only store. In a writer, edits wait for this lock.
      guard options.readOnly else { return try? state.files.read() }
      return try? state.files.readBesideWriter(platform)
    }
    guard let reading = found else { return }
    report.files += reading.found
    for (path, error) in reading.damage {
      guard case .damaged(let location, let reason) = StoreError(error, in: path, what: "a copy of the manifest") else {
        continue
      }
      report.damage.append(.init(location: location, length: 0, reason: reason))
    }
    if reading.found < FileName.manifests.count {
      report.damage.append(
        .init(location: DamageLocation(path: path), length: 0, reason: "one copy of the manifest is missing")
      )
    }
  }

  private func verifyCheckpoint() -> VerificationReport {
    var report = VerificationReport()
    let manifest = manifests.withLock { $0.manifest }
    guard manifest.checkpointID != 0 else { return report }
    report.files += 1
    let host = Host(platform: platform, background: .inline)
    let (checkpoint, damage) = LoadedCheckpoint.load(manifest, directory: path, host: host, verifyingAll: true)
    if let checkpoint { report.bytes += checkpoint.byteCount }
    if case .damaged(let location, let reason) = damage {
      report.damage.append(.init(location: location, length: 0, reason: reason))
    }
    return report
  }
}

extension VerificationReport {
  fileprivate mutating func add(_ part: VerificationReport) {
    files += part.files
    bytes += part.bytes
    records += part.records
    damage += part.damage
  }
}
