/// A set of keys in order, in memory: a B+ tree of pages that leave out what their keys share.
///
/// Keys are bytes, at most 65,535, in the order of `memcmp`, a shorter one before those that it begins. A key of 16 bytes takes 24 in a
/// full page, and about 35 where keys come in any order.
///
/// A leaf whose keys are all gone is freed, and its place in the page above stays empty: so the keys that may come to a page never become
/// more, and its prefix stays right. Pages that are only half full are not joined.
///
/// It may begin with the pages of a file, a ``KeyImage``. Each is checked when it is reached for the first time, and then used as any other.
/// If one is damaged, what is asked for throws ``KeyImage/Damage``, and the tree is of no use any more.
///
/// Thread safety: none.
///
/// Safety: it owns the pages that it made, from `allocate` to `deinit` or to where they leave the tree, and gives none away; it keeps the
/// image as long as it lives. So it may go from thread to thread.
@safe
public struct KeyTree: ~Copyable, @unchecked Sendable {
  /// What came of an insertion.
  public enum Insertion: Sendable {
    case inserted, wasThere
    /// There was no memory: the tree is as it was.
    case refused
  }

  /// The number of keys.
  public private(set) var count = 0
  /// The bytes of all pages, with those of the image.
  public private(set) var byteCount = 0

  private var root: KeyPage?
  /// Where it began, as long as one of those pages is left.
  private var image: KeyImage?
  private var imageByteCount = 0
  /// Whether the topmost page of the image was reached: a tree without pages is empty from then on.
  private var hasLeftImage = false
  /// The way to the leaf that was looked for last, from the root, with the child that was taken; the leaf's is 0.
  private var path: [(page: KeyPage, child: Int)] = []

  /// An empty tree.
  public init() { image = nil }

  /// A tree of the keys in an image. O(1).
  public init(_ image: KeyImage) {
    self.image = image
    count = image.keyCount
    imageByteCount = image.byteCount
    byteCount = image.byteCount
  }

  deinit {
    if let root { free(root) }
  }

  /// Frees a page and all below it.
  private func free(_ page: KeyPage) {
    if page.level > 0 {
      for index in 0...page.count { if let child = KeyPage(page.child(index)) { free(child) } }
    }
    if !isStored(page) { page.deallocate() }
  }

  /// Whether a page is one of the image's, which keeps it.
  private func isStored(_ page: KeyPage) -> Bool { image?.owns(page) == true }

  private mutating func release(_ page: KeyPage) {
    byteCount -= page.capacity
    guard isStored(page) else { return page.deallocate() }
    imageByteCount -= page.capacity
    if imageByteCount == 0 { image = nil }
  }

  private mutating func allocate(
    _ capacity: Int,
    level: Int,
    prefix: some Collection<UInt8>,
    firstChild: KeyPage.ChildWord
  ) -> KeyPage? {
    guard let page = KeyPage(capacity: capacity, level: level, prefix: prefix, firstChild: firstChild) else {
      return nil
    }
    byteCount += capacity
    return page
  }

  // MARK: Pages of an image

  /// The topmost page; nil if there is none.
  private mutating func loadedRoot() throws(KeyImage.Damage) -> KeyPage? {
    if let root { return root }
    guard let image, !hasLeftImage else { return nil }
    hasLeftImage = true
    root = try image.page(at: image.root, below: KeyImage.mostLevels, Fences())
    return root
  }

  /// A child, which is checked if it is one of a file's that nobody has reached before; nil if there is none.
  ///
  /// - Parameter fences: Those around `page`.
  @inline(__always)
  private func child(of page: KeyPage, _ index: Int, within fences: @autoclosure () -> Fences)
    throws(KeyImage.Damage) -> KeyPage?
  {
    let word = page.child(index)
    if word & 1 == 0 { return KeyPage(word) }
    return try load(word, as: index, of: page, fences())
  }

  @inline(never)
  private func load(_ word: KeyPage.ChildWord, as index: Int, of page: KeyPage, _ fences: Fences)
    throws(KeyImage.Damage) -> KeyPage?
  {
    let child = try image?.page(at: Int(word & ~1), below: page.level, fences.narrowed(to: page, index))
    if let child { page.setChild(index, child.word) }
    return child
  }

  // MARK: Single keys

  /// Whether a key is there. O(log n).
  public mutating func contains(_ key: UnsafeRawBufferPointer) throws(KeyImage.Damage) -> Bool {
    guard let leaf = try unsafe presentLeaf(of: key) else { return false }
    return unsafe leaf.search(key).isFound
  }

  /// Adds a key. O(log n).
  public mutating func insert(_ key: UnsafeRawBufferPointer) throws(KeyImage.Damage) -> Insertion {
    precondition(key.count <= Int(UInt16.max), "a key has at most 65,535 bytes")
    while true {
      guard let leaf = try unsafe leaf(for: key) else { return .refused }
      let (index, isFound) = unsafe leaf.search(key)
      if isFound { return .wasThere }
      if leaf.fits(key.count) {
        unsafe leaf.insert(key, at: index)
        count += 1
        return .inserted
      }
      guard unsafe makeRoom(at: path.count - 1, for: key, index) else { return .refused }
    }
  }

  /// Removes a key; false if it was not there. O(log n).
  @discardableResult
  public mutating func remove(_ key: UnsafeRawBufferPointer) throws(KeyImage.Damage) -> Bool {
    guard let leaf = try unsafe presentLeaf(of: key), case let (index, isFound) = unsafe leaf.search(key), isFound
    else { return false }
    leaf.remove(at: index)
    count -= 1
    if leaf.count == 0 { drop(leaf) }
    return true
  }

  /// The leaf to which a key belongs, behind the path to it; nil if there is none.
  private mutating func presentLeaf(of key: UnsafeRawBufferPointer) throws(KeyImage.Damage) -> KeyPage? {
    path.removeAll(keepingCapacity: true)
    var page = try loadedRoot()
    while let present = page, present.level > 0 {
      let child = unsafe present.childIndex(of: key)
      page = try self.child(of: present, child, within: fences(at: path.count))
      path.append((present, child))
      page?.prefetch()
    }
    return page
  }

  /// Frees a page in which nothing is left, and the pages above that have nothing else.
  private mutating func drop(_ page: KeyPage) {
    var page = page
    while let (parent, child) = path.popLast() {
      release(page)
      parent.setChild(child, 0)
      if parent.hasChildren { return }
      page = parent
    }
    release(page)
    root = nil
  }

  // MARK: Room

  /// The leaf to which a key belongs, which is made if it is not there; nil if there is no memory.
  private mutating func leaf(for key: UnsafeRawBufferPointer) throws(KeyImage.Damage) -> KeyPage? {
    path.removeAll(keepingCapacity: true)
    if try loadedRoot() == nil { root = allocate(KeyPage.leastCapacity, level: 0, prefix: [], firstChild: 0) }
    guard var page = root else { return nil }
    while page.level > 0 {
      let child = unsafe page.childIndex(of: key)
      let present = try self.child(of: page, child, within: fences(at: path.count))
      path.append((page, child))
      guard let next = present ?? makeChild(level: page.level - 1) else { return nil }
      next.prefetch()
      page = next
    }
    path.append((page, 0))
    return page
  }

  /// Makes the child in which the path ends.
  private mutating func makeChild(level: Int) -> KeyPage? {
    let (low, high) = fences(at: path.count).keys
    let prefix = Self.common(low, high)
    let capacity = KeyPage.capacity(KeyPage.headerLength + prefix.count + 3)
    guard let child = allocate(capacity, level: level, prefix: prefix, firstChild: 0) else { return nil }
    path[path.count - 1].page.setChild(path[path.count - 1].child, child.word)
    return child
  }

  /// The separators around what is at a depth of the path: its keys are not below the first, and below the second.
  private func fences(at depth: Int) -> Fences {
    let low = path[..<depth].last { $0.child > 0 }
    let high = path[..<depth].last { $0.child < $0.page.count }
    return Fences(low: low.map { ($0.page, $0.child - 1) }, high: high.map { ($0.page, $0.child) })
  }

  /// What all keys between two separators begin with.
  static func common(_ low: [UInt8]?, _ high: [UInt8]?) -> ArraySlice<UInt8> {
    guard let low, let high else { return [] }
    return low[..<commonCount(low, high[...])]
  }

  /// The number of bytes in which two keys begin alike; none if there is no first one.
  static func commonCount(_ left: [UInt8]?, _ right: ArraySlice<UInt8>) -> Int {
    guard let left else { return 0 }
    let most = min(left.count, right.count)
    var count = 0
    while count < most, left[count] == right[right.startIndex + count] { count += 1 }
    return count
  }

  /// Makes room in a page of the path, for a key at an index: the path is to be looked for again. False if there is no memory.
  private mutating func makeRoom(at depth: Int, for key: UnsafeRawBufferPointer, _ index: Int) -> Bool {
    let page = path[depth].page
    return unsafe page.count < 2 ? grow(at: depth, for: key.count) : split(at: depth, for: key, index)
  }

  /// Replaces a page by a larger one.
  private mutating func grow(at depth: Int, for length: Int) -> Bool {
    let page = path[depth].page
    let all = page.length(of: 0..<page.count, prefixLength: page.prefixLength)
    let capacity = KeyPage.capacity(all + KeyPage.slotLength + 8 + length + 3)
    guard
      let larger = unsafe allocate(
        capacity,
        level: page.level,
        prefix: page.prefix,
        firstChild: page.firstChild
      )
    else { return false }
    larger.append(0..<page.count, of: page)
    put(larger, at: depth)
    release(page)
    return true
  }

  /// Puts a page in the place of one in the path.
  private mutating func put(_ page: KeyPage, at depth: Int) {
    if depth == 0 { root = page } else { path[depth - 1].page.setChild(path[depth - 1].child, page.word) }
  }

  /// Splits a page in two. Where a key is to go behind all others, the left one keeps them all: in order, pages become full.
  private mutating func split(at depth: Int, for key: UnsafeRawBufferPointer, _ index: Int) -> Bool {
    let page = path[depth].page
    let isLeaf = page.level == 0
    let isAppending = isLeaf && index == page.count && path[..<depth].allSatisfy { $0.child == $0.page.count }
    let middle = isAppending ? page.count : self.middle(of: page)
    // Of two leaves it is as short as can be; of others it moves up.
    let separator =
      unsafe isLeaf
      ? Self.shortest(between: page.key(middle - 1)[...], isAppending ? Array(key)[...] : page.key(middle)[...])
      : page.key(middle)
    guard depth > 0 || raise(for: separator.count) else { return false }
    let above = depth > 0 ? depth - 1 : 0
    let parent = path[above].page
    guard parent.fits(separator.count) else {
      return unsafe separator.withUnsafeBytes { unsafe makeRoom(at: above, for: $0, path[above].child) }
    }

    let (low, high) = fences(at: above + 1).keys
    let leftPrefix = Self.common(low, separator)
    let rightPrefix = Self.common(separator, high)
    let leftLength = page.length(of: 0..<middle, prefixLength: leftPrefix.count)
    let rightStart = isLeaf ? middle : middle + 1
    let rightRange = min(rightStart, page.count)..<page.count
    let rightLength = page.length(of: rightRange, prefixLength: rightPrefix.count)
    guard
      let left = allocate(
        KeyPage.capacity(leftLength),
        level: page.level,
        prefix: leftPrefix,
        firstChild: page.firstChild
      )
    else { return false }
    guard
      let right = allocate(
        KeyPage.capacity(rightLength),
        level: page.level,
        prefix: rightPrefix,
        firstChild: isLeaf ? 0 : page.child(middle + 1)
      )
    else {
      release(left)
      return false
    }
    left.append(0..<middle, of: page)
    right.append(rightRange, of: page)
    let place = path[above].child
    parent.setChild(place, kept(left))
    let rightWord = kept(right)
    unsafe separator.withUnsafeBytes { unsafe parent.insert($0, at: place, child: rightWord) }
    release(page)
    return true
  }

  /// What stands for a page that was just made. One above the leaves has nothing below it if all of that was dropped, and is freed.
  private mutating func kept(_ page: KeyPage) -> KeyPage.ChildWord {
    if page.level == 0 || page.hasChildren { return page.word }
    release(page)
    return 0
  }

  /// Puts a page above the root, in which a separator fits.
  private mutating func raise(for length: Int) -> Bool {
    guard let old = root else { return false }
    let capacity = KeyPage.capacity(KeyPage.headerLength + KeyPage.slotLength + 8 + length + 6)
    guard let new = allocate(capacity, level: old.level + 1, prefix: [], firstChild: old.word) else { return false }
    root = new
    path.insert((new, 0), at: 0)
    return true
  }

  /// The index that has about half of the bytes in front of it; at least one key is on each side.
  private func middle(of page: KeyPage) -> Int {
    let prefixLength = page.prefixLength
    let half = page.length(of: 0..<page.count, prefixLength: prefixLength) / 2
    var length = page.length(of: 0..<0, prefixLength: prefixLength)
    for index in 0..<page.count - 1 {
      length +=
        page.length(of: index..<index + 1, prefixLength: prefixLength)
        - page.length(of: 0..<0, prefixLength: prefixLength)
      if length >= half { return max(1, index + 1) }
    }
    return page.count - 1
  }

  /// The shortest key that is greater than one and not greater than the next.
  static func shortest(between left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> [UInt8] {
    Array(right.prefix(commonCount(Array(left), right) + 1))
  }

  // MARK: Ranges

  /// Below zero if the first of two keys comes before the other, zero if they are the same.
  public static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    unsafe KeyPage.compare(left, right)
  }

  /// Where a walk begins.
  ///
  /// Safety: whoever makes one keeps the key as long as it is used.
  @safe
  public struct Bound {
    let key: UnsafeRawBufferPointer
    let isIncluded: Bool

    /// - Parameter isIncluded: Whether the key itself is part of the walk.
    public init(_ key: UnsafeRawBufferPointer, isIncluded: Bool) {
      unsafe self.key = key
      self.isIncluded = isIncluded
    }
  }

  /// Calls `body` with the prefix and the rest of each key, upwards from a bound or from the first one, until it returns false.
  ///
  /// O(log n) for the first, O(1) for each further one. The bytes are there until `body` returns; it must not change the tree.
  public mutating func forEach(
    from bound: Bound?,
    _ body: (_ prefix: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer) -> Bool
  ) throws(KeyImage.Damage) {
    if let root = try loadedRoot() { _ = try unsafe walkUp(root, Fences(), bound, body) }
  }

  /// The same downwards from a bound or from the last one.
  public mutating func forEachBackwards(
    from bound: Bound?,
    _ body: (_ prefix: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer) -> Bool
  ) throws(KeyImage.Damage) {
    if let root = try loadedRoot() { _ = try unsafe walkDown(root, Fences(), bound, body) }
  }

  /// How many keys before a key's turn it is prefetched: those of a page stand where there was room.
  private static let keysAhead = 8

  private func walkUp(
    _ page: KeyPage,
    _ fences: Fences,
    _ bound: Bound?,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(KeyImage.Damage) -> Bool {
    guard page.level > 0 else {
      var first = 0
      if let bound {
        let (index, isFound) = unsafe page.search(bound.key)
        first = isFound && !bound.isIncluded ? index + 1 : index
      }
      for index in first..<page.count {
        page.prefetch(index + Self.keysAhead)
        guard unsafe body(page.prefix, page.rest(index)) else { return false }
      }
      return true
    }
    let first = bound.map { unsafe page.childIndex(of: $0.key) } ?? 0
    KeyPage(page.child(first))?.prefetch()
    for index in first...page.count {
      guard let child = try child(of: page, index, within: fences) else { continue }
      let bound = index == first ? bound : nil
      guard try unsafe walkUp(child, fences.narrowed(to: page, index), bound, body) else { return false }
    }
    return true
  }

  private func walkDown(
    _ page: KeyPage,
    _ fences: Fences,
    _ bound: Bound?,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(KeyImage.Damage) -> Bool {
    guard page.level > 0 else {
      var end = page.count
      if let bound {
        let (index, isFound) = unsafe page.search(bound.key)
        end = isFound && bound.isIncluded ? index + 1 : index
      }
      for index in (0..<end).reversed() {
        page.prefetch(index - Self.keysAhead)
        guard unsafe body(page.prefix, page.rest(index)) else { return false }
      }
      return true
    }
    let last = bound.map { unsafe page.childIndex(of: $0.key) } ?? page.count
    KeyPage(page.child(last))?.prefetch()
    for index in (0...last).reversed() {
      guard let child = try child(of: page, index, within: fences) else { continue }
      let bound = index == last ? bound : nil
      guard try unsafe walkDown(child, fences.narrowed(to: page, index), bound, body) else { return false }
    }
    return true
  }
}
