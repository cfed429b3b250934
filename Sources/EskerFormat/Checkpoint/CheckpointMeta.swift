/// The engine's state at a checkpoint besides the index: live bytes and counts, and where keys are in order.
public struct CheckpointMeta: Hashable, Sendable {
  /// The live data of one segment.
  public struct Segment: Hashable, Sendable {
    static let length = 32

    /// The segment's identifier.
    public var id: UInt64
    /// The segment's salt: if it no longer matches, the addresses in the segment are invalid.
    public var salt: UInt32
    /// The first granule of its address range.
    public var granule: UInt32
    /// The total length in bytes of its live records.
    public var liveBytes: UInt64
    /// The number of its live records.
    public var liveRecords: UInt64

    /// A row with the given fields.
    public init(id: UInt64, salt: UInt32, granule: UInt32, liveBytes: UInt64, liveRecords: UInt64) {
      self.id = id
      self.salt = salt
      self.granule = granule
      self.liveBytes = liveBytes
      self.liveRecords = liveRecords
    }
  }

  /// The live data of one keyspace.
  public struct Keyspace: Hashable, Sendable {
    static let length = 40

    /// The keyspace and its incarnation.
    public var tag: KeyspaceTag
    /// The number of its entries.
    public var count: UInt64
    /// Bytes of their records, as long as they are not packed.
    public var byteCount: UInt64
    /// The store time at which the first of them expires, if not later; `Int64.max` if none ever does.
    public var earliestExpiry: Int64
    /// The hashes of all its keys, and perhaps of others that it had; nil if it has too many.
    public var hashes: [UInt64]?

    /// A row with the given fields.
    public init(tag: KeyspaceTag, count: UInt64, byteCount: UInt64, earliestExpiry: Int64, hashes: [UInt64]?) {
      self.tag = tag
      self.count = count
      self.byteCount = byteCount
      self.earliestExpiry = earliestExpiry
      self.hashes = hashes
    }
  }

  /// The keys of a keyspace in order: where their pages are in the file.
  public struct Order: Hashable, Sendable {
    static let length = 40

    /// The keyspace and its incarnation.
    public var tag: KeyspaceTag
    /// Where the first page is.
    public var offset: UInt64
    /// The bytes of all pages.
    public var byteCount: UInt64
    /// Where the topmost page is, from the first one.
    public var root: UInt64
    /// The number of keys.
    public var keyCount: UInt64

    /// A row with the given fields.
    public init(tag: KeyspaceTag, offset: UInt64, byteCount: UInt64, root: UInt64, keyCount: UInt64) {
      self.tag = tag
      self.offset = offset
      self.byteCount = byteCount
      self.root = root
      self.keyCount = keyCount
    }

    /// Whether its pages are within a file.
    public func isWithin(_ fileLength: UInt64) -> Bool {
      let page = UInt64(CheckpointHeader.pageSize)
      guard offset % page == 0, byteCount % page == 0, root % page == 0, offset >= page, root < byteCount else {
        return false
      }
      // No key takes less than its slot.
      return offset <= fileLength && byteCount <= fileLength - offset && keyCount <= byteCount / 8
    }
  }

  /// A row for each segment.
  public var segments: [Segment]
  /// A row for each keyspace.
  public var keyspaces: [Keyspace]
  /// A row for each keyspace whose keys are there in order. Only a file whose header says so has them.
  public var orders: [Order]

  /// A meta section with the given rows.
  public init(segments: [Segment], keyspaces: [Keyspace], orders: [Order] = []) {
    self.segments = segments
    self.keyspaces = keyspaces
    self.orders = orders
  }

  /// The section's bytes.
  public func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 + segments.count * Segment.length + keyspaces.count * Keyspace.length)
    bytes.append(UInt32(segments.count))
    bytes.append(UInt32(keyspaces.count))
    for row in segments {
      bytes.append(row.id)
      bytes.append(row.salt)
      bytes.append(row.granule)
      bytes.append(row.liveBytes)
      bytes.append(row.liveRecords)
    }
    for row in keyspaces {
      bytes.append(row.tag.rawValue)
      bytes.append(row.count)
      bytes.append(row.byteCount)
      bytes.append(UInt64(bitPattern: row.earliestExpiry))
      bytes.append(row.hashes.map { UInt64($0.count) } ?? .max)
    }
    for row in keyspaces {
      for hash in row.hashes ?? [] { bytes.append(hash) }
    }
    if orders.isEmpty { return bytes }
    bytes.append(UInt64(orders.count))
    for row in orders {
      bytes.append(row.tag.rawValue)
      bytes.append(row.offset)
      bytes.append(row.byteCount)
      bytes.append(row.root)
      bytes.append(row.keyCount)
    }
    return bytes
  }

  /// Decodes the whole section and nothing else.
  ///
  /// - Parameters:
  ///   - checksum: The checksum from the header.
  ///   - hasOrders: What the header says.
  public init(decoding bytes: RawSpan, checksum: UInt32, hasOrders: Bool = false) throws(FormatError) {
    guard CRC32C.checksum(of: bytes) == checksum else {
      throw .damaged(reason: "the meta section's checksum does not match", offset: 0)
    }
    guard bytes.byteCount >= 8 else { throw .damaged(reason: "the meta section is truncated", offset: bytes.byteCount) }
    let segmentCount = Int(bytes.u32(at: 0))
    let keyspaceCount = Int(bytes.u32(at: 4))
    let keyspaceStart = 8 + segmentCount * Segment.length
    var end = keyspaceStart + keyspaceCount * Keyspace.length
    guard bytes.byteCount >= end else {
      throw .damaged(reason: "the meta section's counts do not match its length", offset: 0)
    }
    segments = (0..<segmentCount).map { index in
      let offset = 8 + index * Segment.length
      return Segment(
        id: bytes.u64(at: offset),
        salt: bytes.u32(at: offset + 8),
        granule: bytes.u32(at: offset + 12),
        liveBytes: bytes.u64(at: offset + 16),
        liveRecords: bytes.u64(at: offset + 24)
      )
    }
    keyspaces = []
    keyspaces.reserveCapacity(keyspaceCount)
    for index in 0..<keyspaceCount {
      let offset = keyspaceStart + index * Keyspace.length
      var row = Keyspace(
        tag: KeyspaceTag(rawValue: bytes.u64(at: offset)),
        count: bytes.u64(at: offset + 8),
        byteCount: bytes.u64(at: offset + 16),
        earliestExpiry: Int64(bitPattern: bytes.u64(at: offset + 24)),
        hashes: nil
      )
      let count = bytes.u64(at: offset + 32)
      if count != .max {
        guard count <= UInt64((bytes.byteCount - end) / 8) else {
          throw .damaged(reason: "the meta section has fewer hashes than it declares", offset: offset + 32)
        }
        row.hashes = (0..<Int(count)).map { bytes.u64(at: end + 8 * $0) }
        end += 8 * Int(count)
      }
      keyspaces.append(row)
    }
    orders = []
    if hasOrders {
      guard bytes.byteCount - end >= 8, bytes.u64(at: end) <= UInt64((bytes.byteCount - end - 8) / Order.length) else {
        throw .damaged(reason: "the meta section has fewer orders than it declares", offset: end)
      }
      let count = Int(bytes.u64(at: end))
      end += 8
      for _ in 0..<count {
        orders.append(
          Order(
            tag: KeyspaceTag(rawValue: bytes.u64(at: end)),
            offset: bytes.u64(at: end + 8),
            byteCount: bytes.u64(at: end + 16),
            root: bytes.u64(at: end + 24),
            keyCount: bytes.u64(at: end + 32)
          )
        )
        end += Order.length
      }
    }
    guard end == bytes.byteCount else {
      throw .damaged(reason: "the meta section's counts do not match its length", offset: 0)
    }
  }
}
