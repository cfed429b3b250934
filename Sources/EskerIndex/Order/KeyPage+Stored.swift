import CEskerShims

// Pages in files.
//
// Safety: a page has `capacity` bytes. `isSound` takes nothing for granted but the first 4,096 bytes, which its caller has, before it
// knows that `capacity` is right; and it looks at a key only once that is known to be within the page.
extension KeyPage {
  static let checksumOffset = 32

  /// The checksum of a page that stands somewhere in a file: it covers the place, and all but itself.
  private func checksum(at offset: Int) -> UInt32 {
    let place = UInt32(truncatingIfNeeded: offset / Self.leastCapacity)
    let front = unsafe esker_crc32c(place, base, Self.checksumOffset)
    let behind = Self.checksumOffset + 4
    return unsafe esker_crc32c(front, base + behind, capacity - behind)
  }

  func seal(at offset: Int) {
    unsafe base.storeBytes(of: checksum(at: offset), toByteOffset: Self.checksumOffset, as: UInt32.self)
  }

  /// Whether a page at a place of a file, with so many bytes behind it, is one that a tree can use: nothing in it leads elsewhere, and its
  /// keys are in order and within the separators around it.
  ///
  /// O(keys). Called once for each page of a file.
  func isSound(at offset: Int, of byteCount: Int, below level: Int, _ fences: Fences) -> Bool {
    guard byteCount - offset >= Self.leastCapacity else { return false }
    let capacity = capacity
    guard capacity >= Self.leastCapacity, capacity <= Self.greatestCapacity, capacity & (capacity - 1) == 0,
      capacity <= byteCount - offset,
      unsafe base.load(fromByteOffset: Self.checksumOffset, as: UInt32.self) == checksum(at: offset)
    else { return false }
    let slots = Self.headerLength + count * Self.slotLength
    guard self.level < level, freed == 0, prefixLength <= capacity - slots, slots <= heap,
      heap <= capacity - prefixLength, childrenAreSound(in: byteCount)
    else { return false }
    // What is not free is what the keys take, each of them alone.
    var taken = 0
    for index in 0..<count {
      guard restIsWithin(index), unsafe rest(index).count <= Int(UInt16.max) - prefixLength else { return false }
      if index > 0, unsafe Self.compare(rest(index - 1), rest(index)) >= 0 { return false }
      taken += unsafe Self.size(rest(index).count, level: self.level) - Self.slotLength
    }
    guard heap == (capacity - prefixLength) & ~3 - taken else { return false }
    return fences.enclose(self)
  }

  private func childrenAreSound(in byteCount: Int) -> Bool {
    guard level > 0 else { return firstChild == 0 }
    return (0...count).allSatisfy { index in
      guard index == 0 || restIsWithin(index - 1) else { return false }
      let offset = child(index) & ~1
      return child(index) & 1 == 1 && offset < UInt(byteCount) && offset % UInt(Self.leastCapacity) == 0
    }
  }
}

/// The separators around a page: its keys are not below the first, and below the second.
///
/// Safety: the pages of a tree stay as long as one of its functions uses these.
struct Fences {
  typealias Separator = (page: KeyPage, index: Int)

  var low: Separator?
  var high: Separator?

  /// Those around a child.
  func narrowed(to page: KeyPage, _ child: Int) -> Fences {
    Fences(low: child > 0 ? (page, child - 1) : low, high: child < page.count ? (page, child) : high)
  }

  /// As keys.
  var keys: (low: [UInt8]?, high: [UInt8]?) {
    (low.map { $0.page.key($0.index) }, high.map { $0.page.key($0.index) })
  }

  /// Whether the keys of a page are where they belong, and all that may come there begin with its prefix.
  func enclose(_ page: KeyPage) -> Bool {
    let (low, high) = keys
    let prefix = unsafe Array(page.prefix)
    if !prefix.isEmpty {
      guard low?.starts(with: prefix) == true, high?.starts(with: prefix) == true else { return false }
    }
    guard page.count > 0 else { return true }
    if let low, page.key(0).lexicographicallyPrecedes(low) { return false }
    if let high, !page.key(page.count - 1).lexicographicallyPrecedes(high) { return false }
    return true
  }
}
