internal import EskerFormat
internal import EskerLog

/// Reads a stream into a store.
///
/// Safety: each array outlives the call that borrows its bytes, and the decoders check their lengths.
struct ImportReader {
  private static let name = "the stream"
  private static let piece = 64 << 10

  private let store: LogStore
  private var buffer: [UInt8] = []
  /// How much of the buffer was consumed, and the offset of that in the stream.
  private var position = 0
  private var offset = 0
  private var keyspaces: [UInt32: Keyspace] = [:]
  private var report = ImportReport()

  init(into store: LogStore) {
    self.store = store
  }

  mutating func read(_ source: (Int) throws -> [UInt8]) throws -> ImportReport {
    let first = ContiguousArray(try take(ExportHeader.length, source))
    var (_, chain) = try decoding(at: 0, "an export stream") { () throws(FormatError) in
      unsafe try ExportHeader.decode(first.span.bytes)
    }
    while true {
      let start = offset
      let head = ContiguousArray(try take(ExportFrame.length, source))
      let previous = chain
      let decoded = try decoding(at: start, "a frame of the stream") { () throws(FormatError) in
        unsafe try ExportFrame.decode(head.span.bytes, continuing: previous)
      }
      chain = decoded.checksum
      if decoded.frame.kind == .end {
        try end(decoded.frame, start, source)
        report.bytes = offset
        return report
      }
      try take(decoded.frame, start, source)
    }
  }

  private mutating func take(_ frame: ExportFrame, _ start: Int, _ source: (Int) throws -> [UInt8]) throws {
    let key = try take(frame.keyLength, source)
    let value = try take(frame.valueLength, source)
    let trailer = try take(ExportFrame.trailerLength, source)
    let checksum = unsafe key.withUnsafeBytes { key in
      unsafe value.withUnsafeBytes { unsafe CRC32C.checksum(of: $0, continuing: CRC32C.checksum(of: key)) }
    }
    let stored = trailer.reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    guard checksum == stored else { throw damaged(start, "the checksum of a frame's key and value does not match") }
    guard frame.kind == .entry else { return try takeKeyspace(frame, named: key, value, start) }
    guard let keyspace = keyspaces[frame.keyspace] else {
      throw damaged(start, "an entry belongs to a keyspace that the stream does not declare")
    }
    guard frame.expiry > store.storeTime else {
      report.expired += 1
      return
    }
    let expiry: Expiry = frame.expiry == .max ? .never : .at(WallTime(millisecondsSince1970: frame.expiry))
    // All of it is synced at the end.
    try keyspace.put(value, forKey: key, expiry: expiry, durability: .buffered)
    report.entries += 1
  }

  private mutating func takeKeyspace(
    _ frame: ExportFrame,
    named bytes: [UInt8],
    _ formBytes: [UInt8],
    _ start: Int
  ) throws {
    guard let name = String(validating: bytes, as: UTF8.self), keyspaces[frame.keyspace] == nil,
      name.isEmpty == (frame.keyspace == 0)
    else { throw damaged(start, "a keyspace is invalid or declared twice") }
    let formBytes = ContiguousArray(formBytes)
    let forms = try decoding(at: start, "the forms of a keyspace in the stream") { () throws(FormatError) in
      unsafe try KeyspaceForms(decoding: formBytes.span.bytes)
    }
    let isNew = try name.isEmpty || !store.keyspaceNames.contains(name)
    let keyspace = try store.keyspace(name, recording: forms)
    guard !keyspace.forms.contradict(forms) else {
      let place = name.isEmpty ? "the default keyspace" : "the keyspace \"\(name)\""
      let operation = "import \(place) (\(forms)) over that of another form (\(keyspace.forms)) into"
      throw StoreError.failed(operation: operation, path: store.path, errno: 0)
    }
    if isNew, frame.expiry >= 0, keyspace.defaultExpiry == nil {
      try keyspace.setDefaultExpiry(.milliseconds(frame.expiry))
    }
    keyspaces[frame.keyspace] = keyspace
    report.keyspaces += 1
  }

  private mutating func end(_ frame: ExportFrame, _ start: Int, _ source: (Int) throws -> [UInt8]) throws {
    guard frame.number == UInt64(report.entries + report.expired) else {
      throw damaged(start, "there are \(report.entries + report.expired) entries instead of \(frame.number)")
    }
    guard try position == buffer.count && source(1).isEmpty else {
      throw damaged(offset, "the stream continues after its end")
    }
  }

  /// The next `count` bytes. Allocates as they arrive, since a damaged stream may declare any length.
  private mutating func take(_ count: Int, _ source: (Int) throws -> [UInt8]) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      if position == buffer.count {
        buffer = try source(Self.piece)
        position = 0
        guard !buffer.isEmpty else { throw damaged(offset, "the stream ends too early") }
      }
      let end = min(buffer.count, position + count - bytes.count)
      bytes += buffer[position..<end]
      offset += end - position
      position = end
    }
    return bytes
  }

  private func decoding<R>(
    at start: Int,
    _ what: String,
    _ body: () throws(FormatError) -> R
  ) throws(StoreError) -> R {
    do throws(FormatError) { return try body() } catch {
      throw StoreError(error, in: Self.name, base: start, what: what)
    }
  }

  private func damaged(_ offset: Int, _ reason: String) -> StoreError {
    .damaged(StoreError.Location(path: Self.name, offset: offset), reason: reason)
  }
}
