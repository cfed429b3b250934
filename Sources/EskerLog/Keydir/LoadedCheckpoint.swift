internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// The index checkpoint that the manifest names, mapped and ready to be adopted.
///
/// Pages are verified when first touched, so that opening takes the same time for any number of keys. A small checkpoint is
/// verified as a whole, so that damage to it only costs a rebuild.
struct LoadedCheckpoint {
  let header: CheckpointHeader
  let meta: CheckpointMeta
  let path: String
  private let owner: Owner
  /// The keys of keyspaces in order.
  private let orders: [CheckpointOrder]

  /// Owns the image's memory.
  ///
  /// Safety: it owns mapping and table from `init` to `deinit`. The table is not changed after `init`; the mapping is private to
  /// this process, and only the index that adopts it stores there.
  @safe
  private final class Owner: @unchecked Sendable {
    let mapping: any Mapping
    let table: UnsafeMutableRawBufferPointer

    init(_ mapping: any Mapping, table: ContiguousArray<UInt8>) {
      self.mapping = mapping
      unsafe self.table = .allocate(byteCount: table.count, alignment: 8)
      unsafe self.table.copyBytes(from: table)
    }

    deinit {
      mapping.unmap()
      unsafe table.deallocate()
    }
  }

  /// Checkpoints up to this size, in bytes, are verified when loaded, which takes a millisecond or two.
  private static let eagerLimit: UInt64 = 8 << 20

  /// The keys of a keyspace in order, if they are there. At most once: whoever gets them may change them.
  func order(of tag: KeyspaceTag) -> KeyOrder? {
    orders.first { $0.row.tag == tag }.map { KeyOrder($0.image, from: $0, of: header.checkpointID) }
  }

  /// The bytes of the index alone.
  var indexByteCount: Int { Int(header.layout.mainLength + header.layout.overflowLength) }

  var byteCount: Int { Int(header.layout.fileLength(metaLength: header.metaLength)) }

  var liveBySegment: [UInt64: CheckpointMeta.Segment] {
    Dictionary(meta.segments.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Loads the checkpoint that the manifest names; no value if there is none or it cannot be used: a checkpoint only saves time.
  ///
  /// - Throws: if the system refuses the file: a device that is locked must not make a store read everything, or drop its checkpoint.
  static func load(
    _ manifest: Manifest,
    directory: String,
    host: StoreHost,
    verifyingAll: Bool = false
  ) throws(PlatformError) -> (value: LoadedCheckpoint?, damage: StoreEvent?) {
    guard manifest.checkpointID != 0 else { return (nil, nil) }
    let path = "\(directory)/\(FileName.checkpoint(manifest.checkpointID))"
    do throws(CheckpointProblem) {
      let file: any File
      do throws(PlatformError) { file = try host.platform.fileSystem.open(path, .read) } catch {
        // Users may delete it.
        if error.code == PlatformError.notFound { return (nil, nil) }
        throw .platform(error)
      }
      defer { file.close() }
      return (try LoadedCheckpoint(file, path, manifest, verifyingAll), nil)
    } catch {
      // Nothing is wrong with it.
      if case .outdated = error { return (nil, nil) }
      if case .platform(let refusal) = error, refusal.isDenied { throw refusal }
      return (
        nil, .damaged(StoreError.Location(path: path), reason: "\(error.reason); the index is built from the segments")
      )
    }
  }

  private enum CheckpointProblem: Error {
    case platform(PlatformError)
    case format(FormatError)
    case mismatch(String)
    /// It is of an earlier version.
    case outdated

    var reason: String {
      switch self {
      case .platform(let error): "the checkpoint cannot be read: \(errorMessage(error.code))"
      case .format(.damaged(let reason, let offset)): "the checkpoint is damaged at offset \(offset): \(reason)"
      case .format(.notThisKind): "this is not a checkpoint"
      case .format(.newerVersion(let version)): "the checkpoint has version \(version), which is unknown"
      case .format(.unknownFeatures): "the checkpoint needs unknown features"
      case .mismatch(let reason): reason
      case .outdated: "the checkpoint is of an earlier version"
      }
    }
  }

  private init(_ file: any File, _ path: String, _ manifest: Manifest, _ verifiesAll: Bool) throws(CheckpointProblem) {
    // Safety: the spans are used only during the calls, and the arrays are kept.
    self.path = path
    let size: Int
    do throws(PlatformError) { size = try file.status().size } catch { throw .platform(error) }
    let headerBytes = try Self.read(file, 0..<min(size, CheckpointHeader.pageSize))
    do throws(FormatError) {
      header = unsafe try CheckpointHeader(decoding: headerBytes.span.bytes, fileLength: UInt64(size))
    } catch { throw .format(error) }
    guard header.storeID == manifest.storeID, header.checkpointID == manifest.checkpointID else {
      throw .mismatch("the checkpoint is not the one that the manifest names")
    }
    guard header.hasByteCounts else { throw .outdated }
    let metaStart = Int(header.layout.metaOffset)
    let metaBytes = try Self.read(file, metaStart..<metaStart + Int(header.metaLength))
    let tableStart = Int(header.layout.pageTableOffset)
    let table = try Self.read(file, tableStart..<tableStart + header.layout.pageTableLength)
    do throws(FormatError) {
      meta = unsafe try CheckpointMeta(
        decoding: metaBytes.span.bytes,
        checksum: header.metaChecksum,
        hasOrders: header.hasOrders
      )
      unsafe try CheckpointPages.verify(table.span.bytes, header)
    } catch { throw .format(error) }
    let rows = Dictionary(manifest.segments.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    // A segment without live records may have been removed since, as empty ones are after a crash.
    for segment in meta.segments where segment.liveRecords > 0 {
      guard let row = rows[segment.id], row.salt == segment.salt, row.granule == segment.granule else {
        throw .mismatch("the checkpoint refers to a segment that the manifest does not list")
      }
    }
    try Self.checkCounts(meta, rows, header)
    let layout = header.layout
    guard layout.overflowOffset == layout.mainOffset + layout.mainLength else {
      throw .mismatch("the checkpoint's sections are not where they should be")
    }
    let mapping: any Mapping
    do throws(PlatformError) {
      mapping = try file.mapPrivate(Int(layout.mainOffset)..<Int(layout.overflowOffset + layout.overflowLength))
    } catch { throw .platform(error) }
    owner = Owner(mapping, table: table)
    var orders: [CheckpointOrder] = []
    for row in meta.orders {
      guard row.isWithin(UInt64(size)) else { throw .mismatch("the keys in order are not where they should be") }
      do throws(PlatformError) { orders.append(try CheckpointOrder(row, of: file, path)) } catch {
        throw .platform(error)
      }
    }
    self.orders = orders
    if verifiesAll { for order in orders { try Self.verify(order) } }
    if verifiesAll || layout.mainLength + layout.overflowLength <= Self.eagerLimit { try verifyPages(table) }
  }

  /// Throws if the checkpoint counts more live bytes or entries than there is room for: sums of such numbers could overflow.
  private static func checkCounts(
    _ meta: CheckpointMeta,
    _ rows: [UInt64: SegmentRow],
    _ header: CheckpointHeader
  ) throws(CheckpointProblem) {
    for segment in meta.segments {
      let room = UInt64(rows[segment.id]?.granules ?? 0) * SegmentRow.granuleSize
      guard segment.liveBytes == 0 || segment.liveBytes <= room, segment.liveRecords <= header.entryCount else {
        throw .mismatch("the checkpoint counts more live bytes or records in segment \(segment.id) than fit")
      }
    }
    var entries: UInt64 = 0
    for keyspace in meta.keyspaces {
      let (sum, overflow) = entries.addingReportingOverflow(keyspace.count)
      guard !overflow, sum <= header.entryCount else {
        throw .mismatch("the checkpoint's keyspaces count more entries than it has")
      }
      entries = sum
      guard keyspace.byteCount < 1 << 60 else { throw .mismatch("the checkpoint counts more bytes than there can be") }
    }
  }

  private static func read(_ file: any File, _ range: Range<Int>) throws(CheckpointProblem) -> ContiguousArray<UInt8> {
    do throws(PlatformError) { return try ContiguousArray(file.bytes(in: range)) } catch { throw .platform(error) }
  }

  private static func verify(_ order: CheckpointOrder) throws(CheckpointProblem) {
    // Safety: nothing is kept of the keys.
    var tree = KeyTree(order.image)
    var count = 0
    do throws(KeyImage.Damage) {
      try unsafe tree.forEach(from: nil) { _, _ in
        count += 1
        return true
      }
    } catch {
      let offset = Int(order.row.offset) + error.offset
      throw .format(.damaged(reason: "a page of keys in order is not as it was written", offset: offset))
    }
    guard count == order.row.keyCount else {
      throw .mismatch("the checkpoint has \(count) keys in order and not \(order.row.keyCount)")
    }
  }

  private func verifyPages(_ table: ContiguousArray<UInt8>) throws(CheckpointProblem) {
    for page in 0..<header.layout.mainPages + header.layout.overflowPages {
      // Safety: the table has four bytes for each page, as `init` has checked, and the mapping covers all pages.
      let expected = unsafe table.withUnsafeBytes {
        unsafe UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: page * 4, as: UInt32.self))
      }
      let start = unsafe owner.mapping.base + page * CheckpointHeader.pageSize
      guard unsafe CheckpointPages.checksum(ofPageAt: start) == expected else {
        let offset = Int(header.layout.mainOffset) + page * CheckpointHeader.pageSize
        throw .format(.damaged(reason: "a page's checksum does not match", offset: offset))
      }
    }
  }

  /// Says whether a look-up that finds a page missing is to read what is around it. The index is adopted with it.
  func setReadAhead(_ isWanted: Bool) { owner.mapping.setReadAhead(isWanted) }

  /// An index in the checkpoint's pages; nil if its numbers are inconsistent.
  func makeIndex(epochs: EpochDomain) -> HashIndex? {
    let layout = header.layout
    // Safety: the mapping covers both sections, the second right behind the first, as `init` has checked; `owner` keeps them and
    // the table.
    let main = unsafe UnsafeMutableRawBufferPointer(start: owner.mapping.base, count: Int(layout.mainLength))
    let overflow = unsafe UnsafeMutableRawBufferPointer(
      start: owner.mapping.base + Int(layout.mainLength),
      count: Int(layout.overflowLength)
    )
    return unsafe HashIndex(
      epochs: epochs,
      image: IndexImage(
        bucketCount: Int(header.bucketCount),
        overflowLineCount: Int(header.overflowCount),
        entryCount: Int(header.entryCount),
        main: main,
        overflow: overflow,
        pageChecksums: UnsafeRawBufferPointer(owner.table),
        owner: owner
      )
    )
  }
}
