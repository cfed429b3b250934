import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A page of a checkpoint's keys in order is damaged, and threads that write and scan come upon it beside each other.
@Suite(.timeLimit(.minutes(60))) struct DamagedOrderConcurrencyTests {
  private static let count = 3_000
  private static func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
  private static func number(_ key: [UInt8]) -> Int { key.reduce(0) { $0 << 8 | Int($1) } }

  /// Even numbers are there from the start. Those of each fourth of them stay.
  private static let steady = stride(from: 0, to: 2 * count, by: 8).map { $0 }

  /// A closed store whose checkpoint has its keys in order, and where the pages of these are.
  private let machine = Machine()
  private let checkpoint: String
  private let pages: [Int]

  init() throws {
    let store = try machine.open()
    for number in 0..<Self.count { try store.put("v", forKey: Self.key(2 * number)) }
    #expect(try store.first()?.key == Self.key(0))
    try store.close()
    checkpoint = try #require(try machine.files(".checkpoint").first)
    let file = try machine.disk.open(checkpoint, .read)
    defer { file.close() }
    let bytes = try file.allBytes()
    let header = try CheckpointHeader(
      decoding: ContiguousArray(bytes.prefix(4096)).span.bytes,
      fileLength: UInt64(bytes.count)
    )
    let start = Int(header.layout.metaOffset)
    let section = Array(bytes[start..<start + Int(header.metaLength)])
    let meta = try CheckpointMeta(
      decoding: ContiguousArray(section).span.bytes,
      checksum: header.metaChecksum,
      hasOrders: true
    )
    let order = try #require(meta.orders.first)
    pages = Array(stride(from: Int(order.offset), to: Int(order.offset + order.byteCount), by: 4096))
    #expect(pages.count > 8)
  }

  /// The store with one page damaged.
  private func damaged(_ page: Int, _ change: (inout Options) -> Void) throws -> LogStore {
    var copy = machine
    copy.disk = try machine.disk.processKilled()
    let file = try copy.disk.open(checkpoint, .readWrite)
    try file.writeAll([try file.bytes(in: page + 50..<page + 51)[0] ^ 1], at: page + 50)
    file.close()
    return try copy.open(change)
  }

  /// What a scan found that ran beside writers: all that was there meanwhile, nothing that never was, each once and in its place.
  private func check(_ keys: [[UInt8]], _ direction: KeyRange.Direction, _ page: Int) {
    let found = direction == .ascending ? keys.map(Self.number) : keys.map(Self.number).reversed()
    #expect(found.filter { $0 % 8 == 0 } == Self.steady, "page at \(page)")
    #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 }, "page at \(page)")
    #expect(found.allSatisfy { $0 < 2 * Self.count }, "page at \(page)")
  }

  /// Does something on another thread; what it threw.
  private static func apart(_ body: @escaping @Sendable () throws -> Void) -> [any Error] {
    do { return try onThreads(1) { _ in try body() } } catch { return [error] }
  }

  /// The scan has the first of its keys when a writer comes upon the page. It goes on with keys that are gathered.
  @Test(arguments: ["put", "remove"], [KeyRange.Direction.ascending, .descending])
  func aScanGoesOnWhereAWriterFoundThePageDamaged(_ what: String, _ direction: KeyRange.Direction) throws {
    for page in pages {
      let log = EventLog()
      let store = try damaged(page) { $0.onEvent = { log.record($0) } }
      let adopted = store.default.core.order
      var expected = Set(0..<Self.count).map { 2 * $0 }
      let written = stride(from: 0, to: Self.count, by: 50).map { 2 * $0 + (what == "put" ? 1 : 2) }
      expected = what == "put" ? expected + written : expected.filter { !written.contains($0) }
      var found: [[UInt8]] = []
      var errors: [any Error] = []
      try store.forEachEntry(order: direction) { key, _ in
        if found.isEmpty {
          errors = Self.apart {
            for key in written.map(Self.key) {
              if what == "put" { try store.put("w", forKey: key) } else { try store.remove(key) }
            }
          }
        }
        found.append(key.withUnsafeBytes { Array($0) })
        return true
      }
      #expect(errors.isEmpty, "\(errors)")
      check(found, direction, page)
      #expect(try store.keys().map(Self.number) == expected.sorted(), "page at \(page)")
      #expect(try store.keys(order: .descending).map(Self.number) == expected.sorted().reversed(), "page at \(page)")
      #expect(store.default.core.order !== adopted)
      #expect(store.default.core.order?.isComplete == true)
      #expect(log.damage.map(\.offset) == [page])
      try store.close()
    }
  }

  /// Whoever comes upon it first.
  @Test func writersAndScansMeetADamagedPage() throws {
    var seeds = SeededGenerator(announcedFor: "writersAndScansMeetADamagedPage")
    for _ in 0..<Rounds.count(40, thorough: 2_000) {
      let seed = seeds.next()
      var random = SeededGenerator(seed: seed)
      let page = try #require(pages.randomElement(using: &random))
      let log = EventLog()
      let store = try damaged(page) { $0.onEvent = { log.record($0) } }
      let left = Guarded<[Set<Int>]>([])
      // Writers begin once somebody has the first key of a scan.
      let isScanning = SharedFlag()
      let errors = try onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(thread))
        if thread < 2 {
          while !isScanning.isRaised { Platform.yieldThread() }
          // Each has keys of its own: odd ones, and one of two fourths of the even ones.
          var mine = Set((0..<2 * Self.count).filter { $0 % 8 == 2 + 2 * thread })
          for _ in 0..<300 {
            let number = Int.random(in: 0..<Self.count / 4, using: &random) * 8 + (random.oneIn(2) ? 2 : 1) + 2 * thread
            if mine.insert(number).inserted {
              try store.put("w", forKey: Self.key(number))
            } else {
              mine.remove(number)
              try store.remove(Self.key(number))
            }
          }
          left.withLock { $0.append(mine) }
        } else {
          let direction: KeyRange.Direction = thread == 2 ? .ascending : .descending
          defer { isScanning.raise() }
          for _ in 0..<4 {
            var keys: [[UInt8]] = []
            try store.forEachEntry(order: direction) { key, _ in
              if keys.isEmpty { isScanning.raise() }
              keys.append(key.withUnsafeBytes { Array($0) })
              return true
            }
            check(keys, direction, page)
          }
        }
      }
      #expect(errors.isEmpty, "seed \(seed): \(errors)")
      let others = (0..<2 * Self.count).filter { $0 % 8 == 0 || $0 % 8 == 6 }
      let expected = (others + left.withLock { $0.flatMap { $0 } }).sorted()
      #expect(try store.keys().map(Self.number) == expected, "seed \(seed), page at \(page)")
      #expect(try store.keys(order: .descending).map(Self.number) == expected.reversed(), "seed \(seed)")
      #expect(try store.count() == expected.count)
      #expect(log.damage.map(\.offset) == [page], "seed \(seed)")
      try store.close()
    }
  }
}
