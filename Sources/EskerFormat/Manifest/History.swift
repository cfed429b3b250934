/// What openings have found in a store: the part of a copy of the manifest behind its payload.
///
/// It has a checksum of its own, as a store can do without it: damage here costs the history, and not the store.
enum History {
  /// The length in bytes before the rows, and behind them.
  static let (headLength, tailLength) = (24, 8)
  /// The most rows, and the most bytes of them all.
  static let (mostRows, mostBytes) = (32, 8 << 10)

  private static func envelope(_ length: Int) -> Envelope {
    Envelope(magic: Envelope.magic("ESKRHIS1"), length: length, checksumOffset: length - 4, featuresOffset: 12)
  }

  /// The bytes of the rows; none for no rows.
  static func encoded(_ rows: [OpeningRow]) -> [UInt8] {
    if rows.isEmpty { return [] }
    var bytes = [UInt8](repeating: 0, count: headLength)
    for row in rows { row.append(to: &bytes) }
    bytes.append(contentsOf: repeatElement(0, count: tailLength))
    bytes.store(UInt32(rows.count), at: 16)
    envelope(bytes.count).seal(&bytes)
    return bytes
  }

  /// Decodes the rows that take `length` bytes, behind the payload that ends at `start`.
  static func rows(_ file: RawSpan, from start: Int, length: Int) throws(FormatError) -> [OpeningRow] {
    if length == 0 { return [] }
    guard length >= headLength + tailLength, length <= file.byteCount - start else {
      throw .damaged(reason: "its history is truncated", offset: min(start, file.byteCount))
    }
    do throws(FormatError) {
      return try rows(file.extracting(start..<start + length))
    } catch {
      guard case .damaged(let reason, let offset) = error else {
        // Of a later version, say: no reason to refuse the store.
        throw .damaged(reason: "its history is of an unknown kind", offset: start)
      }
      throw .damaged(reason: "its history: \(reason)", offset: start + offset)
    }
  }

  private static func rows(_ bytes: RawSpan) throws(FormatError) -> [OpeningRow] {
    try envelope(bytes.byteCount).check(bytes)
    let count = Int(bytes.u32(at: 16))
    let end = bytes.byteCount - tailLength
    guard count > 0, count <= mostRows, count <= (end - headLength) / OpeningRow.minimumLength else {
      throw .damaged(reason: "the number of rows is impossible: \(count)", offset: 16)
    }
    try bytes.requireZeros(in: 20..<headLength)
    try bytes.requireZeros(in: end..<end + 4)
    var rows: [OpeningRow] = []
    var offset = headLength
    for _ in 0..<count { rows.append(try OpeningRow(decoding: bytes, at: &offset, end: end)) }
    guard offset == end else { throw .damaged(reason: "it is longer than it declares", offset: offset) }
    return rows
  }
}

extension [OpeningRow] {
  /// These rows, as far as a manifest keeps them: the last 32, of at most 8 KiB. Openings in which nothing went wrong make room first, but
  /// for the last row.
  public var kept: [OpeningRow] {
    var rows = self
    while rows.count > 1, rows.count > History.mostRows || History.encoded(rows).count > History.mostBytes {
      rows.remove(at: rows.dropLast().firstIndex(where: \.isUneventful) ?? 0)
    }
    return rows
  }
}
