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

  private func keys(_ tree: borrowing KeyTree, from bound: ([UInt8], Bool)?, backwards: Bool, limit: Int = .max)
    -> [[UInt8]]
  {
    var found: [[UInt8]] = []
    let body = { (prefix: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer) -> Bool in
      found.append(Array(prefix) + Array(rest))
      return found.count < limit
    }
    let (key, isIncluded) = bound ?? ([], true)
    key.withUnsafeBytes { key in
      let bound = bound == nil ? nil : KeyTree.Bound(key, isIncluded: isIncluded)
      if backwards { tree.forEachBackwards(from: bound, body) } else { tree.forEach(from: bound, body) }
    }
    return found
  }

  @Test(arguments: Shape.allCases) func historiesAgreeWithASortedSet(_ shape: Shape) {
    var seeds = SeededGenerator(announcedFor: "historiesAgreeWithASortedSet \(shape)")
    for round in 0..<Rounds.count(shape == .long ? 2 : 6, thorough: 200) {
      var random = seeds.split()
      var tree = KeyTree()
      var model = Set<[UInt8]>()
      let removals = [0, 3, 5, 9][round % 4]
      for step in 0..<(shape == .long ? 400 : 3000) {
        let key = shape.key(step, &random)
        if Int.random(in: 0..<10, using: &random) >= removals {
          let result = key.withUnsafeBytes { tree.insert($0) }
          #expect(result == (model.insert(key).inserted ? .inserted : .wasThere))
        } else {
          // Of those that ascend, the first: as in a queue.
          let taken =
            shape == .ascending
            ? keys(tree, from: nil, backwards: false, limit: 1).first ?? key
            : model.randomElement(using: &random) ?? key
          #expect(taken.withUnsafeBytes { tree.remove($0) } == (model.remove(taken) != nil))
        }
        if step % 500 == 499 { compare(tree, model, shape, step, &random) }
      }
      #expect(tree.count == model.count)
      for key in model { #expect(key.withUnsafeBytes { tree.remove($0) }) }
      #expect(tree.count == 0 && tree.byteCount == 0)
    }
  }

  private func compare(
    _ tree: borrowing KeyTree,
    _ model: Set<[UInt8]>,
    _ shape: Shape,
    _ step: Int,
    _ random: inout SeededGenerator
  ) {
    let sorted = model.sorted(by: Self.less)
    #expect(keys(tree, from: nil, backwards: false) == sorted)
    #expect(keys(tree, from: nil, backwards: true) == sorted.reversed())
    for _ in 0..<20 {
      let key = random.oneIn(2) ? sorted.randomElement(using: &random) ?? [] : shape.key(step, &random)
      let isIncluded = random.oneIn(2)
      #expect(key.withUnsafeBytes { tree.contains($0) } == model.contains(key))
      let above = sorted.filter { Self.less(key, $0) || isIncluded && $0 == key }
      #expect(keys(tree, from: (key, isIncluded), backwards: false, limit: 50) == Array(above.prefix(50)))
      let below = sorted.filter { Self.less($0, key) || isIncluded && $0 == key }
      #expect(keys(tree, from: (key, isIncluded), backwards: true, limit: 50) == Array(below.reversed().prefix(50)))
    }
  }

  /// What the documentation says of its size.
  @Test func keysInOrderFillPages() {
    var tree = KeyTree()
    var random = SeededGenerator(seed: 1)
    for number in 0..<100_000 {
      let key = withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } + random.bytes(8)
      #expect(key.withUnsafeBytes { tree.insert($0) } == .inserted)
    }
    #expect(tree.byteCount < 100_000 * 26)
    var mixed = KeyTree()
    for _ in 0..<100_000 { _ = random.bytes(16).withUnsafeBytes { mixed.insert($0) } }
    #expect(mixed.byteCount < 100_000 * 38)
  }

  /// Keys that come at the end and go at the front leave nothing behind.
  @Test func aQueueTakesNoMoreThanWhatIsInIt() {
    var tree = KeyTree()
    for number in 0..<200_000 {
      _ = withUnsafeBytes(of: UInt64(number).bigEndian) { tree.insert($0) }
      if number >= 100 { _ = withUnsafeBytes(of: UInt64(number - 100).bigEndian) { tree.remove($0) } }
    }
    #expect(tree.count == 100)
    #expect(tree.byteCount <= 10 * 4096)
  }
}
