internal import EskerIndex
internal import EskerPlatform

/// Keys that come in any order, and leave as pages of a tree. That takes a third of the time of an insertion for each, and pages are full.
///
/// Memory: the keys and sixteen bytes for each, and while pages are made, these.
///
/// Safety: the bytes of all keys are one array, which does not change while they are lent. A row's place is within it.
struct KeyCollection {
  private struct Row {
    /// The first eight bytes, as a number.
    var head: UInt64
    /// Where the key begins, and its length in the lowest sixteen bits.
    var place: UInt64

    var range: Range<Int> {
      let start = Int(place >> 16)
      return start..<start + Int(place & 0xffff)
    }
  }

  private var bytes: [UInt8] = []
  private var rows: [Row] = []
  private var longest = 0

  /// Room for so many keys.
  init(capacity: Int) { rows.reserveCapacity(capacity) }

  /// Adds a key.
  mutating func append(_ key: UnsafeRawBufferPointer) {
    rows.append(Row(head: unsafe Self.head(of: key), place: UInt64(bytes.count) << 16 | UInt64(key.count)))
    unsafe bytes.append(contentsOf: key)
    longest = max(longest, key.count)
  }

  private static func head(of key: UnsafeRawBufferPointer) -> UInt64 {
    if key.count >= 8 { return unsafe UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) }
    var head: UInt64 = 0
    for offset in 0..<key.count { unsafe head |= UInt64(key[offset]) << UInt64(56 - 8 * offset) }
    return head
  }

  /// How many keys before a key's turn it is prefetched: they came in another order.
  private static let keysAhead = 16

  /// The keys in order, each once; nil if there is no memory.
  mutating func sorted() -> KeyImage? {
    guard let pages = MemoryPages(of: rows.count, bytes: bytes.count, longest: longest) else { return nil }
    var builder = KeyImageBuilder()
    var isWhole = true
    unsafe bytes.withUnsafeBytes { bytes in
      rows.sort { left, right in
        if left.head != right.head { return left.head < right.head }
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[left.range])
        return unsafe KeyTree.compare(key, UnsafeRawBufferPointer(rebasing: bytes[right.range])) < 0
      }
      var last = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      for (number, row) in rows.enumerated() {
        if let start = bytes.baseAddress, number + Self.keysAhead < rows.count {
          unsafe prefetchForReading(UInt(bitPattern: start + Int(rows[number + Self.keysAhead].place >> 16)))
        }
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[row.range])
        if unsafe number > 0 && KeyTree.compare(last, key) == 0 { continue }
        unsafe builder.append(key)
        unsafe last = key
        if builder.pendingByteCount >= 1 << 16 { isWhole = isWhole && pages.take(from: &builder) }
      }
    }
    guard let extent = builder.finish(), isWhole, pages.take(from: &builder) else { return nil }
    return pages.image(extent)
  }
}

/// Pages of a tree in memory, of which as much is used as is filled.
///
/// Safety: it owns the block from `init` to `deinit`. Only `take` writes to it, before there is an image; then only the tree that is made
/// of that does, and keeps it.
@safe
private final class MemoryPages: @unchecked Sendable {
  private let block: UnsafeMutableRawPointer
  private let byteCount: Int
  private var used = 0

  /// Room for any pages of so many keys, which have so many bytes together. A page that is ended lacks room for the next key, so most of
  /// it is used unless keys are long: then at least half of it is. The pages above are no more than those below. Nil if there is no memory.
  init?(of keyCount: Int, bytes: Int, longest: Int) {
    byteCount = (longest <= 512 ? 2 : 4) * (bytes + 32 * keyCount) + 1 << 20
    let block = unsafe AnonymousMemory.allocate(byteCount: byteCount, alignment: Self.hugePage)
    guard let block = unsafe block else { return nil }
    unsafe self.block = block
    if keyCount * 24 >= Self.hugePage { unsafe AnonymousMemory.preferHugePages(block, byteCount: byteCount) }
  }

  deinit { unsafe AnonymousMemory.free(block, byteCount: byteCount) }

  private static let hugePage = 2 << 20

  /// Takes the pages that are finished; false if they do not fit.
  func take(from builder: inout KeyImageBuilder) -> Bool {
    guard builder.pendingByteCount <= byteCount - used else { return false }
    unsafe builder.drain { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe (block + used).copyMemory(from: start, byteCount: bytes.count)
      used += bytes.count
    }
    return true
  }

  func image(_ extent: KeyImage.Extent) -> KeyImage {
    unsafe KeyImage(UnsafeMutableRawBufferPointer(start: block, count: extent.byteCount), extent, owner: self)
  }
}
