import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A read-only store that is used by several threads while it follows a writer which merges.
@Suite(.serialized, .timeLimit(.minutes(60))) struct FollowingConcurrencyTests {
  private static let keys = 400
  private static let batch = 20

  struct Wrong: Error { var what: String }

  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
  }

  private func open(readOnly: Bool, _ events: EventLog? = nil) throws -> LogStore {
    var options = Options()
    options.segmentSize = 64 << 10
    options.merge.spaceAmplification = 1.1
    options.readOnly = readOnly
    options.onEvent = { events?.record($0) }
    return try LogStore(at: path, options: options)
  }

  /// Writes one number to a run of keys, as a batch.
  private static func write(_ number: Int, _ store: LogStore) throws {
    let start = number % (keys / batch) * batch
    try store.write { (writes) throws(StoreError) in
      for key in start..<start + batch { try writes.put("\(number)", forKey: "key \(key)") }
    }
  }

  /// What a snapshot shows: all keys, and one number in each run.
  private static func check(_ snapshot: Snapshot, seen: inout [Int]) throws {
    var numbers = [Int?](repeating: nil, count: keys)
    for entry in snapshot {
      let key = try String(decoding: entry.key().dropFirst(4), as: UTF8.self)
      guard let place = Int(key), numbers[place] == nil else { throw Wrong(what: "key \(key) is shown twice") }
      numbers[place] = try Int(String(decoding: entry.value(), as: UTF8.self))
    }
    for start in stride(from: 0, to: keys, by: batch) {
      let run = Set(numbers[start..<start + batch])
      guard run.count == 1, let number = run.first.flatMap({ $0 }) else {
        throw Wrong(what: "keys from \(start) show \(run) up to \(snapshot.sequence)")
      }
      guard number >= seen[start / batch] else { throw Wrong(what: "\(number) after \(seen[start / batch])") }
      seen[start / batch] = number
    }
  }

  @Test func aReaderIsWalkedCountedAndVerifiedWhileItFollows() throws {
    let writer = try open(readOnly: false)
    for number in 0..<Self.keys / Self.batch { try Self.write(number, writer) }
    let events = EventLog()
    let reader = try open(readOnly: true, events)
    let done = SharedFlag()
    let errors = try onThreads(6) { thread in
      var seen = [Int](repeating: 0, count: Self.keys / Self.batch)
      if thread == 0 {
        defer { done.raise() }
        var number = Self.keys / Self.batch
        // Some thousands, and until merges have taken part.
        while number < 4000 || writer.statistics.merges == 0 {
          try Self.write(number, writer)
          number += 1
        }
        return
      }
      repeat {
        switch thread {
        case 1:
          let before = writer.lastSequence
          try reader.refresh()
          guard reader.lastSequence >= before else { throw Wrong(what: "refresh ended at \(reader.lastSequence)") }
        case 2: try Self.check(try reader.snapshot(), seen: &seen)
        case 3:
          let report = try reader.verify()
          guard report.isClean else { throw Wrong(what: "\(report.damage)") }
        case 4:
          let expired = try reader.countExpired()
          let count = try reader.count()
          guard expired == 0, count == Self.keys else { throw Wrong(what: "\(count) keys") }
        default:
          // A fresh opening at any moment.
          let fresh = try open(readOnly: true, events)
          try Self.check(try fresh.snapshot(), seen: &seen)
          try fresh.close()
        }
      } while !done.isRaised
    }
    #expect(errors.isEmpty, "\(errors)")
    try reader.refresh()
    #expect(reader.lastSequence == writer.lastSequence)
    #expect(try reader.contents() == writer.contents())
    #expect(events.damage.isEmpty)
    #expect(writer.statistics.merges > 0)
  }
}
