import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerLog

@Suite(.timeLimit(.minutes(60))) struct OrderedConcurrencyTests {
  private static func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
  private static func number(_ key: [UInt8]) -> Int { key.reduce(0) { $0 << 8 | Int($1) } }

  private static func open(_ directory: borrowing TemporaryDirectory) throws -> LogStore {
    var options = Options()
    options.segmentSize = 256 << 10
    return try LogStore(at: directory.appending("store"), options: options)
  }

  @Test func noKeyIsMissedThatComesWhileTheyAreGathered() throws {
    for _ in 0..<Rounds.count(3, thorough: 100) {
      let directory = try TemporaryDirectory()
      let store = try Self.open(directory)
      for number in 0..<2000 { try store.put("v", forKey: Self.key(number * 5)) }
      // The first scan begins while all of them are writing.
      let begun = Atomic<Int>(0)
      let errors = try onThreads(4) { thread in
        begun.add(1, ordering: .relaxed)
        while begun.load(ordering: .relaxed) < 4 {}
        if thread == 0 {
          let keys = try store.keys()
          #expect(keys.count >= 2000 && keys.map(Self.number).filter { $0 % 5 == 0 }.count == 2000)
        } else {
          for number in 0..<2000 { try store.put("v", forKey: Self.key(number * 5 + thread)) }
        }
      }
      #expect(errors.isEmpty)
      #expect(try store.keys().count == 8000)
    }
  }

  @Test func aKeyThatIsThereAllTheTimeIsSeenOnce() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.open(directory)
    let steady = stride(from: 0, to: 4000, by: 4).map { $0 }
    for number in steady { try store.put("v", forKey: Self.key(number)) }
    let isOver = SharedFlag()
    let errors = try onThreads(4) { thread in
      var random = SeededGenerator(seed: UInt64(thread) + 1)
      switch thread {
      case 0, 1:
        // Others come and go between them, so pages are split and freed.
        while !isOver.isRaised {
          let number = Int.random(in: 0..<1000, using: &random) * 4 + 1 + thread
          if random.oneIn(2) {
            try store.put("w", forKey: Self.key(number))
          } else {
            try store.remove(Self.key(number))
          }
        }
      case 2:
        while !isOver.isRaised { try store.merge() }
      default:
        defer { isOver.raise() }
        for round in 0..<Rounds.count(100, thorough: 3000) {
          let order: KeyRange.Direction = round % 2 == 0 ? .ascending : .descending
          let keys = try store.keys(order: order).map(Self.number)
          let seen = keys.filter { $0 % 4 == 0 }
          #expect(seen == (order == .ascending ? steady : steady.reversed()))
          let sorted = order == .ascending ? keys : keys.reversed()
          #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0 < $1 })
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
  }

  /// Also the one that gathers the keys, and removals of ranges: they get all, or the error that a get has then.
  @Test func aCloseEndsScans() throws {
    for round in 0..<Rounds.count(20, thorough: 500) {
      let directory = try TemporaryDirectory()
      let store = try Self.open(directory)
      for number in 0..<1000 { try store.put("v", forKey: Self.key(number)) }
      let begun = Atomic<Int>(0)
      let errors = try onThreads(4) { thread in
        begun.add(1, ordering: .relaxed)
        while begun.load(ordering: .relaxed) < 4 {}
        if thread == 0 {
          if round % 2 == 0 { _ = try store.first() }
          return try store.close()
        }
        do throws(StoreError) {
          while true {
            let keys = try store.keys()
            #expect(keys.count == 1000)
            try store.put("w", forKey: Self.key(thread))
          }
        } catch {
          #expect(error == .closed)
        }
      }
      #expect(errors.isEmpty, "\(errors)")
    }
  }

  @Test func severalTakeFromOneQueueAndNobodyTakesTwice() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.open(directory)
    let queue = try store.keyspace("queue")
    let count = 3000
    let taken = Guarded<[Int]>([])
    let allAreThere = SharedFlag()
    let errors = try onThreads(4) { thread in
      if thread == 0 {
        defer { allAreThere.raise() }
        for number in 0..<count { try queue.put("job", forKey: Self.key(number)) }
      } else {
        while true {
          let areThere = allAreThere.isRaised
          guard let first = try queue.first() else {
            if areThere { return }
            continue
          }
          // Whoever removes it has it.
          if try queue.remove(first.key) { taken.withLock { $0.append(Self.number(first.key)) } }
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(taken.withLock { $0.sorted() } == Array(0..<count))
    #expect(try queue.first() == nil)
  }
}
