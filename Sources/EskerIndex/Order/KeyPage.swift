import CEskerShims

/// A page of a ``KeyTree``: keys in order, with what they share left out.
///
///     0         8         16          24            32         40           40 + 8 × count    heap       capacity - prefix
///     +---------+---------+-----------+-------------+----------+------------+-----------------+----------+-----------------+
///     | capacity| heap    | freed     | first child | checksum | slots      | free            | keys     | prefix          |
///     | count   | level   | prefix    |             |          |            |                 |          |                 |
///     +---------+---------+-----------+-------------+----------+------------+-----------------+----------+-----------------+
///
/// A slot has the first four bytes of its key behind the prefix, as a number, so that most comparisons need no look at the key; then
/// where the key is, in units of four bytes, and its length. In a page above the leaves, a key is a separator: behind it, on the right,
/// are the keys that are not less. The child for these, eight bytes, stands in front of the separator; it may be missing.
///
/// In a file a child is where it is there, with the lowest bit set, until it is reached for the first time; see ``KeyImage``. Only pages
/// of a file have a checksum.
///
/// The prefix is what all keys have in common that may ever come to the page, which follows from the separators around it.
///
/// Source: slots with heads and prefixes are Graefe's ("Modern B-Tree Techniques", 2011, sections 3.1 and 3.5).
///
/// Safety: `base` is memory of `capacity` bytes that the tree owns, and that only it uses. Offsets are kept within it by `fits`.
@safe
struct KeyPage {
  let base: UnsafeMutableRawPointer

  static let headerLength = 40
  static let slotLength = 8
  /// The capacity of all pages but those with long keys.
  static let leastCapacity = 4096
  /// A page with two of the longest keys, or one and a child, fits; offsets fit into sixteen bits.
  static let greatestCapacity = 256 << 10

  init(base: UnsafeMutableRawPointer) { unsafe self.base = base }

  /// An empty page; nil if there is no memory.
  init?(capacity: Int, level: Int, prefix: some Collection<UInt8>, firstChild: ChildWord = 0) {
    assert(capacity <= Self.greatestCapacity)
    guard let base = unsafe esker_allocate(capacity) else { return nil }
    unsafe self.base = base
    self.capacity = capacity
    self.count = 0
    self.level = level
    freed = 0
    unsafe base.storeBytes(of: 0, toByteOffset: Self.checksumOffset, as: UInt64.self)
    prefixLength = prefix.count
    heap = (capacity - prefix.count) & ~3
    for (offset, byte) in prefix.enumerated() {
      unsafe base.storeBytes(of: byte, toByteOffset: capacity - prefix.count + offset, as: UInt8.self)
    }
    self.firstChild = firstChild
  }

  func deallocate() { unsafe esker_deallocate(base) }

  /// Fills the room for keys with zeros, so that a file has nothing else in it.
  func clearRoom() {
    unsafe (base + Self.headerLength).initializeMemory(
      as: UInt8.self,
      repeating: 0,
      count: capacity - prefixLength - Self.headerLength
    )
  }

  /// Asks for the header and the first slots, whose waits for memory overlap: a search would wait for one line after the other.
  @inline(__always)
  func prefetch() {
    for line in 0..<16 { unsafe esker_prefetch(base + 64 * line) }
  }

  // MARK: Header

  @inline(__always)
  private func word(at offset: Int) -> Int { unsafe Int(base.load(fromByteOffset: offset, as: UInt32.self)) }

  @inline(__always)
  private func setWord(at offset: Int, _ value: Int) {
    unsafe base.storeBytes(of: UInt32(truncatingIfNeeded: value), toByteOffset: offset, as: UInt32.self)
  }

  var capacity: Int {
    get { word(at: 0) }
    nonmutating set { setWord(at: 0, newValue) }
  }
  var count: Int {
    get { word(at: 4) }
    nonmutating set { setWord(at: 4, newValue) }
  }
  /// Where keys begin. What is in front of it, up to the slots, is free.
  private(set) var heap: Int {
    get { word(at: 8) }
    nonmutating set { setWord(at: 8, newValue) }
  }
  /// 0 for leaves.
  private(set) var level: Int {
    get { word(at: 12) }
    nonmutating set { setWord(at: 12, newValue) }
  }
  /// Bytes among the keys that belong to none.
  private(set) var freed: Int {
    get { word(at: 16) }
    nonmutating set { setWord(at: 16, newValue) }
  }
  private(set) var prefixLength: Int {
    get { word(at: 20) }
    nonmutating set { setWord(at: 20, newValue) }
  }

  /// What stands for a child: where it is in memory, or in a file with the lowest bit set; 0 for none.
  typealias ChildWord = UInt

  private(set) var firstChild: ChildWord {
    get { unsafe base.load(fromByteOffset: 24, as: ChildWord.self) }
    nonmutating set { unsafe base.storeBytes(of: newValue, toByteOffset: 24, as: ChildWord.self) }
  }

  var prefix: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base + capacity - prefixLength, count: prefixLength)
  }

  // MARK: Keys

  private var childLength: Int { level == 0 ? 0 : 8 }

  private func slotOffset(_ index: Int) -> Int { Self.headerLength + index * Self.slotLength }

  @inline(__always)
  private func head(_ index: Int) -> UInt32 { unsafe base.load(fromByteOffset: slotOffset(index), as: UInt32.self) }

  @inline(__always)
  private func place(_ index: Int) -> Int {
    unsafe Int(base.load(fromByteOffset: slotOffset(index) + 4, as: UInt16.self)) * 4
  }

  @inline(__always)
  private func length(_ index: Int) -> Int {
    unsafe Int(base.load(fromByteOffset: slotOffset(index) + 6, as: UInt16.self))
  }

  /// A key without the prefix.
  @inline(__always)
  func rest(_ index: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base + place(index) + childLength, count: length(index))
  }

  /// Whether a key and its child stand where keys do, and its slot has the key's first bytes.
  func restIsWithin(_ index: Int) -> Bool {
    guard place(index) >= heap, place(index) + childLength + length(index) <= capacity - prefixLength else {
      return false
    }
    return unsafe head(index) == Self.head(of: rest(index))
  }

  /// Asks for a key that is about to be read, if there is one.
  @inline(__always)
  func prefetch(_ index: Int) {
    if index >= 0, index < count { unsafe esker_prefetch(base + place(index)) }
  }

  func key(_ index: Int) -> [UInt8] { unsafe Array(prefix) + Array(rest(index)) }

  /// What stands for this page in the one above.
  var word: ChildWord { unsafe ChildWord(bitPattern: base) }

  /// The page that a word stands for; nil for none, and for one of a file.
  @inline(__always)
  init?(_ word: ChildWord) {
    guard word & 1 == 0, let base = unsafe UnsafeMutableRawPointer(bitPattern: word) else { return nil }
    unsafe self.base = base
  }

  /// The child in front of the first separator (0), or behind the separator before `index`.
  @inline(__always)
  func child(_ index: Int) -> ChildWord {
    index == 0 ? firstChild : unsafe (base + place(index - 1)).loadUnaligned(as: ChildWord.self)
  }

  var hasChildren: Bool { (0...count).contains { child($0) != 0 } }

  func setChild(_ index: Int, _ child: ChildWord) {
    if index == 0 { return firstChild = child }
    unsafe base.storeBytes(of: child, toByteOffset: place(index - 1), as: ChildWord.self)
  }

  /// The first four bytes, as a number.
  @inline(__always)
  static func head(of rest: UnsafeRawBufferPointer) -> UInt32 {
    if rest.count >= 4 { return unsafe UInt32(bigEndian: rest.loadUnaligned(as: UInt32.self)) }
    var head: UInt32 = 0
    for offset in 0..<rest.count { unsafe head |= UInt32(rest[offset]) << UInt32(24 - 8 * offset) }
    return head
  }

  /// Below zero if the first is less.
  @inline(__always)
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let common = min(left.count, right.count)
    if common > 0, let leftBase = left.baseAddress, let rightBase = right.baseAddress {
      let order = unsafe esker_compare(leftBase, rightBase, common)
      if order != 0 { return Int(order) }
    }
    return left.count - right.count
  }

  /// The number of keys that are less, and whether the next one is the same. `key` has the prefix.
  @inline(__always)
  func search(_ key: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool) {
    let wanted = unsafe UnsafeRawBufferPointer(rebasing: key[prefixLength...])
    let wantedHead = unsafe Self.head(of: wanted)
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      let found = head(middle)
      let order = unsafe found == wantedHead ? Self.compare(rest(middle), wanted) : found < wantedHead ? -1 : 1
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  /// The child in which a key is, if it is anywhere.
  @inline(__always)
  func childIndex(of key: UnsafeRawBufferPointer) -> Int {
    let (index, isFound) = unsafe search(key)
    return isFound ? index + 1 : index
  }

  // MARK: Room

  /// What a key takes, its slot included.
  private func size(_ restLength: Int) -> Int { Self.size(restLength, level: level) }

  static func size(_ restLength: Int, level: Int) -> Int {
    slotLength + ((level == 0 ? 0 : 8) + restLength + 3) & ~3
  }

  private var room: Int { heap - slotOffset(count) }

  /// Whether a key fits, without its prefix.
  func fits(_ length: Int) -> Bool { size(length - prefixLength) <= room + freed }

  /// Whether it fits as things are.
  private func fitsNow(_ restLength: Int) -> Bool { size(restLength) <= room }

  /// The capacity of a page with some of the keys of another and one more.
  static func capacity(_ length: Int) -> Int {
    var capacity = leastCapacity
    while capacity < length { capacity *= 2 }
    return capacity
  }

  /// What a page needs for some of these keys, behind a prefix which is at least as long as the present one.
  func length(of range: Range<Int>, prefixLength: Int) -> Int {
    range.reduce(Self.headerLength + prefixLength + 3) { $0 + size(length($1) - (prefixLength - self.prefixLength)) }
  }

  // MARK: Changes

  /// Puts a key, which fits, at a place. `key` has the prefix.
  func insert(_ key: UnsafeRawBufferPointer, at index: Int, child: ChildWord = 0) {
    let rest = unsafe UnsafeRawBufferPointer(rebasing: key[prefixLength...])
    if !fitsNow(rest.count) { compact() }
    unsafe put(rest, at: index)
    if level > 0 { setChild(index + 1, child) }
  }

  /// Puts a key without its prefix.
  func put(_ rest: UnsafeRawBufferPointer, at index: Int) {
    assert(fitsNow(rest.count) && index <= count)
    heap -= size(rest.count) - Self.slotLength
    let slot = slotOffset(index)
    unsafe (base + slot + Self.slotLength).copyMemory(from: base + slot, byteCount: (count - index) * Self.slotLength)
    unsafe base.storeBytes(of: Self.head(of: rest), toByteOffset: slot, as: UInt32.self)
    unsafe base.storeBytes(of: UInt16(truncatingIfNeeded: heap / 4), toByteOffset: slot + 4, as: UInt16.self)
    unsafe base.storeBytes(of: UInt16(truncatingIfNeeded: rest.count), toByteOffset: slot + 6, as: UInt16.self)
    if let source = rest.baseAddress {
      unsafe (base + heap + childLength).copyMemory(from: source, byteCount: rest.count)
    }
    count += 1
  }

  func remove(at index: Int) {
    freed += size(length(index)) - Self.slotLength
    let slot = slotOffset(index)
    unsafe (base + slot).copyMemory(
      from: base + slot + Self.slotLength,
      byteCount: (count - index - 1) * Self.slotLength
    )
    count -= 1
    if count == 0 { (heap, freed) = ((capacity - prefixLength) & ~3, 0) }
  }

  /// Appends some of the keys of another page, with their children. The prefix is at least as long as there.
  func append(_ range: Range<Int>, of other: KeyPage) {
    let further = prefixLength - other.prefixLength
    for index in range {
      let rest = unsafe other.rest(index)
      unsafe put(UnsafeRawBufferPointer(rebasing: rest[further...]), at: count)
      if level > 0 { setChild(count, other.child(index + 1)) }
    }
  }

  /// Moves the keys together.
  private func compact() {
    unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) { copy in
      guard let start = copy.baseAddress else { return }
      unsafe start.copyMemory(from: base, byteCount: capacity)
      let old = unsafe KeyPage(base: start)
      (count, freed, heap) = (0, 0, (capacity - prefixLength) & ~3)
      append(0..<old.count, of: old)
    }
  }
}
