/// Arranges keys that come in order as the pages of a ``KeyImage``: leaves first, and a page above them once they are full.
///
/// Source: building a B-tree from sorted keys is Graefe's ("Modern B-Tree Techniques", 2011, section 2.7).
///
/// Safety: keys and pages are lent by arrays that do not change meanwhile; a page that is filled is its own until it is freed.
public struct KeyImageBuilder {
  private var levels = [FillingPage(level: 0)]
  /// Pages that are finished, and where the first of them begins.
  private var pages: [UInt8] = []
  private var start = 0
  private var count = 0
  /// Whether there was no memory for a page: what was arranged is of no use then.
  private var isRefused = false

  /// An image without keys.
  public init() {}

  /// The bytes of the pages that nobody has taken yet.
  public var pendingByteCount: Int { pages.count }

  /// Calls `body` with the pages that are finished, one behind the other, and forgets them.
  public mutating func drain<E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) {
    let result = unsafe pages.withUnsafeBytes { bytes in
      Result<Void, E> { () throws(E) in try unsafe body(bytes) }
    }
    try result.get()
    start += pages.count
    pages.removeAll(keepingCapacity: true)
  }

  /// Adds a key, which is greater than the last one.
  public mutating func append(_ key: UnsafeRawBufferPointer) {
    count += 1
    add(unsafe Array(key)[...], 0, to: 0)
  }

  /// Finishes all pages.
  ///
  /// - Returns: What is to be known of the image; nil if there was no memory.
  public mutating func finish() -> KeyImage.Extent? {
    var level = 0
    var root = 0
    while level < levels.count {
      let low = levels[level].low
      root = close(levels[level].count, high: nil, at: level)
      // The topmost page has nothing above it.
      if level < levels.count - 1 { push(root, low: low, to: level + 1) }
      level += 1
    }
    return isRefused ? nil : KeyImage.Extent(byteCount: start + pages.count, root: root, keyCount: count)
  }

  private mutating func add(_ key: ArraySlice<UInt8>, _ child: KeyPage.ChildWord, to level: Int) {
    while !levels[level].fits(key) {
      let isSeparator = closePage(before: key, child, at: level)
      if isSeparator { return }
    }
    levels[level].append(key, child)
  }

  /// Ends a page in front of a key, or in front of its own last one if it is too long otherwise: what its keys share, they may share
  /// with no other.
  ///
  /// - Returns: Whether the key, of a page above the leaves, has moved up.
  private mutating func closePage(before key: ArraySlice<UInt8>, _ child: KeyPage.ChildWord, at level: Int) -> Bool {
    let page = levels[level]
    let isLeaf = level == 0
    var count = page.count
    var high = isLeaf ? KeyTree.shortest(between: page.key(count - 1), key) : Array(key)
    let prefixLength = KeyTree.commonCount(page.low, high[...])
    if count > 1, page.length(count, prefixLength: prefixLength) > KeyPage.leastCapacity {
      count -= 1
      high = isLeaf ? KeyTree.shortest(between: page.key(count - 1), page.key(count)) : Array(page.key(count))
    }
    let place = close(count, high: high, at: level)
    let isWhole = count == page.count
    if isLeaf {
      levels[level].begin(behind: count, low: high)
    } else {
      levels[level].begin(behind: page.count, low: high, firstChild: isWhole ? child : page.child(count))
    }
    push(place, low: page.low, to: level + 1)
    return !isLeaf && isWhole
  }

  /// Puts a page that was ended into the one above.
  private mutating func push(_ place: Int, low: [UInt8]?, to level: Int) {
    let child = KeyPage.ChildWord(place) | 1
    if level == levels.count { levels.append(FillingPage(level: level)) }
    guard let low else { return levels[level].firstChild = child }
    add(low[...], child, to: level)
  }

  /// Finishes a page of the first keys; gives where it is.
  private mutating func close(_ count: Int, high: [UInt8]?, at level: Int) -> Int {
    let place = start + pages.count
    guard !isRefused, let page = levels[level].page(count, high: high) else {
      isRefused = true
      return place
    }
    defer { page.deallocate() }
    page.seal(at: place)
    unsafe pages.append(contentsOf: UnsafeRawBufferPointer(start: page.base, count: page.capacity))
    return place
  }
}

/// A page that is being filled.
///
/// Safety: the page that is made has room for the keys, whose array does not change while it is lent.
private struct FillingPage {
  let level: Int
  /// What its keys are not below, and what all keys that may come to the pages before it are below.
  private(set) var low: [UInt8]?
  var firstChild: KeyPage.ChildWord = 0
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var children: [KeyPage.ChildWord] = []
  /// What the keys take behind a prefix of that length.
  private var total = 0
  private var prefixLength = 0

  init(level: Int) { self.level = level }

  var count: Int { ends.count }

  func key(_ index: Int) -> ArraySlice<UInt8> { bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }

  func child(_ index: Int) -> KeyPage.ChildWord { children[index] }

  /// The bytes of a page with the first keys, behind a prefix.
  func length(_ count: Int, prefixLength: Int) -> Int { Self.bare(prefixLength) + total(count, prefixLength) }

  private func total(_ count: Int, _ prefixLength: Int) -> Int {
    var (total, start) = (0, 0)
    for end in ends[..<count] {
      total += KeyPage.size(end - start - prefixLength, level: level)
      start = end
    }
    return total
  }

  private static func bare(_ prefixLength: Int) -> Int { KeyPage.headerLength + prefixLength + 3 }

  /// Whether another key fits a page of the usual size, or is the only one.
  mutating func fits(_ key: ArraySlice<UInt8>) -> Bool {
    let prefix = KeyTree.commonCount(low, key)
    if prefix != prefixLength {
      prefixLength = prefix
      total = total(count, prefix)
    }
    let length = Self.bare(prefix) + total + KeyPage.size(key.count - prefix, level: level)
    return ends.isEmpty || length <= KeyPage.leastCapacity
  }

  /// Adds a key that fits.
  mutating func append(_ key: ArraySlice<UInt8>, _ child: KeyPage.ChildWord) {
    bytes += key
    ends.append(bytes.count)
    if level > 0 { children.append(child) }
    total += KeyPage.size(key.count - prefixLength, level: level)
  }

  /// Begins the next page, with the keys of a leaf that are behind the first ones.
  mutating func begin(behind count: Int, low: [UInt8], firstChild: KeyPage.ChildWord = 0) {
    self.low = low
    self.firstChild = firstChild
    (total, prefixLength) = (0, 0)
    let rest = (count..<self.count).map { Array(key($0)) }
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    children.removeAll(keepingCapacity: true)
    for key in rest { append(key[...], 0) }
  }

  /// A page of the first keys; nil if there is no memory.
  func page(_ count: Int, high: [UInt8]?) -> KeyPage? {
    let prefix = KeyTree.common(low, high)
    let capacity = KeyPage.capacity(length(count, prefixLength: prefix.count))
    guard let page = KeyPage(capacity: capacity, level: level, prefix: prefix, firstChild: firstChild) else {
      return nil
    }
    page.clearRoom()
    unsafe bytes.withUnsafeBytes { bytes in
      var start = 0
      for (index, end) in ends[..<count].enumerated() {
        unsafe page.put(UnsafeRawBufferPointer(rebasing: bytes[start + prefix.count..<end]), at: index)
        if level > 0 { page.setChild(index + 1, children[index]) }
        start = end
      }
    }
    return page
  }
}
