internal import EskerFormat
internal import EskerLog
internal import EskerPlatform

/// A segment file outside an open store, for reading: of a damaged store, or of one being inspected.
///
/// Safety: threads may share it, since nothing in it changes after `init`. It keeps the mapping, which is aligned to a
/// page; no read goes beyond the mapping's length, and offsets are multiples of eight. If the file is cut short
/// meanwhile, zeros take the place of the bytes that are gone. Arrays outlive the decoding that they are lent to, which
/// checks their lengths.
@safe
final class SegmentFile: @unchecked Sendable {
  let id: UInt64
  let path: String
  let storeID: StoreID?
  let seed: HashSeed?
  /// Whether it is a part of the log, without gaps and with complete batches.
  let isLog: Bool
  /// What is wrong with the header, if anything.
  let headerDamage: String?
  /// Where the records end according to the manifest or the footer; nil if neither can tell.
  let declaredEnd: Int?
  /// The summary in the footer at the end of the file.
  private let trailer: SegmentFooter?
  /// How many bytes the file lacks that the manifest has recorded as durable.
  let lackingBytes: Int
  let layout: SegmentLayout
  /// The lowest to the highest number of its records; nil if neither the manifest nor the footer can tell.
  let numbers: ClosedRange<UInt64>?
  let salt: UInt32
  /// The highest number of a record in it that may have replaced another.
  let lastReuse: UInt64
  private let file: any File
  private let mapping: any Mapping

  /// Opens the file; nil if no record in it can be recognised.
  init?(_ id: UInt64, at path: String, row: SegmentRow?, end: Int?, _ fileSystem: any FileSystem) throws(PlatformError)
  {
    self.id = id
    self.path = path
    file = try fileSystem.open(path, .read)
    mapping = try file.mapWhole()
    let size = mapping.length
    lackingBytes = max(0, Int(clamping: row?.fileLength ?? 0) - size)
    let bytes = try ContiguousArray(file.bytes(in: 0..<SegmentHeader.length))
    let header = unsafe try? SegmentHeader(decoding: bytes.span.bytes)
    storeID = header?.storeID
    seed = header?.seed
    isLog = (row?.kind ?? header?.kind ?? .log) == .log
    layout = row?.layout ?? header?.layout ?? .plain
    headerDamage = header == nil ? "the segment's header is damaged" : nil
    // What damage has left of the words says nothing.
    lastReuse = header == nil ? .max : try Self.lastReuse(file)
    trailer = try Self.trailer(of: id, file, size)
    numbers = row?.numbers ?? trailer?.numbers
    // A complete log segment ends with its seal.
    declaredEnd = end ?? (isLog ? nil : trailer.map { Int(clamping: $0.recordsEnd) })
    guard
      let salt = unsafe row?.salt ?? header?.salt ?? trailer?.salt
        ?? SaltSearch.salt(at: mapping.base, length: mapping.length)
    else {
      mapping.unmap()
      file.close()
      return nil
    }
    self.salt = salt
    file.rest()
  }

  /// The number in the header that is not below that of any record which has replaced another.
  private static func lastReuse(_ file: any File) throws(PlatformError) -> UInt64 {
    let start = ReuseWords.Word.last.offset
    let bytes = try file.bytes(in: start..<start + 8)
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The summary in the footer at the end of a file; nil if there is none.
  private static func trailer(of id: UInt64, _ file: any File, _ size: Int) throws(PlatformError) -> SegmentFooter? {
    guard size >= SegmentHeader.length + SegmentFooter.trailerLength else { return nil }
    let bytes = try ContiguousArray(file.bytes(in: size - SegmentFooter.trailerLength..<size))
    guard let footer = unsafe try? SegmentFooter(decodingTrailer: bytes.span.bytes), footer.segmentID == id else {
      return nil
    }
    return footer
  }

  deinit {
    mapping.unmap()
    file.close()
  }

  /// The end of the records, or of the file if that is shorter.
  var end: Int { min(declaredEnd ?? .max, mapping.length) }

  /// Reads the header at `offset`. Records are at multiples of eight bytes.
  func readRecord(at offset: Int) -> RecordRead {
    guard offset >= 0, offset < end, offset & 7 == 0 else { return .end }
    return unsafe RecordHeader.read(
      at: UnsafeRawPointer(mapping.base + offset),
      limit: end - offset,
      salt: salt,
      offsetUnits: UInt32(truncatingIfNeeded: offset >> 3)
    )
  }

  /// The record at `offset`; nil if its length is impossible. Nothing else is checked.
  func record(at offset: Int) -> FileRecord? {
    guard offset >= 0, offset < end, offset & 7 == 0 else { return nil }
    if let view = packedView { return view.entry(at: offset).map { .packed($0, view) } }
    let record = unsafe RecordView(at: UnsafeRawPointer(mapping.base + offset), limit: end - offset)
    return record.map { .plain($0, salt: salt, offsetUnits: UInt32(truncatingIfNeeded: offset >> 3)) }
  }

  /// The header of the record at `offset`; nil if there is none. That of a packed record is made of its entry, with the hash that the
  /// store's seed gives.
  func header(at offset: Int, _ seed: HashSeed?) -> RecordHeader? {
    guard let view = packedView else {
      guard case .record(let header) = readRecord(at: offset) else { return nil }
      return header
    }
    guard let seed = self.seed ?? seed, let entry = view.entry(at: offset) else { return nil }
    return RecordHeader(entry, seed)
  }

  /// Removes the file from this process's page table, whose size counts as the process's memory. Reading maps pages again.
  func detach() { mapping.detach(0..<mapping.length) }

  /// A view of the packed records; nil if the segment is not packed.
  var packedView: PackedSegmentView? {
    guard layout.isPacked else { return nil }
    return unsafe PackedSegmentView(
      base: UnsafeRawPointer(mapping.base),
      end: end,
      salt: salt,
      dictionaryLength: layout.dictionaryLength
    )
  }

  /// The offset of the next record after a place where none begins; nil if there is none.
  func nextRecord(after offset: Int) -> Int? {
    var position = offset + 8
    while position + 8 <= end {
      if position & 0xffff == 0, let data = file.nextData(from: position), data & ~7 > position {
        position = data & ~7
        continue
      }
      if unsafe mapping.base.load(fromByteOffset: position, as: UInt64.self) != 0,
        case .record = readRecord(at: position)
      {
        return position
      }
      position += 8
    }
    return nil
  }

  /// The bytes of a range, as far as the file extends.
  func bytes(in range: Range<Int>) -> [UInt8] {
    let range = range.clamped(to: 0..<mapping.length)
    return unsafe [UInt8](UnsafeRawBufferPointer(start: mapping.base + range.lowerBound, count: range.count))
  }

  /// The footer that the manifest lists or, without a manifest, the one at the end of the file; nil if there is none, or
  /// it is damaged.
  func footer(_ row: SegmentRow?) -> (footer: SegmentFooter, bytes: [UInt8])? {
    let range: Range<Int>
    if let row {
      guard row.state == .sealed, row.footerOffset != 0 else { return nil }
      range = Int(row.footerOffset)..<Int(row.footerOffset + row.footerLength)
    } else {
      guard let trailer, trailer.length <= mapping.length else { return nil }
      range = mapping.length - trailer.length..<mapping.length
    }
    let bytes = bytes(in: range)
    let lent = ContiguousArray(bytes)
    guard let footer = unsafe try? SegmentFooter(decoding: lent.span.bytes), footer.segmentID == id,
      footer.salt == salt
    else { return nil }
    return (footer, bytes)
  }

  func location(_ offset: Int, key: [UInt8]? = nil) -> StoreError.Location {
    StoreError.Location(path: path, segment: id, offset: offset, key: key)
  }
}
