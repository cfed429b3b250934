import EskerTestSupport
import Testing

@testable import EskerIndex

@Suite struct KeyTreeTests {
  /// What keys of a history look like.
  enum Shape: CaseIterable {
    /// A few short ones, of few letters: the empty key, zeros, and keys that begin others.
    case short
    case random
    /// Long paths with a few different ends.
    case paths
    /// Ascending numbers.
    case ascending, descending
    /// Of any length, up to the longest.
    case long

    func key(_ step: Int, _ random: inout SeededGenerator) -> [UInt8] {
      switch self {
      case .short:
        (0..<Int.random(in: 0..<6, using: &random)).map { _ in [0, 1, 255].randomElement(using: &random) ?? 0 }
      case .random: random.bytes(Int.random(in: 4..<24, using: &random))
      case .paths:
        Array("users/\(Int.random(in: 0..<30, using: &random))/messages/".utf8)
          + random.bytes(Int.random(in: 0..<4, using: &random))
      case .ascending: withUnsafeBytes(of: UInt32(step).bigEndian) { Array($0) }
      case .descending: withUnsafeBytes(of: UInt32(1 << 30 - step).bigEndian) { Array($0) }
      case .long:
        [UInt8](repeating: 7, count: [0, 3, 900, 3000, 30_000, 65_530].randomElement(using: &random) ?? 0)
          + random.bytes(Int.random(in: 0..<6, using: &random))
      }
    }
  }

  private static func less(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }

  private func keys(
    _ tree: inout KeyTree,
    from bound: ([UInt8], Bool)?,
    backwards: Bool,
    limit: Int = .max
  ) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    let body = { (prefix: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer) -> Bool in
      found.append(Array(prefix) + Array(rest))
      return found.count < limit
    }
    let (key, isIncluded) = bound ?? ([], true)
    try key.withUnsafeBytes { key in
      let bound = bound == nil ? nil : KeyTree.Bound(key, isIncluded: isIncluded)
      if backwards { try tree.forEachBackwards(from: bound, body) } else { try tree.forEach(from: bound, body) }
    }
    return found
  }

  @Test(arguments: Shape.allCases) func historiesAgreeWithASortedSet(_ shape: Shape) throws {
    var seeds = SeededGenerator(announcedFor: "historiesAgreeWithASortedSet \(shape)")
    for round in 0..<Rounds.count(shape == .long ? 2 : 6, thorough: 200) {
      var random = seeds.split()
      var tree = KeyTree()
      var model = Set<[UInt8]>()
      let removals = [0, 3, 5, 9][round % 4]
      for step in 0..<(shape == .long ? 400 : 3000) {
        let key = shape.key(step, &random)
        if Int.random(in: 0..<10, using: &random) >= removals {
          let result = try key.withUnsafeBytes { try tree.insert($0) }
          #expect(result == (model.insert(key).inserted ? .inserted : .wasThere))
        } else {
          // Of those that ascend, the first: as in a queue.
          let taken =
            shape == .ascending
            ? try keys(&tree, from: nil, backwards: false, limit: 1).first ?? key
            : model.randomElement(using: &random) ?? key
          #expect(try taken.withUnsafeBytes { try tree.remove($0) } == (model.remove(taken) != nil))
        }
        // As after another opening: pages of a file, and changes on top of them.
        if step % 700 == 699, round % 3 > 0 { tree = KeyTree(try storedImage(of: &tree)) }
        if step % 500 == 499 { try compare(&tree, model, shape, step, &random) }
      }
      #expect(tree.count == model.count)
      for key in model { #expect(try key.withUnsafeBytes { try tree.remove($0) }) }
      #expect(tree.count == 0 && tree.byteCount == 0)
    }
  }

  /// The keys of a tree as a file has them.
  private func storedImage(of tree: inout KeyTree) throws -> KeyImage {
    let (bytes, extent) = try stored(keys(&tree, from: nil, backwards: false))
    return StoredPages(bytes).image(extent)
  }

  private func stored(_ keys: [[UInt8]]) throws -> (bytes: [UInt8], extent: KeyImage.Extent) {
    var builder = KeyImageBuilder()
    var bytes: [UInt8] = []
    for key in keys {
      key.withUnsafeBytes { builder.append($0) }
      if builder.pendingByteCount > 20_000 { builder.drain { bytes += $0 } }
    }
    let finished = builder.finish()
    let extent = try #require(finished)
    builder.drain { bytes += $0 }
    #expect(extent.byteCount == bytes.count && extent.keyCount == keys.count)
    return (bytes, extent)
  }

  private func compare(
    _ tree: inout KeyTree,
    _ model: Set<[UInt8]>,
    _ shape: Shape,
    _ step: Int,
    _ random: inout SeededGenerator
  ) throws {
    let sorted = model.sorted(by: Self.less)
    #expect(try keys(&tree, from: nil, backwards: false) == sorted)
    #expect(try keys(&tree, from: nil, backwards: true) == sorted.reversed())
    for _ in 0..<20 {
      let key = random.oneIn(2) ? sorted.randomElement(using: &random) ?? [] : shape.key(step, &random)
      let isIncluded = random.oneIn(2)
      #expect(try key.withUnsafeBytes { try tree.contains($0) } == model.contains(key))
      let above = sorted.filter { Self.less(key, $0) || isIncluded && $0 == key }
      #expect(try keys(&tree, from: (key, isIncluded), backwards: false, limit: 50) == Array(above.prefix(50)))
      let below = sorted.filter { Self.less($0, key) || isIncluded && $0 == key }
      #expect(
        try keys(&tree, from: (key, isIncluded), backwards: true, limit: 50) == Array(below.reversed().prefix(50))
      )
    }
  }

  /// What the documentation says of its size.
  @Test func keysInOrderFillPages() throws {
    var tree = KeyTree()
    var random = SeededGenerator(seed: 1)
    for number in 0..<100_000 {
      let key = withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } + random.bytes(8)
      #expect(try key.withUnsafeBytes { try tree.insert($0) } == .inserted)
    }
    #expect(tree.byteCount < 100_000 * 26)
    var mixed = KeyTree()
    for _ in 0..<100_000 { _ = try random.bytes(16).withUnsafeBytes { try mixed.insert($0) } }
    #expect(mixed.byteCount < 100_000 * 38)
  }

  /// Keys that come at the end and go at the front leave nothing behind, neither leaves nor the pages above them.
  @Test(arguments: [0, 400]) func aQueueTakesNoMoreThanWhatIsInIt(_ padding: Int) throws {
    var tree = KeyTree()
    let key = { (number: Int) in
      withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } + Array(repeating: 1, count: padding)
    }
    for number in 0..<100_000 {
      _ = try key(number).withUnsafeBytes { try tree.insert($0) }
      if number >= 100 { _ = try key(number - 100).withUnsafeBytes { try tree.remove($0) } }
    }
    #expect(tree.count == 100)
    #expect(tree.byteCount <= (10 + padding / 20) * 4096)
  }

  // MARK: Images

  @Test func anImageWithoutKeysIsAnEmptyTree() throws {
    let (bytes, extent) = try stored([])
    var tree = KeyTree(StoredPages(bytes).image(extent))
    #expect(try keys(&tree, from: nil, backwards: false) == [])
    #expect(try [UInt8(1)].withUnsafeBytes { try tree.insert($0) } == .inserted)
    #expect(try [UInt8(1)].withUnsafeBytes { try tree.remove($0) })
    #expect(try keys(&tree, from: nil, backwards: true) == [])
  }

  /// By the words of the article on the format alone.
  @Test func pagesAreAsTheFormatSays() throws {
    var random = SeededGenerator(announcedFor: "pagesAreAsTheFormatSays")
    for shape in Shape.allCases {
      let sorted = Set((0..<(shape == .long ? 30 : 2_000)).map { shape.key($0, &random) }).sorted(by: Self.less)
      let (bytes, extent) = try stored(sorted)
      var found: [[UInt8]] = []
      try read(UInt64(extent.root), of: bytes, below: .max, &found)
      #expect(found == sorted, "\(shape)")
    }
  }

  private func read(_ offset: UInt64, of bytes: [UInt8], below level: Int, _ found: inout [[UInt8]]) throws {
    let all = Array(bytes[Int(offset)...])
    func number(_ place: Int, _ count: Int) -> Int {
      all[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let (length, count, heap, ownLevel) = (number(0, 4), number(4, 4), number(8, 4), number(12, 4))
    let page = Array(all[..<length])
    #expect(ownLevel < level && number(16, 4) == 0 && number(36, 4) == 0)
    #expect(page[(40 + 8 * count)..<heap].allSatisfy { $0 == 0 })
    var checksum = ~UInt32(offset / 4096)
    for byte in page[..<32] + page[36...] {
      checksum ^= UInt32(byte)
      for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1) * 0x82f6_3b78 }
    }
    #expect(number(32, 4) == Int(~checksum))
    let prefix = Array(page[(length - number(20, 4))...])
    if ownLevel > 0 { try read(UInt64(number(24, 8)) - 1, of: bytes, below: ownLevel, &found) }
    for slot in 0..<count {
      let place = 4 * number(40 + 8 * slot + 4, 2)
      let start = ownLevel > 0 ? place + 8 : place
      let rest = Array(page[start..<start + number(40 + 8 * slot + 6, 2)])
      #expect(number(40 + 8 * slot, 4) == (rest + [0, 0, 0, 0])[..<4].reduce(0) { $0 << 8 | Int($1) })
      let key = prefix + rest
      guard ownLevel > 0 else {
        found.append(key)
        continue
      }
      if let last = found.last { #expect(Self.less(last, key)) }
      let next = found.count
      try read(UInt64(number(place, 8)) - 1, of: bytes, below: ownLevel, &found)
      #expect(!Self.less(found[next], key))
    }
  }

  /// What the documentation says of its size.
  @Test func anImageTakesLittleMoreThanItsKeys() throws {
    var random = SeededGenerator(seed: 1)
    let keys = (0..<100_000).map { _ in random.bytes(16) }.sorted(by: Self.less)
    #expect(try stored(keys).bytes.count < 100_000 * 25)
  }

  /// What keys share with their neighbours is left out, and where that ends a page ends.
  @Test func keysThatShareMuchWithFewFillPages() throws {
    var random = SeededGenerator(announcedFor: "keysThatShareMuchWithFewFillPages")
    var keys: Set<[UInt8]> = []
    for number in 0..<30 {
      let group = random.bytes(Int.random(in: 30..<60, using: &random))
      for _ in 0..<(number < 5 ? 1_500 : Int.random(in: 1..<200, using: &random)) {
        keys.insert(group + random.bytes(6))
      }
    }
    let sorted = keys.sorted(by: Self.less)
    let (bytes, extent) = try stored(sorted)
    #expect(bytes.count < keys.count * 30)
    var tree = KeyTree(StoredPages(bytes).image(extent))
    #expect(try self.keys(&tree, from: nil, backwards: false) == sorted)
    for key in sorted { #expect(try key.withUnsafeBytes { try tree.contains($0) }) }
  }

  /// No keys are lost or made up where a page is not as it was written: whoever reaches it learns that.
  @Test func aDamagedPageIsNoticedWhereverItIsDamaged() throws {
    var seeds = SeededGenerator(announcedFor: "aDamagedPageIsNoticedWhereverItIsDamaged")
    for _ in 0..<Rounds.count(100, thorough: 20_000) {
      var random = seeds.split()
      let shape = Shape.allCases.randomElement(using: &random) ?? .random
      let sorted = Set((0..<(shape == .long ? 20 : 1_000)).map { shape.key($0, &random) }).sorted(by: Self.less)
      var (bytes, extent) = try stored(sorted)
      let place = Int.random(in: 0..<bytes.count, using: &random)
      bytes[place] ^= UInt8.random(in: 1...255, using: &random)
      var tree = KeyTree(StoredPages(bytes).image(extent))
      #expect(throws: KeyImage.Damage.self, "byte \(place) of \(shape)") {
        try keys(&tree, from: nil, backwards: random.oneIn(2))
      }
    }
  }

  /// Pages whose checksums are right and that no builder made: they are refused, or used without touching anything else. Whether that
  /// is so, AddressSanitizer sees.
  @Test func forgedPagesLeadNowhereElse() throws {
    var seeds = SeededGenerator(announcedFor: "forgedPagesLeadNowhereElse")
    for _ in 0..<Rounds.count(300, thorough: 20_000) {
      var random = seeds.split()
      let shape = [Shape.short, .random, .paths, .ascending].randomElement(using: &random) ?? .random
      let sorted = Set((0..<1_000).map { shape.key($0, &random) }).sorted(by: Self.less)
      let (bytes, extent) = try stored(sorted)
      let pages = StoredPages(bytes)
      let page = Int.random(in: 0..<bytes.count / 4096, using: &random) * 4096
      pages.forge(page, &random)
      var tree = KeyTree(pages.image(extent))
      for step in 0..<200 {
        let key = shape.key(step, &random)
        do throws(KeyImage.Damage) {
          switch Int.random(in: 0..<4, using: &random) {
          case 0: _ = try key.withBytesTyped { (key) throws(KeyImage.Damage) in try tree.insert(key) }
          case 1: _ = try key.withBytesTyped { (key) throws(KeyImage.Damage) in try tree.remove(key) }
          case 2: try tree.forEach(from: nil) { _, _ in true }
          default: try tree.forEachBackwards(from: nil) { _, _ in true }
          }
        } catch {
          break
        }
      }
    }
  }
}

/// The bytes of an image, which a tree may change.
private final class StoredPages: @unchecked Sendable {
  private let bytes: UnsafeMutableRawBufferPointer

  init(_ bytes: [UInt8]) {
    self.bytes = .allocate(byteCount: bytes.count, alignment: 4096)
    self.bytes.copyBytes(from: bytes)
  }

  deinit { bytes.deallocate() }

  func image(_ extent: KeyImage.Extent) -> KeyImage { KeyImage(bytes, extent, owner: self) }

  /// Changes some bytes of a page, and makes its checksum right.
  func forge(_ offset: Int, _ random: inout SeededGenerator) {
    guard let base = bytes.baseAddress else { return }
    let page = KeyPage(base: base + offset)
    let capacity = page.capacity
    guard capacity == KeyPage.leastCapacity else { return }
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let isHeader = random.oneIn(2)
      let place = Int.random(in: isHeader ? 4..<32 : 40..<capacity, using: &random)
      bytes[offset + place] = UInt8.random(in: 0...255, using: &random)
    }
    page.seal(at: offset)
  }
}

extension [UInt8] {
  fileprivate func withBytesTyped<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeBytes { bytes in Result { () throws(E) in try body(bytes) } }.get()
  }
}
