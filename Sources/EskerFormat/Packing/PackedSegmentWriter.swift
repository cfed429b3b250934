/// Writes a packed segment: takes records one by one, and yields the bytes of the file.
///
/// Does no I/O. The caller appends what ``takeOutput()`` returns to a file whenever it has accumulated enough, then the rest
/// of the output and the footer after ``finish()``, and finally writes the header at the start.
public struct PackedSegmentWriter: ~Copyable {
  /// The position of a written record.
  @frozen
  public struct Placement: Hashable, Sendable {
    /// The offset to store in the index, from the start of the file.
    public var offset: Int
    /// The bytes that the record takes.
    public var size: Int
  }

  /// A finished segment.
  public struct Segment: Sendable {
    /// The header, to be written at the start of the file, where the output has zeros.
    public var header: SegmentHeader
    /// The rest of the output.
    public var output: [UInt8]
    /// The footer, which follows the output.
    public var footer: [UInt8]
    /// The footer's summary.
    public var summary: SegmentFooter
    /// One for each record, in the order in which they were appended.
    public var placements: [Placement]
  }

  /// Cells are written this many at a time, so that little space is lost to their alignment.
  private static let cellsInRun = 16

  private var header: SegmentHeader
  private var compressor: LZ4Compressor
  private var output: [UInt8]
  private var outputStart = 0
  private var footer: FooterBuilder
  private var placements: [Placement] = []
  private var tiny = TinyRecords()
  private var tinyBytes = 0
  private var encoder = CellEncoder()
  private var cells: [(bytes: [UInt8], records: [TinyRecords.Record])] = []
  private var scratch: [UInt8] = []

  /// Creates a writer for an empty segment.
  ///
  /// - Parameters:
  ///   - header: The segment's identity; the fields about packing are filled in.
  ///   - dictionary: What records are compressed against; at most 64 KiB and a multiple of sixteen bytes of it are used.
  ///   - level: The compression level.
  public init(header: SegmentHeader, dictionary: [UInt8], level: LZ4Level) {
    let dictionary = dictionary.suffix(min(dictionary.count, PackedLayout.maximumDictionaryLength) & ~15)
    self.header = header
    self.header.kind = .packed
    self.header.dictionaryLength = UInt32(dictionary.count)
    self.header.dictionaryChecksum = Array(dictionary).checksum(of: 0..<dictionary.count)
    self.header.plainBytes = 0
    self.header.hasGroups = true
    compressor = LZ4Compressor(level: level, dictionary: Array(dictionary))
    output = [UInt8](repeating: 0, count: SegmentHeader.length)
    output += dictionary
    footer = FooterBuilder(segmentID: header.segmentID, salt: header.salt, layout: self.header.layout)
  }

  /// The file's length in bytes without the footer; records waiting for a cell count uncompressed.
  public var length: Int { outputStart + output.count + cells.count * PackedLayout.cellLength + tinyBytes }

  /// The number of bytes waiting to be taken.
  public var pendingOutput: Int { output.count }

  /// The next bytes of the file.
  public mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    outputStart += output.count
    return output
  }

  /// Adds a record.
  ///
  /// - Parameters:
  ///   - record: Its header; whether it was part of a batch, and what was durable when it was written, is not kept.
  ///   - key: As many bytes as the header says.
  ///   - value: As many bytes as the header says.
  /// - Complexity: O(n); 8 microseconds for 500 bytes at level 4.
  public mutating func append(
    _ record: RecordHeader,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer
  ) {
    // Safety: the caller keeps both until this returns, and nothing here does longer.
    let (key, value) = unsafe (ByteRun(key), ByteRun(value))
    precondition(Int(record.keyLength) == key.count && Int(record.valueLength) == value.count)
    precondition(record.isWellFormed && record.kind != .seal)
    let ordinal = placements.count
    placements.append(Placement(offset: 0, size: 0))
    header.plainBytes += UInt64(record.size)
    guard key.count + value.count <= PackedLayout.tinyLength else {
      return write(record, key, value, ordinal)
    }
    tiny.append(record, key, value, ordinal: ordinal)
    tinyBytes += key.count + value.count
    if tiny.records.count > PackedLayout.cellCapacity { closeCell() }
  }

  /// Finishes the segment.
  public consuming func finish() -> Segment {
    while !tiny.records.isEmpty { closeCell() }
    writeCells()
    return Segment(
      header: header,
      output: output,
      footer: footer.encoded(),
      summary: footer.summary,
      placements: placements
    )
  }

  private mutating func closeCell() {
    guard let (cell, count) = encoder.encode(tiny, &compressor) else { return }
    let records = Array(tiny.records.prefix(count))
    cells.append((cell, records))
    tinyBytes -= records.reduce(0) { $0 + Int($1.header.keyLength) + Int($1.header.valueLength) }
    tiny.removeFirst(count)
    if cells.count == Self.cellsInRun { writeCells() }
  }

  private mutating func writeCells() {
    guard !cells.isEmpty else { return }
    let end = outputStart + output.count
    output += repeatElement(0, count: -end & (PackedLayout.cellLength - 1))
    for (bytes, records) in cells {
      let start = outputStart + output.count
      output += bytes
      let headLength = Int(bytes[8]) | Int(bytes[9]) << 8
      seal(from: output.count - bytes.count, headLength: headLength, at: start)
      for (index, record) in records.enumerated() {
        let next = PackedLayout.share(index + 1, of: records.count)
        let placement = Placement(
          offset: start + PackedLayout.place(index, of: records.count),
          size: next - PackedLayout.share(index, of: records.count)
        )
        enter(record.header, placement, ordinal: record.ordinal)
      }
    }
    cells = []
  }

  private mutating func write(
    _ record: RecordHeader,
    _ key: ByteRun,
    _ value: ByteRun,
    _ ordinal: Int
  ) {
    let start = output.count
    let offset = outputStart + start
    let compressed = compress(value)
    let storedLength = compressed ?? value.count
    let flags = record.flags.subtracting(.batchContinues).union(compressed == nil ? [] : .compressed)
    output.append(0 as UInt32)
    output.append(value.checksum())
    output.append(record.sequence | UInt64(record.kind.rawValue) << 56 | UInt64(flags.rawValue) << 60)
    let plainLength = compressed == nil ? 0 : UInt64(value.count) << 40
    output.append(UInt64(key.count) | UInt64(storedLength) << 16 | plainLength)
    if flags.contains(.expires) { output.append(record.expiry) }
    if flags.contains(.keyspace) { output.append(record.keyspace.rawValue) }
    output.append(contentsOf: key)
    let headLength = output.count - start
    if compressed == nil { output.append(contentsOf: value) } else { output += scratch[..<storedLength] }
    output += repeatElement(0, count: -(output.count - start) & (PackedLayout.alignment - 1))
    seal(from: start, headLength: headLength, at: offset)
    enter(record, Placement(offset: offset, size: output.count - start), ordinal: ordinal)
  }

  /// Notes where a record was written.
  private mutating func enter(_ record: RecordHeader, _ placement: Placement, ordinal: Int) {
    placements[ordinal] = placement
    footer.append(record, offset: UInt64(placement.offset), size: UInt64(placement.size))
  }

  /// Stores a header's checksum in the output; it covers the header's offset in the file too.
  private mutating func seal(from start: Int, headLength: Int, at offset: Int) {
    let salt = header.salt
    let checksum = output.lend { PackedChecksum.head($0[start + 4..<start + headLength], salt: salt, offset: offset) }
    output.store(checksum, at: start)
  }

  /// Compresses a value into the scratch buffer; nil if that saves less than an eighth, which is not worth the time to read.
  private mutating func compress(_ value: ByteRun) -> Int? {
    guard value.count <= PackedLayout.maximumCompressedLength else { return nil }
    let capacity = value.count - value.count / 8
    guard capacity > 0 else { return nil }
    if scratch.count < capacity { scratch = [UInt8](repeating: 0, count: capacity) }
    return compressor.compress(value, into: &scratch, capacity: capacity)
  }
}
