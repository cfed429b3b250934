internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Reads everything and compares it with its checksums.
  func verify(progress: ((Double) -> Void)?) throws(StoreError) -> VerificationReport {
    if status.load(ordering: .acquiring) != 0 { try checkReadable() }
    var report = VerificationReport()
    verifyManifests(&report)
    let snapshot = try snapshot()
    let segments = snapshot.extents
    let total = max(1, segments.reduce(0) { $0 + $1.end })
    var done = 0
    for (segment, end) in segments {
      if status.load(ordering: .acquiring) & Status.closed != 0 { throw .closed }
      verify(segment, end, &report)
      done += end
      progress?(Double(done) / Double(total))
    }
    verifyCheckpoint(&report)
    try verifyIndex(&report)
    return report
  }

  private func verifyManifests(_ report: inout VerificationReport) {
    guard let reading = manifests.withLock({ try? $0.files.read() }) else { return }
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

  private func verify(_ segment: Segment, _ end: Int, _ report: inout VerificationReport) {
    report.files += 1
    report.bytes += end
    let header = (try? segment.file.bytes(in: 0..<SegmentHeader.length)) ?? []
    var decoded: SegmentHeader?
    do throws(FormatError) { decoded = unsafe try SegmentHeader(decoding: header.span.bytes) } catch {
      report.damage.append(
        .init(location: segment.location(0), length: SegmentHeader.length, reason: "the segment's header is damaged")
      )
    }
    if let view = segment.packedView(end: end) {
      verifyPacked(segment, view, decoded?.dictionaryChecksum, &report)
    } else {
      verifyRecords(segment, end, &report)
    }
    if segment.mapping.isFaulted {
      report.damage.append(
        .init(location: segment.location(), length: 0, reason: "the file was cut short, or its medium failed")
      )
    }
    verifyFooter(segment, &report)
  }

  private func verifyRecords(_ segment: Segment, _ end: Int, _ report: inout VerificationReport) {
    var offset = SegmentHeader.length
    while offset < end {
      switch segment.readRecord(at: offset, end: end) {
      case .record(let header):
        report.records += 1
        if segment.view(at: offset, end: end)?.bodyIsIntact != true {
          report.damage.append(
            .init(location: segment.location(offset), length: header.size, reason: RecordDamage.bodyChecksum.reason)
          )
        }
        offset += header.size
      case .end, .damaged:
        let next = segment.nextRecord(after: offset, end: end) ?? end
        report.damage.append(
          .init(location: segment.location(offset), length: next - offset, reason: RecordDamage.headerChecksum.reason)
        )
        offset = next
      }
    }
  }

  private func verifyPacked(
    _ segment: Segment,
    _ view: PackedSegmentView,
    _ dictionaryChecksum: UInt32?,
    _ report: inout VerificationReport
  ) {
    if let dictionaryChecksum, unsafe CRC32C.checksum(of: view.dictionary) != dictionaryChecksum {
      report.damage.append(
        .init(
          location: segment.location(SegmentHeader.length),
          length: segment.layout.dictionaryLength,
          reason: "the dictionary is damaged; values that refer to the damaged bytes cannot be read"
        )
      )
    }
    var walk = PackedWalk(view)
    while let step = walk.next(in: view) {
      switch step {
      case .record(let entry):
        report.records += 1
        if let damage = view.damage(of: entry) {
          report.damage.append(
            .init(location: segment.location(entry.offset, key: entry.key), length: entry.size, reason: damage.reason)
          )
        }
      case .damaged(let range):
        report.damage.append(
          .init(
            location: segment.location(range.lowerBound),
            length: range.count,
            reason: RecordDamage.headerChecksum.reason
          )
        )
      }
    }
  }

  private func verifyFooter(_ segment: Segment, _ report: inout VerificationReport) {
    var events: [StoreEvent] = []
    if let (_, bytes) = readFooter(segment, damage: &events) { report.bytes += bytes.count }
    for case .damaged(let location, let reason) in events {
      report.damage.append(.init(location: location, length: segment.footer.withLock { $0.length }, reason: reason))
    }
  }

  private func verifyCheckpoint(_ report: inout VerificationReport) {
    let manifest = manifests.withLock { $0.manifest }
    guard manifest.checkpointID != 0 else { return }
    report.files += 1
    let host = Host(platform: platform, background: .inline)
    let (checkpoint, damage) = LoadedCheckpoint.load(manifest, directory: path, host: host, verifyingAll: true)
    if let checkpoint { report.bytes += checkpoint.byteCount }
    if case .damaged(let location, let reason) = damage {
      report.damage.append(.init(location: location, length: 0, reason: reason))
    }
  }

  /// Checks that every entry of the index leads to a record of the right hash.
  private func verifyIndex(_ report: inout VerificationReport) throws(StoreError) {
    var bucket = 0
    while bucket < index.bucketCount {
      if status.load(ordering: .acquiring) & Status.closed != 0 { throw .closed }
      let (isWhole, astray) = writer.withLock { _ in
        var astray: [UInt64] = []
        let isWhole = index.forEachEntry(inBuckets: bucket..<bucket + 64) { entry in
          guard let place = granules.place(of: entry.address), StoredRecord(at: place) != nil else {
            astray.append(entry.address)
            return
          }
        }
        return (isWhole, astray)
      }
      for address in astray {
        guard case .damaged(let location, _) = damage(at: address, .truncated, key: nil) else { continue }
        report.damage.append(
          .init(location: location, length: 0, reason: "the index leads to a record that is not there")
        )
      }
      if !isWhole {
        guard case .damaged(let location, let reason) = indexDamage() else { return }
        report.damage.append(.init(location: location, length: 0, reason: reason))
        return
      }
      bucket += 64
    }
  }
}
