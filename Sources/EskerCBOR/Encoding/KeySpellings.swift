/// The encoded keys of a type, cached for keys that one byte distinguishes, such as those of structs: enums without
/// payloads. So each key is asked only once for its `stringValue` and `intValue`.
///
/// There is a row for each value of the byte: the item, and in the last byte its length, or 0 if the key has not been
/// encoded yet.
///
/// Safety: the rows live as long as the object. The number of a row is checked against their count, and an item is shorter
/// than its row. A key of one byte has the layout of a byte. The session that has the spellings is used by one thread at a
/// time.
@safe
final class KeySpellings {
  static let width = 32
  private static let rowCount = 32
  /// Stored as the length of an item that does not fit.
  private static let tooLong = UInt8.max

  private let rows: UnsafeMutableRawPointer

  init() {
    unsafe rows = .allocate(byteCount: Self.width * Self.rowCount, alignment: 32)
    unsafe rows.initializeMemory(as: UInt8.self, repeating: 0, count: Self.width * Self.rowCount)
  }

  deinit {
    unsafe rows.deallocate()
  }

  /// The item for a key; nil if the key has no row or does not fit.
  @inline(__always)
  func item<Key: CodingKey>(of key: Key) -> EncodedKey? {
    guard MemoryLayout<Key>.size <= 1 else { return nil }
    // Not with `withUnsafeBytes`: unspecialized, it takes as long as writing the key.
    let value = MemoryLayout<Key>.size == 0 ? 0 : unsafe unsafeBitCast(key, to: UInt8.self)
    guard value < Self.rowCount else { return nil }
    let row = unsafe rows + Int(value) * Self.width
    var length = unsafe Int(row.load(fromByteOffset: Self.width - 1, as: UInt8.self))
    if length == 0 { length = unsafe spell(key, in: row) }
    return length < Self.width ? unsafe EncodedKey(row: UnsafeRawPointer(row), length: length) : nil
  }

  @inline(never)
  private func spell(_ key: some CodingKey, in row: UnsafeMutableRawPointer) -> Int {
    let session = EncodingSession()
    session.write(key: key)
    var length = Self.tooLong
    if session.output.count < Self.width {
      unsafe session.output.copy(to: row)
      length = UInt8(truncatingIfNeeded: session.output.count)
    }
    unsafe row.storeBytes(of: length, toByteOffset: Self.width - 1, as: UInt8.self)
    return Int(length)
  }
}
