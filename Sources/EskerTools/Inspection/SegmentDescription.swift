internal import EskerFormat
public import EskerLog
internal import EskerPlatform

/// What a store's files say about a segment, without reading its records.
public struct SegmentDescription: Sendable, Hashable {
  /// Which records a segment contains.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A part of the log, without gaps.
    case log
    /// Records that a merge kept.
    case merged
    /// Records that a merge kept, compressed.
    case packed
  }

  /// The segment's id.
  public var id: UInt64
  /// The file's path.
  public var path: String
  /// Which records the segment contains; nil if neither the manifest nor the header can tell.
  public var kind: Kind?
  /// False for a file that the manifest does not list: a merge left it, or it was never part of the store. True for all
  /// files if no manifest can be read.
  public var isListed = true
  /// True once the segment takes no more records.
  public var isSealed = false
  /// When the segment was created; nil if its header is damaged.
  public var created: WallTime?
  /// The size of the file in bytes; nil if it is missing.
  public var fileBytes: Int?
  /// Bytes of records, including the dictionary; nil while the segment is being written, when only reading it can tell.
  public var recordBytes: Int?
  /// Bytes that the records of a packed segment would take unpacked; nil for other segments.
  public var unpackedBytes: Int?
  /// The size in bytes of a packed segment's dictionary; 0 for none.
  public var dictionaryBytes = 0
  /// The size of the footer in bytes; 0 for none.
  public var footerBytes = 0
  /// The first and last sequence numbers; nil while the segment is being written.
  public var sequences: ClosedRange<UInt64>?
  /// When the first and the last expiring value expire; nil if none does, or while the segment is being written.
  public var expiries: ClosedRange<WallTime>?
  /// What is wrong with the file, as far as its header and the end of its footer tell.
  public var damage: [String] = []
  /// Whether the file is shorter than the manifest has recorded as durable.
  var isShort = false
  /// Whether the segment has a footer, which saves reading all of its records.
  public var hasFooter: Bool { footerBytes > 0 }
  /// Unused bytes of the file; nil if unknown. 0 if the file is shorter than it should be.
  public var freeBytes: Int? {
    guard let fileBytes, let recordBytes else { return nil }
    let seal = kind == .log && isSealed ? RecordLayout.headerLength : 0
    // A manifest may contain any lengths, so their sum might overflow.
    return max(0, fileBytes - SegmentHeader.length - min(recordBytes, fileBytes) - seal - min(footerBytes, fileBytes))
  }
}

extension SegmentDescription {
  init(_ id: UInt64, _ path: String, _ row: SegmentRow?, isListed: Bool, in manifest: Manifest?) {
    self.id = id
    self.path = path
    self.isListed = isListed
    guard let row, let manifest else { return }
    kind = Kind(row.kind)
    isSealed = row.state == .sealed
    dictionaryBytes = row.dictionaryLength
    if let end = row.trustedEnd(in: manifest), end >= SegmentHeader.length {
      recordBytes = end - SegmentHeader.length
      if row.firstSequence != 0, row.firstSequence <= row.lastSequence {
        sequences = row.firstSequence...row.lastSequence
      }
    }
    if isSealed { takeFooter(row.footerLength, row.minExpiry, row.maxExpiry) }
  }

  private mutating func takeFooter(_ length: UInt64, _ minExpiry: Int64, _ maxExpiry: Int64) {
    footerBytes = Int(clamping: length)
    if minExpiry <= maxExpiry {
      expiries = WallTime(millisecondsSince1970: minExpiry)...WallTime(millisecondsSince1970: maxExpiry)
    }
  }

  /// Adds what the file itself contains; false if there is no file.
  mutating func readFile(_ row: SegmentRow?, storeID: StoreID?, _ fileSystem: any FileSystem) -> Bool {
    do throws(PlatformError) {
      guard let size = try fileSystem.status(path)?.size else {
        damage.append("the file is missing")
        return false
      }
      fileBytes = size
      let file = try fileSystem.open(path, .read)
      defer { file.close() }
      try readHeader(file, storeID)
      try readTrailer(file, size, row)
      isShort = size < max(Int(clamping: row?.fileLength ?? 0), recordBytes.map { $0 + SegmentHeader.length } ?? 0)
      if isShort { damage.append("the file is truncated") }
    } catch {
      if error.code == PlatformError.notFound {
        damage.append("the file is missing")
        return false
      }
      damage.append("the file cannot be read: \(errorMessage(error.code))")
    }
    return true
  }

  private mutating func readHeader(_ file: any File, _ storeID: StoreID?) throws(PlatformError) {
    let bytes = try ContiguousArray(file.bytes(in: 0..<SegmentHeader.length))
    // Safety: the array outlives the decoding, which checks its length.
    do throws(FormatError) {
      let header = unsafe try SegmentHeader(decoding: bytes.span.bytes)
      created = WallTime(millisecondsSince1970: header.creationTime)
      if kind == nil {
        kind = Kind(header.kind)
        dictionaryBytes = Int(header.dictionaryLength)
      }
      if header.kind == .packed { unpackedBytes = Int(clamping: header.plainBytes) }
      if header.segmentID != id || storeID.map({ $0 != header.storeID }) ?? false {
        damage.append("the file belongs to another segment")
      }
    } catch {
      guard case .newerVersion(let version) = error else { return damage.append("the header is damaged") }
      damage.append("the file has version \(version), which is unknown")
    }
  }

  private mutating func readTrailer(_ file: any File, _ size: Int, _ row: SegmentRow?) throws(PlatformError) {
    let end: Int
    if let row, row.state == .sealed {
      guard row.footerOffset != 0 else { return }
      end = Int(row.footerOffset + row.footerLength)
    } else if row == nil {
      end = size
    } else {
      return
    }
    let start = end - SegmentFooter.trailerLength
    guard start >= SegmentHeader.length else { return }
    let bytes = try ContiguousArray(file.bytes(in: start..<end))
    // Safety: the array outlives the decoding, which checks its length.
    let footer = unsafe try? SegmentFooter(decodingTrailer: bytes.span.bytes)
    guard let footer, footer.segmentID == id else {
      if row != nil { damage.append("the footer is damaged") }
      return
    }
    guard row == nil else { return }
    isSealed = true
    recordBytes = Int(clamping: footer.recordsEnd) - SegmentHeader.length
    if footer.firstSequence != 0, footer.firstSequence <= footer.lastSequence {
      sequences = footer.firstSequence...footer.lastSequence
    }
    takeFooter(UInt64(footer.length), footer.minExpiry, footer.maxExpiry)
  }
}

extension SegmentDescription.Kind {
  init(_ kind: SegmentKind) {
    switch kind {
    case .log: self = .log
    case .merged: self = .merged
    case .packed: self = .packed
    }
  }
}
