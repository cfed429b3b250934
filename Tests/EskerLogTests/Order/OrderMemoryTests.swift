#if canImport(Glibc)
  import EskerPlatform
  import EskerTestSupport
  import Foundation
  import Glibc
  import Testing

  @testable import EskerIndex
  @testable import EskerLog

  /// Keys in order in a process that gets no memory for another page of them.
  @Suite(.serialized, .timeLimit(.minutes(60))) struct OrderMemoryTests {
    /// Runs the body of an exit test; what it throws shows in the test.
    private static func recording(_ body: () throws -> Void) {
      do { try body() } catch { Issue.record(error) }
    }

    private static func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
    private static func number(_ key: [UInt8]) -> Int { key.reduce(0) { $0 << 8 | Int($1) } }

    // MARK: The tree

    /// The keys of a tree beside those that must be there, compared without memory for it.
    private struct ExpectedKeys {
      let all: [[UInt8]]
      var isPresent: [Bool]

      /// Whether a walk, upwards or downwards, finds these keys.
      func agree(with tree: inout KeyTree, backwards: Bool) throws -> Bool {
        var next = backwards ? all.count - 1 : 0
        var agrees = true
        let step = backwards ? -1 : 1
        let body = { (prefix: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer) -> Bool in
          while all.indices.contains(next), !isPresent[next] { next += step }
          guard all.indices.contains(next) else {
            agrees = false
            return false
          }
          agrees = all[next].withUnsafeBytes { key in
            key.count >= prefix.count
              && KeyTree.compare(UnsafeRawBufferPointer(rebasing: key.prefix(prefix.count)), prefix) == 0
              && KeyTree.compare(UnsafeRawBufferPointer(rebasing: key.dropFirst(prefix.count)), rest) == 0
          }
          next += step
          return agrees
        }
        if backwards { try tree.forEachBackwards(from: nil, body) } else { try tree.forEach(from: nil, body) }
        while all.indices.contains(next), !isPresent[next] { next += step }
        return agrees && !all.indices.contains(next)
      }
    }

    /// An image of every third key.
    private static func image(of all: [[UInt8]]) -> (KeyImage, ExpectedKeys)? {
      var expected = ExpectedKeys(all: all, isPresent: all.map { _ in false })
      var builder = KeyImageBuilder()
      for position in stride(from: 0, to: all.count, by: 3) {
        all[position].withUnsafeBytes { builder.append($0) }
        expected.isPresent[position] = true
      }
      guard let extent = builder.finish() else { return nil }
      let pages = Pages(extent.byteCount)
      builder.drain { pages.bytes.copyBytes(from: $0) }
      return (KeyImage(pages.bytes, extent, owner: pages), expected)
    }

    private final class Pages: @unchecked Sendable {
      let bytes: UnsafeMutableRawBufferPointer

      init(_ count: Int) { bytes = .allocate(byteCount: count, alignment: 4096) }

      deinit { bytes.deallocate() }
    }

    /// Short keys, and some whose pages above the leaves are split, too.
    private static func keys(_ areLong: Bool) -> [[UInt8]] {
      var random = SeededGenerator(seed: 1)
      guard areLong else { return (0..<6_000).map(key) }
      return (0..<60).flatMap { _ in
        let group = random.bytes(300)
        return (0..<60).map { _ in group + random.bytes(150) }
      }
      .sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// However many pages there is memory for: a key is in, or refused, and then everything is as it was.
    @Test(arguments: [false, true]) func aTreeOfAnImageIsAsItWasWhereMemoryIsRefused(_ areLong: Bool) async {
      await #expect(processExitsWith: .success) { [areLong = areLong as Bool] in
        Self.recording {
          let all = Self.keys(areLong)
          for granted in 0..<8 {
            let made = Self.image(of: all)
            var (image, expected) = try #require(made)
            var tree = KeyTree(image)
            var (inserted, refused) = (0, 0)
            var areRight = true
            let scarcity = try Scarcity()
            scarcity.grant(granted)
            for position in stride(from: 1, to: all.count, by: 19) where position % 3 != 0 {
              switch try all[position].withUnsafeBytes({ try tree.insert($0) }) {
              case .inserted:
                inserted += 1
                expected.isPresent[position] = true
              case .wasThere: areRight = false
              case .refused:
                refused += 1
                if refused % 16 == 1 {
                  areRight = try areRight && expected.agree(with: &tree, backwards: refused % 32 == 1)
                }
              }
            }
            let count = tree.count
            scarcity.end()
            #expect(areRight && refused > 0 && (granted < 4 || inserted > 0), "\(granted) pages, \(refused) refused")
            #expect(count == expected.isPresent.count { $0 })
            // With memory, all of them come in.
            for position in all.indices {
              let result = try all[position].withUnsafeBytes { try tree.insert($0) }
              if (result == .inserted) == expected.isPresent[position] || result == .refused { areRight = false }
              expected.isPresent[position] = true
            }
            #expect(areRight)
            #expect(try expected.agree(with: &tree, backwards: false) && expected.agree(with: &tree, backwards: true))
          }
        }
      }
    }

    // MARK: The store

    private static func reopened() throws -> (Machine, LogStore) {
      let machine = Machine()
      let store = try machine.open { $0.segmentSize = 1 << 20 }
      for number in 0..<3_000 { try store.put("v", forKey: key(2 * number)) }
      #expect(try store.first()?.key == key(0))
      try store.close()
      let next = try machine.open { $0.segmentSize = 1 << 20 }
      // All that a first write takes is there.
      try next.put("v", forKey: key(0))
      _ = try next.first()
      return (machine, next)
    }

    /// A write counts whether or not there is memory for its key in the order: the next scan gathers the keys.
    @Test func aWriteWithoutMemoryForItsKeyIsInTheNextScan() async {
      await #expect(processExitsWith: .success) {
        Self.recording {
          for granted in 0..<6 {
            let (machine, store) = try Self.reopened()
            let order = try #require(store.default.core.order)
            var isThere = (0..<6_000).map { $0 % 2 == 0 }
            var (failed, behind) = (0, 0)
            let scarcity = try Scarcity()
            scarcity.grant(granted)
            for number in stride(from: 1, to: 6_000, by: 13) where behind < 20 {
              do throws(StoreError) {
                if number % 2 == 1 {
                  try store.put("w", forKey: Self.key(number))
                } else {
                  try store.remove(Self.key(number))
                }
                isThere[number] = number % 2 == 1
              } catch { failed += 1 }
              if store.default.core.order !== order { behind += 1 }
            }
            scarcity.end()
            #expect(behind == 20 && failed == 0)
            #expect(throws: StoreError.self) { try order.check() }
            let left = isThere.indices.filter { isThere[$0] }
            #expect(try store.keys().map(Self.number) == left)
            #expect(try store.keys(order: .descending).map(Self.number) == left.reversed())
            #expect(store.default.core.order?.isComplete == true)
            try store.close()
            let again = try machine.open()
            #expect(try again.keys().map(Self.number) == left)
            try again.close()
          }
        }
      }
    }

    /// Who reads from an order meanwhile does not take it for whole.
    @Test func aScanBesideAWriteWithoutMemorySaysSo() async {
      await #expect(processExitsWith: .success) {
        Self.recording {
          let (_, store) = try Self.reopened()
          var seen = 0
          #expect(throws: StoreError.self) {
            try store.forEachEntry { (_, _) throws(StoreError) in
              seen += 1
              guard seen == 1, let scarcity = try? Scarcity() else { return true }
              defer { scarcity.end() }
              for number in stride(from: 5_999, to: 0, by: -2) where store.default.core.order != nil {
                try store.put("w", forKey: Self.key(number))
              }
              return true
            }
          }
          #expect(seen >= 3_000)
          #expect(try store.keys().count == store.count())
          try store.close()
        }
      }
    }
  }

  /// Takes all memory that there is for a page of 4,096 bytes, and lets this process have no more. What is smaller is still there.
  private final class Scarcity {
    private let blocks: UnsafeMutableBufferPointer<UnsafeMutableRawPointer?>
    private var count = 0

    init() throws {
      blocks = .allocate(capacity: 1 << 20)
      blocks.initialize(repeating: nil)
      // Others between them keep these from becoming one.
      var small: [UnsafeMutableRawPointer?] = []
      for length in [64, 128, 256, 512, 1_000, 2_000, 3_000, 3_800] {
        for _ in 0..<200 {
          small.append(malloc(length))
          _ = malloc(24)
        }
      }
      for block in small { free(block) }
      let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).prefix { $0 != " " }
      try ResourceLimit.addressSpace.set((Int(pages) ?? 0) * MemoryPage.size)
      while count < blocks.count, let block = malloc(4_096) {
        blocks[count] = block
        count += 1
      }
    }

    /// Lets go of memory for so many pages.
    func grant(_ pages: Int) {
      // Not of two beside each other.
      for page in 0..<pages {
        free(blocks[2 * page])
        blocks[2 * page] = nil
      }
    }

    func end() {
      try? ResourceLimit.addressSpace.set(nil)
      for block in blocks[..<count] { free(block) }
      count = 0
      blocks.deallocate()
    }
  }
#endif
