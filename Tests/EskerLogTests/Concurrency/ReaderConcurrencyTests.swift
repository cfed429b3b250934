import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite(.serialized, .timeLimit(.minutes(60))) struct ReaderConcurrencyTests {
  let directory: TemporaryDirectory
  let path: String
  let store: LogStore

  struct WentBackwards: Error { var what: String }

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
    store = try LogStore(at: path, options: WriterConcurrencyTests.options)
  }

  /// A value that shows its number in all its bytes, so that a torn one would be noticed.
  private static func value(_ number: Int) -> [UInt8] {
    let digits = withUnsafeBytes(of: UInt64(number).littleEndian) { [UInt8]($0) }
    return (0..<(8 + number % 60)).flatMap { _ in digits }
  }

  private static func number(_ value: [UInt8], _ what: String) throws -> Int {
    let number = value.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard value == Self.value(number) else { throw WentBackwards(what: "\(what): a value of no number") }
    return number
  }

  @Test func readersNeverSeeAValueGoBackwards() throws {
    let store = store
    let keys = 12
    let done = SharedFlag()
    for key in 0..<keys { try store.put(Self.value(0), forKey: "key \(key)") }
    let errors = try onThreads(6) { thread in
      if thread < 2 {
        defer { if thread == 0 { done.raise() } }
        for step in 1...3000 {
          let key = step % (keys / 2) * 2 + thread
          try store.put(Self.value(step), forKey: "key \(key)")
        }
        return
      }
      var seen = [Int](repeating: 0, count: keys)
      while !done.isRaised {
        switch thread {
        case 2:
          for key in 0..<keys {
            guard let value = try store.get("key \(key)") else { throw WentBackwards(what: "key \(key) is gone") }
            let number = try Self.number(value, "get")
            guard number >= seen[key] else { throw WentBackwards(what: "get: \(number) after \(seen[key])") }
            seen[key] = number
          }
        case 3:
          let values = try store.get((0..<keys).map { "key \($0)" })
          for (key, value) in values.enumerated() {
            let number = try Self.number(value ?? [], "get of many")
            guard number >= seen[key] else { throw WentBackwards(what: "get of many: \(number) after \(seen[key])") }
            seen[key] = number
          }
        case 4:
          for key in 0..<keys {
            let number = try store.withValue(forKey: "key \(key)") { span in
              try Self.number(span.withUnsafeBytes { [UInt8]($0) }, "withValue")
            }
            guard let number, number >= seen[key] else { throw WentBackwards(what: "withValue") }
            seen[key] = number
          }
        default:
          let figures = store.statistics
          // Writes go on while the figures are gathered, so what was logged is asked for again.
          guard figures.keys == keys, figures.liveBytes <= store.statistics.bytesLogged else {
            throw WentBackwards(what: "statistics: \(figures.keys) keys, \(figures.liveBytes) live bytes")
          }
          _ = try store.metadata(forKey: "key 1")
          _ = try store.keyspaceNames
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
  }

  @Test func aBatchIsWholeInEverySnapshotAndSnapshotsNeverGoBackwards() throws {
    let store = store
    let done = SharedFlag()
    let keys = (0..<6).map { "key \($0)" }
    let write = { @Sendable (number: Int) throws(StoreError) in
      try store.write { (batch) throws(StoreError) in
        for key in keys { try batch.put(Self.value(number), forKey: key) }
      }
    }
    try write(0)
    let errors = try onThreads(4) { thread in
      if thread == 0 {
        defer { done.raise() }
        for number in 1...400 { try write(number) }
        return
      }
      var last = 0
      while !done.isRaised {
        let snapshot = try store.snapshot()
        var numbers: Set<Int> = []
        var count = 0
        for entry in snapshot {
          numbers.insert(try Self.number(try entry.value(), "snapshot"))
          count += 1
        }
        guard numbers.count == 1, count == keys.count, let number = numbers.first, number >= last else {
          throw WentBackwards(what: "\(count) entries of batches \(numbers.sorted()) after \(last)")
        }
        last = number
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(store.statistics.openSnapshots == 0)
  }

  @Test func keysThatStayAreFoundWhileOthersComeAndGo() throws {
    let store = store
    let done = SharedFlag()
    for key in 0..<200 { try store.put("stays", forKey: "stays \(key)") }
    let errors = try onThreads(4) { thread in
      if thread == 0 {
        defer { done.raise() }
        for round in 0..<4 {
          for key in 0..<1500 { try store.put("\(round)", forKey: "comes \(key)") }
          for key in 0..<1500 { try store.remove("comes \(key)") }
        }
        return
      }
      while !done.isRaised {
        for key in 0..<200 where try store.get("stays \(key)") == nil {
          throw WentBackwards(what: "key \(key) was not found")
        }
        guard try store.get("never") == nil else { throw WentBackwards(what: "a key that never was") }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(try store.count() == 200)
  }

  @Test func aReadOnlyFollowerNeverGoesBackwardsAndEndsUpEqual() throws {
    let store = store
    let path = path
    let done = SharedFlag()
    for key in 0..<6 { try store.put(Self.value(0), forKey: "key \(key)") }
    let errors = try onThreads(3) { thread in
      if thread == 0 {
        defer { done.raise() }
        for step in 1...4000 {
          if step % 10 == 0 {
            try store.write { (batch) throws(StoreError) in
              try batch.put(Self.value(step), forKey: "one")
              try batch.put(Self.value(step), forKey: "other")
            }
          } else {
            try store.put(Self.value(step), forKey: "key \(step % 6)")
          }
        }
        return
      }
      var options = WriterConcurrencyTests.options
      options.readOnly = true
      while !done.isRaised {
        let reader = try LogStore(at: path, options: options)
        var seen: [Int] = Array(repeating: 0, count: 6)
        for round in 0..<60 where !done.isRaised {
          for key in 0..<6 {
            guard let value = try reader.get("key \(key)") else { throw WentBackwards(what: "key \(key) is gone") }
            let number = try Self.number(value, "follower")
            guard number >= seen[key] else { throw WentBackwards(what: "follower: \(number) after \(seen[key])") }
            seen[key] = number
          }
          if round % 20 == 0 {
            let snapshot = try reader.snapshot().contents()
            guard snapshot[Array("one".utf8)] == snapshot[Array("other".utf8)] else {
              throw WentBackwards(what: "half a batch in a follower's snapshot")
            }
            guard snapshot.keys.count >= 6 else {
              throw WentBackwards(what: "a follower's snapshot has \(snapshot.count) entries")
            }
          }
        }
        try reader.close()
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    var options = WriterConcurrencyTests.options
    options.readOnly = true
    let reader = try LogStore(at: path, options: options)
    #expect(try reader.contents() == store.contents())
  }

  @Test func aFollowerSeesAllThatWasWrittenBeforeARefresh() throws {
    let store = store
    var options = WriterConcurrencyTests.options
    options.readOnly = true
    let reader = try LogStore(at: path, options: options)
    for step in 1...3000 {
      try store.put(Self.value(step), forKey: "key \(step % 7)")
      if step % 3 == 0 {
        try reader.refresh()
        let value = try reader.get("key \(step % 7)")
        #expect(value == Self.value(step), "after put \(step)")
        if value != Self.value(step) { break }
      }
    }
  }
}
