import EskerLog

/// Entries that a cursor has copied and not shown yet.
struct CursorPage: ~Copyable {
  /// An entry, whose key and value are in `bytes`.
  struct Entry {
    var key: Range<Int>
    /// nil if only keys are wanted.
    var value: Range<Int>?
    var valueLength: Int
    var version: UInt64
    var expiry: Expiry
  }

  private(set) var bytes = GrowingBytes()
  private var entries: [Entry] = []
  private var shown = 0

  /// How many there are, those that were shown included.
  var count: Int { entries.count }

  /// How many bytes their keys and values have.
  var byteCount: Int { bytes.count }

  mutating func removeAll() {
    bytes.removeAll()
    entries.removeAll(keepingCapacity: true)
    shown = 0
  }

  /// Adds a copy of an entry; false without memory for it.
  mutating func append(_ key: RawSpan, _ value: RawSpan?, valueLength: Int, _ version: UInt64, _ expiry: Expiry) -> Bool
  {
    guard let keyStart = bytes.append(key) else { return false }
    var valueRange: Range<Int>?
    if let value {
      guard let start = bytes.append(value) else { return false }
      valueRange = start..<start + value.byteCount
    }
    let range = keyStart..<keyStart + key.byteCount
    entries.append(Entry(key: range, value: valueRange, valueLength: valueLength, version: version, expiry: expiry))
    return true
  }

  /// The next entry; nil once all were shown.
  mutating func next() -> Entry? {
    guard shown < entries.count else { return nil }
    shown += 1
    return entries[shown - 1]
  }

  /// The key of the last entry.
  ///
  /// Safety: its place is within the bytes.
  var lastKey: [UInt8] {
    guard let key = entries.last?.key, let start = unsafe bytes.start else { return [] }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start + key.lowerBound, count: key.count))
  }
}
