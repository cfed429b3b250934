import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerLog

/// Threads read keys whose records take each other's room.
@Suite struct ReuseConcurrencyTests {
  /// All bytes of a value are the same, so one that is put together of two is recognised.
  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 16 == 0 ? 6_000 : 200)
  }

  private static func isWhole(_ value: borrowing Span<UInt8>) -> Bool {
    for position in value.indices where value[position] != value[0] { return false }
    return true
  }

  @Test func noReaderSeesPartsOfTwoRecords() throws {
    let directory = try TemporaryDirectory()
    var options = Options()
    options.segmentSize = 1 << 20
    let store = try LogStore(at: directory.appending("store"), options: options)
    for key in 0..<8 { try store.put(Self.value(key + 1), forKey: "key \(key)") }
    let isDone = Atomic<Bool>(false)
    let torn = Atomic<Int>(0)
    let failure = Guarded<(any Error)?>(nil)
    let threads = try (0..<4).map { number in
      try WorkerThread(name: "reader") {
        var turn = number
        var values = 0
        do {
          repeat {
            turn += 1
            let key = "key \(turn % 8)"
            let isWhole: Bool? =
              switch turn % 3 {
              case 0: try store.get(key).map { Self.isWhole(ContiguousArray($0).span) }
              case 1:
                try store.withValue(forKey: key) { (value) -> Bool in
                  // Others write meanwhile.
                  let first = value.withUnsafeBytes { Array($0) }
                  return Self.isWhole(ContiguousArray(first).span) && first == value.withUnsafeBytes { Array($0) }
                }
              default:
                try store.get([key, "key 3"]).compactMap { $0 }.allSatisfy { Self.isWhole(ContiguousArray($0).span) }
              }
            if isWhole != true { torn.wrappingAdd(1, ordering: .relaxed) }
            values += 1
          } while !isDone.load(ordering: .relaxed) || values < 2_000
        } catch { failure.withLock { $0 = error } }
      }
    }
    // Until so many records were replaced, however the threads take turns.
    var number = 0
    while store.probe.recordsReplaced < 20_000 || number < 60_000 {
      number += 1
      try store.put(Self.value(number), forKey: "key \(number % 8)")
      if number % 10_000 == 0 { try store.sync() }
      if number % 7_000 == 0 { #expect(try store.contents().count == 8) }
    }
    isDone.store(true, ordering: .relaxed)
    for thread in threads { thread.join() }
    if let error = failure.withLock({ $0 }) { throw error }
    #expect(torn.load(ordering: .relaxed) == 0)
    #expect(try store.verify().isClean)
    try store.close()
  }
}
