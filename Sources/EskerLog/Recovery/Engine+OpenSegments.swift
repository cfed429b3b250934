internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Opens and maps a listed segment, and makes its addresses resolvable.
  ///
  /// The manifest says all that is needed of a segment, so a damaged header is reported and lived with; a header that is
  /// right and another segment's is not.
  ///
  /// - Parameter durable: everything up to here is on disk; a file that lacks more is what a crash left of it.
  func openSegment(_ row: SegmentRow, durable: UInt64, damage: inout [StoreEvent]) throws(StoreError) -> Segment {
    let segmentPath = "\(path)/\(FileName.segment(row.id))"
    let isWritable = !options.readOnly
    let file: any File
    do throws(PlatformError) {
      file = try platform.fileSystem.open(segmentPath, isWritable ? .readWrite : .read)
    } catch {
      guard error.code == PlatformError.notFound else { throw StoreError(error) }
      throw .damaged(
        DamageLocation(path: segmentPath, segment: row.id),
        reason: "the segment is missing; put the file back, \(StoreError.remedy)"
      )
    }
    var capacity = Int(row.granules) << (GranuleTable.granuleShift + 3)
    var created: Int64 = 0
    var plainBytes = 0
    let header = try readHeader(file, segmentPath)
    switch header {
    case .success(let header):
      guard header.storeID == storeID, header.segmentID == row.id, header.salt == row.salt else {
        throw .damaged(
          DamageLocation(path: segmentPath, segment: row.id, offset: 0),
          reason: "this is not the segment that the manifest lists: the file was replaced; put the right one back"
        )
      }
      capacity = min(capacity, Int(clamping: header.plannedCapacity))
      created = header.creationTime
      plainBytes = Int(clamping: header.plainBytes)
    case .failure(let error):
      if case .newerVersion(let version) = error { throw .unknownFormat(path: segmentPath, version: version) }
      let location = DamageLocation(path: segmentPath, segment: row.id, offset: 0)
      damage.append(.damaged(location, reason: "the segment's header is damaged; its records are still read"))
    }
    guard let lease = takeGranules(of: row) else {
      throw .damaged(
        DamageLocation(path: path),
        reason: "the manifest assigns segment \(row.id) an address range already in use"
      )
    }
    let segment: Segment = try translating { () throws(PlatformError) -> Segment in
      let mapping = try file.mapWhole(
        upTo: Int(row.granules) << (GranuleTable.granuleShift + 3),
        capacity: capacity,
        writable: isWritable && row.state == .active
      )
      return Segment(
        id: row.id,
        kind: row.kind,
        salt: row.salt,
        layout: row.layout,
        plainBytes: plainBytes,
        path: segmentPath,
        file: file,
        mapping: mapping,
        capacity: capacity,
        lease: lease,
        created: created
      )
    }
    segment.firstSequence.store(row.firstSequence, ordering: .relaxed)
    segment.lastSequence.store(row.lastSequence, ordering: .relaxed)
    let length = segment.accessible.load(ordering: .relaxed)
    segment.durableLength.store(min(length, Int(clamping: row.fileLength)), ordering: .relaxed)
    if row.state == .sealed {
      segment.become(row)
    }
    granules.install(segment)
    if let reason = try shortness(of: segment, row, durable: durable) {
      segment.isShort.store(true, ordering: .relaxed)
      damage.append(.damaged(segment.location(length), reason: reason))
    }
    // What may have to be synced again keeps its descriptor: the system reports what it could not write to that one.
    if row.state == .sealed, options.readOnly || row.lastSequence <= durable { file.rest() }
    return segment
  }

  /// What is wrong with a file that has fewer bytes than the manifest has seen on stable storage; nil if it has as many.
  ///
  /// - Parameter durable: of a sealed segment that goes on behind it, a crash may have taken the end.
  private func shortness(of segment: Segment, _ row: SegmentRow, durable: UInt64) throws(StoreError) -> String? {
    let size = try translating { () throws(PlatformError) in try segment.file.status().size }
    let isClaimed = row.state == .active || row.lastSequence <= durable
    guard isClaimed, size < Int(clamping: max(row.fileLength, row.state == .sealed ? row.recordsEnd : 0)) else {
      return nil
    }
    if row.state == .sealed, size < Int(clamping: row.recordsEnd) {
      return segment.cutShort(Int(clamping: row.recordsEnd))
    }
    // A writer that closes gives back what it has not used, after it has said so in the manifest.
    if options.readOnly, manifests.withLock({ try? $0.files.read() })?.newest?.segments.contains(row) == false {
      return nil
    }
    return "the segment is truncated: it should have \(row.fileLength) bytes"
  }

  /// The address range of a listed segment.
  ///
  /// A follower's addresses are its own, apart from those that its checkpoint names: it may still use a segment whose place
  /// the writer has given to another.
  private func takeGranules(of row: SegmentRow) -> AddressSpace.Lease? {
    let place = Int(row.granule)..<Int(row.granule) + Int(row.granules)
    if let lease = addresses.take(place) { return lease }
    return options.readOnly ? addresses.take(place.count) : nil
  }

  private func readHeader(_ file: any File, _ segmentPath: String) throws(StoreError) -> Result<
    SegmentHeader, FormatError
  > {
    let bytes = try translating { () throws(PlatformError) in try file.bytes(in: 0..<SegmentHeader.length) }
    do throws(FormatError) { return unsafe .success(try SegmentHeader(decoding: bytes.span.bytes)) } catch {
      return .failure(error)
    }
  }

  /// The footer of a segment that is sealed and durable, which may be replayed from it.
  func durableFooter(
    of segment: Segment,
    durable: UInt64,
    damage: inout [StoreEvent]
  ) -> (footer: SegmentFooter, bytes: [UInt8])? {
    guard segment.isSettled.load(ordering: .relaxed), segment.lastSequence.load(ordering: .relaxed) <= durable else {
      return nil
    }
    return readFooter(segment, damage: &damage)
  }

  /// Reads a sealed segment's footer; nil when there is none, it is damaged, or it is out of reach.
  ///
  /// - Parameter failure: called when it cannot be read now, which says nothing of what stands there.
  func readFooter(
    _ segment: Segment,
    damage: inout [StoreEvent],
    failure: (PlatformError) -> Void = { _ in }
  ) -> (footer: SegmentFooter, bytes: [UInt8])? {
    let summary = segment.footer.withLock { $0 }
    guard summary.offset > 0, summary.length > 0, summary.length <= 1 << 31 else { return nil }
    var bytes: [UInt8] = []
    do throws(PlatformError) { bytes = try segment.bytes(in: summary.offset..<summary.offset + summary.length) } catch {
      if error.isOutOfDescriptors { failure(error) }
      // A merge removed the file of a segment that somebody holds: what is left of it are its records.
      if error.isGone || error.isOutOfDescriptors { return nil }
    }
    do throws(FormatError) {
      let footer = unsafe try SegmentFooter(decoding: bytes.span.bytes)
      // A read-only store leaves the end of the last segment open, where the log may go on.
      let end = segment.recordsEnd.load(ordering: .relaxed)
      guard footer.segmentID == segment.id, footer.salt == segment.salt, end == 0 || footer.recordsEnd == UInt64(end),
        footer.recordsEnd <= UInt64(segment.granuleCount) * SegmentRow.granuleSize
      else { throw .damaged(reason: "it belongs to another segment", offset: 0) }
      return (footer, bytes)
    } catch {
      let error = StoreError(error, in: segment.path, base: summary.offset, what: "the segment's footer")
      if case .damaged(let location, let reason) = error {
        damage.append(.damaged(location, reason: "\(reason); the records are read instead"))
      }
      return nil
    }
  }
}
