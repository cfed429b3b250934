internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

// Segments without records. At any time each is on the list, as the tail or among the writer's spares, or it no longer
// exists; and no record goes to a segment that the manifest does not list.

extension Catalog {
  /// Creates a segment and lists it, so that it may take records. If that fails, nothing is left of it.
  func createListedSegment(for size: Int, firstSequence: UInt64) throws(StoreError) -> Segment {
    let segment = try createSegment(for: size, firstSequence: firstSequence)
    do throws(StoreError) { try commit(.listed) } catch {
      // Another thread's edit may have listed it.
      guard commits.failureCode == nil, !giveUpUnlisted([segment]).isEmpty else { throw error }
    }
    return segment
  }

  /// Creates segments of one page and lists them by one edit, so that each may take records when its turn comes.
  func createSpares(_ count: Int) throws(StoreError) -> [Segment] {
    var spares: [Segment] = []
    do throws(StoreError) {
      guard hasRoom(for: count * Self.sparePage) else { return [] }
      for _ in 0..<count { spares.append(try createSegment(usualSegmentSize, for: 0, firstSequence: 0, isSpare: true)) }
      do throws(PlatformError) { try env.platform.fileSystem.syncDirectory(env.path) } catch {
        commits.noteFailure(error)
        throw StoreError(error)
      }
      try commit(.spares)
    } catch {
      // Another thread's edit may have listed them.
      guard commits.failureCode == nil else { throw error }
      let kept = giveUpUnlisted(spares)
      guard !kept.isEmpty else { throw error }
      return kept
    }
    return spares
  }

  /// The length in bytes of a spare in a store with a capacity.
  static let sparePage = 4096

  /// Creates a segment file that is durable, header and name, but not listed yet.
  ///
  /// - Parameter isRecovery: Ignores the capacity: what a crash left must be saved first, so the store may exceed its
  ///   capacity until the next write.
  func createSegment(
    for size: Int,
    firstSequence: UInt64,
    isRecovery: Bool = false
  ) throws(StoreError) -> Segment {
    let capacity = segmentCapacity(for: size)
    if let limit = env.settings.capacity, !isRecovery, !hasRoom(forSegment: capacity) {
      throw .capacityReached(path: env.path, capacity: limit, needed: size)
    }
    return try createSegment(capacity, for: size, firstSequence: firstSequence)
  }

  /// The capacity in bytes of a new segment whose first record takes `size` bytes.
  func segmentCapacity(for size: Int) -> Int {
    max(largestTailSize, Self.wholePages(SegmentHeader.length + size + tailReserve))
  }

  /// Bytes kept free behind the last record of the tail: for the seal, and for a mark where records replace others.
  var tailReserve: Int { Segment.tailReserve + (env.reusesSpace ? Segment.markLength : 0) }

  private func createSegment(
    _ capacity: Int,
    for size: Int,
    firstSequence: UInt64,
    isSpare: Bool = false
  ) throws(StoreError) -> Segment {
    let needed = SegmentHeader.length + size + tailReserve
    guard let lease = takeAddresses(for: capacity) else {
      throw .noSpace(path: env.path, needed: needed)
    }
    let id = takeSegmentID()
    let segmentPath = "\(env.path)/\(FileName.segment(id))"
    do throws(PlatformError) {
      return try createSegmentFile(segmentPath, id, capacity, lease, needed, firstSequence, isSpare)
    } catch {
      commits.noteFailure(error)
      throw StoreError(error, needed: needed)
    }
  }

  private func createSegmentFile(
    _ segmentPath: String,
    _ id: UInt64,
    _ capacity: Int,
    _ lease: AddressSpace.Lease,
    _ needed: Int,
    _ firstSequence: UInt64,
    _ isSpare: Bool
  ) throws(PlatformError) -> Segment {
    let file = try env.platform.fileSystem.open(segmentPath, .create)
    do throws(PlatformError) {
      return try makeSegment(in: file, segmentPath, id, capacity, lease, needed, firstSequence, isSpare)
    } catch {
      file.close()
      // Best effort: a file that stays behind is not listed, and the next opening removes it.
      try? env.platform.fileSystem.remove(segmentPath)
      throw error
    }
  }

  private func makeSegment(
    in file: any File,
    _ segmentPath: String,
    _ id: UInt64,
    _ capacity: Int,
    _ lease: AddressSpace.Lease,
    _ needed: Int,
    _ firstSequence: UInt64,
    _ isSpare: Bool
  ) throws(PlatformError) -> Segment {
    let salt = UInt32(truncatingIfNeeded: env.platform.random())
    let first = isSpare ? Self.sparePage : max(needed, min(capacity, 64 << 10))
    try file.reserve(first)
    let header = SegmentHeader(
      storeID: env.storeID,
      seed: env.seed,
      segmentID: id,
      salt: salt,
      kind: .log,
      creationTime: env.time.now,
      plannedCapacity: UInt64(capacity)
    )
    let bytes = header.encoded()
    try file.writeAll(bytes, at: 0)
    try file.sync()
    // That of many spares is synced once.
    if !isSpare { try env.platform.fileSystem.syncDirectory(env.path) }
    let mapping = try file.map(capacity: capacity, writable: true)
    try mapping.extend(to: first)
    let segment = Segment(
      id: id,
      kind: .log,
      salt: salt,
      path: segmentPath,
      file: file,
      mapping: mapping,
      pages: env.pages,
      capacity: capacity,
      lease: lease,
      created: header.creationTime
    )
    segment.change { $0.begin(with: firstSequence) }
    segment.durableLength.store(first, ordering: .relaxed)
    env.countWritten(bytes.count)
    granules.install(segment)
    add(segment)
    return segment
  }

  /// Takes unused segments off the list, and removes them.
  ///
  /// - Returns: The segments that must stay because it is unknown whether the manifest lists them, with the reason.
  func giveUp(_ unused: [Segment]) -> (kept: [Segment], failure: StoreError)? {
    note(unlistedFiles: unused.map(\.path))
    defer { forget(unlistedFiles: unused.map(\.path)) }
    remove(unused)
    do throws(StoreError) { try commit(.listed) } catch {
      putBack(unused)
      // Another thread's edit may have taken them off.
      return (giveUpUnlisted(unused), error)
    }
    for segment in unused { discard(segment) }
    return nil
  }

  /// Removes the segments that the manifest does not list; returns the others, which stay on the list.
  func giveUpUnlisted(_ unused: [Segment]) -> [Segment] {
    // After a failed sync it is unknown what the manifest lists.
    guard commits.failureCode == nil else { return unused }
    let unlisted = removeUnlisted(unused)
    for segment in unlisted { discard(segment) }
    return unused.filter { segment in !unlisted.contains { $0 === segment } }
  }
}
