/// The keys of a type as items of a map, kept for keys that are told apart by one byte, as those of structs are: enums without
/// payloads. So a key is asked once for its `stringValue` and `intValue`.
///
/// There is a row for each value of the byte: the item, and in the last byte its length, 0 while the key was not asked.
final class KeySpellings {
  static let width = 32
  private static let rowCount = 32
  /// In place of the length of an item that does not fit.
  private static let tooLong = UInt8.max

  private let rows = UnsafeMutableRawPointer.allocate(byteCount: width * rowCount, alignment: 32)

  init() {
    rows.initializeMemory(as: UInt8.self, repeating: 0, count: Self.width * Self.rowCount)
  }

  deinit {
    rows.deallocate()
  }

  /// The row of a key and how many of its bytes are the item; nil when the key has no row or does not fit.
  @inline(__always)
  func item<Key: CodingKey>(of key: Key) -> (row: UnsafeRawPointer, length: Int)? {
    guard MemoryLayout<Key>.size <= 1 else { return nil }
    let value =
      MemoryLayout<Key>.size == 0 ? 0 : unsafeBitCast(key, to: UInt8.self)
    guard value < Self.rowCount else { return nil }
    let row = rows + Int(value) * Self.width
    var length = Int(row.load(fromByteOffset: Self.width - 1, as: UInt8.self))
    if length == 0 { length = spell(key, in: row) }
    return length < Self.width ? (UnsafeRawPointer(row), length) : nil
  }

  @inline(never)
  private func spell(_ key: some CodingKey, in row: UnsafeMutableRawPointer) -> Int {
    let session = EncodingSession()
    session.write(key: key)
    var length = Self.tooLong
    if session.count < Self.width {
      row.copyMemory(from: UnsafeRawPointer(session.bytes), byteCount: session.count)
      length = UInt8(truncatingIfNeeded: session.count)
    }
    row.storeBytes(of: length, toByteOffset: Self.width - 1, as: UInt8.self)
    return Int(length)
  }
}
