internal import EskerFormat
internal import EskerLog

/// Writes a snapshot as a stream.
///
/// Safety: each array outlives the call that borrows its bytes, and `sink` cannot keep a span.
struct ExportWriter {
  private let snapshot: Snapshot
  private let storeID: StoreID
  private var buffer: ContiguousArray<UInt8> = []
  /// The checksum of the last frame's head, which the next one continues.
  private var chain: UInt32 = 0
  private var report: ExportReport

  private static let bufferSize = 64 << 10

  init(_ snapshot: Snapshot, storeID: StoreID) {
    self.snapshot = snapshot
    self.storeID = storeID
    report = ExportReport(sequence: snapshot.sequence)
    buffer.reserveCapacity(Self.bufferSize)
  }

  mutating func write(_ keyspaces: [KeyspaceRow], to sink: (RawSpan) throws -> Void) throws -> ExportReport {
    let header = ExportHeader(storeID: storeID, sequence: snapshot.sequence.rawValue, storeTime: snapshot.time)
      .encoded()
    chain = header.checksum
    try add(header.bytes, sink)
    var identifiers: [String: UInt32] = [:]
    for row in keyspaces {
      identifiers[row.name] = row.id
      var frame = ExportFrame(.keyspace)
      frame.keyspace = row.id
      frame.expiry = row.defaultExpiry
      let name = ContiguousArray(row.name.utf8)
      let forms = ContiguousArray(row.forms.encoded())
      try add(frame, unsafe name.span.bytes, unsafe forms.span.bytes, sink)
    }
    for entry in snapshot {
      var frame = ExportFrame(.entry)
      frame.keyspace = identifiers[entry.keyspace] ?? 0
      frame.number = entry.version.rawValue
      frame.expiry = if case .at(let time) = entry.expiry { time.millisecondsSince1970 } else { .max }
      // The closure can throw only errors of the store; those of the sink are passed out as values.
      let failure: (any Error)? = try entry.withBytes { (key, value) throws(StoreError) -> (any Error)? in
        do { try add(frame, key, value, sink) } catch { return error }
        return nil
      }
      if let failure { throw failure }
      report.entries += 1
    }
    var end = ExportFrame(.end)
    end.number = UInt64(report.entries)
    let head = end.encoded(continuing: chain)
    try add(head.bytes, sink)
    try flush(sink)
    return report
  }

  private mutating func add(
    _ frame: ExportFrame,
    _ key: RawSpan,
    _ value: RawSpan,
    _ sink: (RawSpan) throws -> Void
  ) throws {
    var frame = frame
    frame.keyLength = key.byteCount
    frame.valueLength = value.byteCount
    let head = frame.encoded(continuing: chain)
    chain = head.checksum
    try add(head.bytes, sink)
    try add(key, sink)
    try add(value, sink)
    let checksum = CRC32C.checksum(of: value, continuing: CRC32C.checksum(of: key))
    let trailer = (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt32($0))) }
    try add(trailer, sink)
  }

  private mutating func add(_ bytes: [UInt8], _ sink: (RawSpan) throws -> Void) throws {
    let bytes = ContiguousArray(bytes)
    try add(unsafe bytes.span.bytes, sink)
  }

  private mutating func add(_ bytes: RawSpan, _ sink: (RawSpan) throws -> Void) throws {
    report.bytes += bytes.byteCount
    if buffer.count + bytes.byteCount > Self.bufferSize { try flush(sink) }
    if bytes.byteCount > Self.bufferSize {
      try sink(bytes)
    } else {
      unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
    }
  }

  private mutating func flush(_ sink: (RawSpan) throws -> Void) throws {
    guard !buffer.isEmpty else { return }
    try sink(unsafe buffer.span.bytes)
    buffer.removeAll(keepingCapacity: true)
  }
}
