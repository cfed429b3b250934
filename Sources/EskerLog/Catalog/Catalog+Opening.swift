internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Manifest {
  /// The segment that makes room next.
  var nextEviction: SegmentRow? {
    segments.filter { $0.evictionPlace > 0 }.min { $0.evictionPlace < $1.evictionPlace }
  }

  /// The same without the segments that have made room in a directory since this was written.
  func withoutEvicted(in directory: String, _ fileSystem: any FileSystem) throws(StoreError) -> Manifest {
    try translating { () throws(PlatformError) in
      try withoutEvicted { (id) throws(PlatformError) in
        try fileSystem.status("\(directory)/\(FileName.segment(id))") != nil
      }
    }
  }
}

extension Catalog {
  /// Opens and maps a listed segment, and makes its addresses resolvable.
  ///
  /// The manifest contains everything needed about a segment, so a damaged header is only reported; an intact header of
  /// another segment is an error.
  ///
  /// - Parameter manifest: What lists it. Records behind its durable number may be missing after a crash.
  func openSegment(_ row: SegmentRow, of manifest: Manifest, damage: inout [StoreEvent]) throws(StoreError) -> Segment {
    let segmentPath = "\(env.path)/\(FileName.segment(row.id))"
    let isWritable = !env.options.readOnly
    let file: any File
    do throws(PlatformError) {
      file = try env.platform.fileSystem.open(segmentPath, isWritable ? .readWrite : .read)
    } catch {
      guard error.code == PlatformError.notFound else { throw StoreError(error) }
      // It was there a moment ago, when the writer had not yet needed its room.
      if row.evictionPlace > 0 { throw .overtaken(at: env.path) }
      throw .damaged(
        StoreError.Location(path: segmentPath, segment: row.id),
        reason: "the segment is missing; put the file back, \(StoreError.remedy)"
      )
    }
    var capacity = Int(row.granules) << (GranuleTable.granuleShift + 3)
    var created: Int64 = 0
    var plainBytes = 0
    let header = try readHeader(file)
    switch header {
    case .success(let header):
      guard header.storeID == env.storeID, header.segmentID == row.id, header.salt == row.salt else {
        throw .damaged(
          StoreError.Location(path: segmentPath, segment: row.id, offset: 0),
          reason: "this is not the segment that the manifest lists: the file was replaced; put the right one back"
        )
      }
      capacity = min(capacity, Int(clamping: header.plannedCapacity))
      created = header.creationTime
      plainBytes = Int(clamping: header.plainBytes)
    case .failure(let error):
      if case .newerVersion(let version) = error { throw .unknownFormat(path: segmentPath, version: version) }
      let location = StoreError.Location(path: segmentPath, segment: row.id, offset: 0)
      damage.append(.damaged(location, reason: "the segment's header is damaged; its records are still read"))
    }
    // It grows no more: what the tail may become needs no addresses any longer.
    if row.state == .sealed { capacity = min(capacity, Int(clamping: max(row.fileLength, row.recordsEnd))) }
    guard let lease = takeGranules(of: row) else {
      throw .damaged(
        StoreError.Location(path: env.path),
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
        pages: env.pages,
        capacity: capacity,
        lease: lease,
        created: created
      )
    }
    segment.change { facts in
      facts.begin(with: row.firstSequence)
      if row.state == .sealed { facts.settle(as: row) } else { facts.expect(last: row.lastSequence) }
    }
    let length = segment.accessible.load(ordering: .relaxed)
    segment.durableLength.store(min(length, Int(clamping: row.fileLength)), ordering: .relaxed)
    if let reason = try shortness(of: segment, row, manifest) {
      segment.isShort.store(true, ordering: .relaxed)
      damage.append(.damaged(segment.location(length), reason: reason))
    }
    // Last, as who throws has nothing to uninstall.
    granules.install(segment)
    // A segment that may have to be synced again keeps its descriptor, because the system reports write errors there.
    if row.state == .sealed, env.options.readOnly || row.lastSequence <= manifest.durableSequence { file.rest() }
    return segment
  }

  /// What is wrong with a file that is shorter than the manifest has recorded as durable; nil if it is not. A crash may have taken the
  /// end of a sealed segment that extends beyond that.
  private func shortness(of segment: Segment, _ row: SegmentRow, _ manifest: Manifest) throws(StoreError) -> String? {
    let size = try translating { () throws(PlatformError) in try segment.file.status().size }
    let isClaimed = row.state == .active || row.lastSequence <= manifest.durableSequence
    let end = row.trustedEnd(in: manifest) ?? 0
    guard isClaimed, size < max(Int(clamping: row.fileLength), end) else { return nil }
    if size < end { return segment.cutShort(end) }
    // A writer that closes truncates the file to what it has used, after it has recorded that in the manifest.
    if env.isFollowing, (try? readCopies())?.newest?.segments.contains(row) == false {
      return nil
    }
    return "the segment is truncated: it should have \(row.fileLength) bytes"
  }

  /// The address range of a listed segment.
  ///
  /// Except for the addresses that its checkpoint contains, a follower assigns its own: it may still use a segment whose
  /// place the writer has given to another.
  private func takeGranules(of row: SegmentRow) -> AddressSpace.Lease? {
    let place = Int(row.granule)..<Int(row.granule) + Int(row.granules)
    if let lease = takeAddresses(at: place) { return lease }
    return env.isFollowing ? takeAddresses(for: place.count << (GranuleTable.granuleShift + 3)) : nil
  }

  private func readHeader(_ file: any File) throws(StoreError) -> Result<SegmentHeader, FormatError> {
    let bytes = try translating { () throws(PlatformError) in
      try ContiguousArray(file.bytes(in: 0..<SegmentHeader.length))
    }
    // Safety: the array outlives the decoding, which checks its length.
    do throws(FormatError) { return unsafe .success(try SegmentHeader(decoding: bytes.span.bytes)) } catch {
      return .failure(error)
    }
  }
}
