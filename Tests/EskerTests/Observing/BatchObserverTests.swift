import Esker
import EskerTestSupport
import Foundation
import Testing

/// What observers that take batches whole are told.
@Suite(.timeLimit(.minutes(60))) struct BatchObserverTests {
  private typealias Change = StorageChange<String, Int>

  @Test func aBatchIsOneEventInEachStorageThatItChanges() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let names = try store.storage("names", of: String.self)
      let (heard, single) = (Collected<Change.Batch>(), Collected<Change>())
      let ofNames = Collected<StorageChange<String, String>.Batch>()
      let ofB = Collected<Change.Batch>()
      let tokens = [
        try scores.observeBatches { heard.add($0) }, try scores.observe { single.add($0) },
        try scores.observeBatches("b") { ofB.add($0) }, try names.observeBatches { ofNames.add($0) },
      ]
      try scores.set(1, forKey: "a")
      try store.write { batch in
        try batch.set(2, forKey: "a", in: scores)
        try batch.set("Anna", forKey: "a", in: names)
        try batch.set(3, forKey: "b", in: scores)
        try batch.removeValue(forKey: "absent", in: scores)
        try batch.removeValue(forKey: "a", in: scores)
      }
      let first = store.lastSequence
      // It changes nothing here.
      try store.write { batch in
        try batch.set("Bert", forKey: "b", in: names)
        try batch.removeValue(forKey: "absent", in: scores)
      }
      let second = store.lastSequence
      // A batch all the same.
      try store.write { batch in try batch.set(4, forKey: "b", in: scores) }
      let third = store.lastSequence
      try scores.removeAll()
      let expected: [Change.Batch] = [
        .init([.set(key: "a", before: nil, after: 1)]),
        .init(
          [
            .set(key: "a", before: 1, after: 2), .set(key: "b", before: nil, after: 3), .removed(key: "a", before: 2),
          ],
          sequence: first
        ),
        .init([.set(key: "b", before: 3, after: 4)], sequence: third), .init([.removedAll]),
      ]
      #expect(heard.reach(4) && single.reach(6) && ofB.reach(3) && ofNames.reach(2))
      #expect(heard.all == expected)
      #expect(single.all == expected.flatMap(\.changes))
      #expect(ofB.all.map(\.changes) == [[expected[1].changes[1]], expected[2].changes, [.removedAll]])
      #expect(ofB.all.map(\.sequence) == [first, third, nil])
      #expect(
        ofNames.all == [
          .init([.set(key: "a", before: nil, after: "Anna")], sequence: first),
          .init([.set(key: "b", before: nil, after: "Bert")], sequence: second),
        ]
      )
      tokens.forEach { $0.cancel() }
    }
  }

  @Test func aTransactionIsOneEvent() async throws {
    try await withTemporaryStore { (store) async throws in
      let accounts = try store.storage("accounts", of: Int.self)
      try accounts.set(10, forKey: "anna")
      let batches = try accounts.batches()
      let ofBen = try accounts.batches(forKey: "ben")
      try store.transaction { transaction in
        let balance = try transaction.value(forKey: "anna", in: accounts) ?? 0
        try transaction.set(balance - 3, forKey: "anna", in: accounts)
        try transaction.set(3, forKey: "ben", in: accounts)
      }
      let number = store.lastSequence
      // One that fails is none.
      struct Refusal: Error {}
      #expect(throws: Refusal.self) {
        try store.transaction { transaction in
          try transaction.set(0, forKey: "anna", in: accounts)
          throw Refusal()
        }
      }
      try await store.async.transaction { transaction in
        try transaction.set(1, forKey: "anna", in: accounts)
        try transaction.removeValue(forKey: "ben", in: accounts)
      }
      let last = store.lastSequence
      try store.close()
      var heard: [Change.Batch] = []
      for await batch in batches { heard.append(batch) }
      #expect(
        heard == [
          .init([.set(key: "anna", before: 10, after: 7), .set(key: "ben", before: nil, after: 3)], sequence: number),
          .init([.set(key: "anna", before: 7, after: 1), .removed(key: "ben", before: 3)], sequence: last),
        ]
      )
      heard = []
      for await batch in ofBen { heard.append(batch) }
      #expect(heard.map(\.changes) == [[.set(key: "ben", before: nil, after: 3)], [.removed(key: "ben", before: 3)]])
      #expect(heard.map(\.sequence) == [number, last])
    }
  }

  @Test func theEndIsTold() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let (heard, last) = (Collected<Change.Batch>(), Collected<Change>())
      let tokens = [try scores.observeBatches { heard.add($0) }, try scores.observe { last.add($0) }]
      try store.close()
      // In the order in which they came: once the last one has heard it, all have.
      #expect(last.reach(1))
      #expect(last.all == [.closed] && heard.all == [.init([.closed])])
      tokens.forEach { $0.cancel() }
    }
  }

  /// What a batch finds expired is part of it; what is found otherwise, or evicted, comes alone.
  @Test func expiriesAreTheBatchsOwnOrAlone() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let past = Expiry.at(Date(timeIntervalSince1970: 0))
      for key in ["a", "b", "c"] { try scores.set(1, forKey: key, expiry: past) }
      let heard = Collected<Change.Batch>()
      let token = try scores.observeBatches { heard.add($0) }
      try store.write { batch in
        try batch.set(2, forKey: "x", in: scores)
        try batch.set(2, forKey: "a", in: scores)
        try batch.removeValue(forKey: "b", in: scores)
        try batch.set(3, forKey: "y", in: scores)
      }
      let number = store.lastSequence
      try scores.removeExpired()
      #expect(heard.reach(2))
      #expect(
        heard.all == [
          .init(
            [
              .set(key: "x", before: nil, after: 2), .expired(key: "a", before: 1),
              .set(key: "a", before: nil, after: 2),
              .expired(key: "b", before: 1), .set(key: "y", before: nil, after: 3),
            ],
            sequence: number
          ), .init([.expired(key: "c", before: 1)]),
        ]
      )
      token.cancel()
    }
  }

  @Test func whatIsEvictedForABatchComesAlone() throws {
    var options = Options()
    options.capacity = 1 << 20
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try LogStore(at: path, options: options)
    let pages = try store.storage("pages", of: Data.self)
    let heard = Collected<StorageChange<String, Data>.Batch>()
    let token = try pages.observeBatches { heard.add($0) }
    for number in 0..<700 {
      try store.write { batch in
        for part in 0..<4 { try batch.set(Data(repeating: 7, count: 900), forKey: "\(number) \(part)", in: pages) }
      }
    }
    let areSettled = try eventually {
      let evicted = heard.all.filter { $0.sequence == nil }.count
      return try heard.count == 700 + evicted && evicted + pages.count() == 2800
    }
    #expect(areSettled)
    let batches = heard.all.filter { $0.sequence != nil }
    #expect(batches.count == 700)
    for (number, batch) in batches.enumerated() {
      let keys = batch.changes.map { change in
        if case .set(let key, nil, _) = change { key } else { "\(change)" }
      }
      #expect(keys == (0..<4).map { "\(number) \($0)" })
    }
    let areAlone = heard.all.allSatisfy { batch in
      guard batch.sequence == nil else { return true }
      if case .evicted? = batch.changes.first { return batch.changes.count == 1 }
      return false
    }
    #expect(areAlone)
    token.cancel()
    try store.close()
  }

  @Test func aBatchIsOneEventThroughEveryComposition() throws {
    try withTemporaryStore { store in
      let plain = try store.storage("numbers", of: Int.self)
      let front = try store.storage("numbers", of: Int.self, memory: MemoryLimits(count: 10))
      let turned = front.mapValues(to: Int.self, { -$0 }, from: { -$0 })
      let erased = Storage(turned)
      let hybrid = HybridStorage(try LogStorage(store, "numbers", key: String.self, of: Int.self))
      let positive = plain.validate { $0 < 6 }
      let heard = (0..<5).map { _ in Collected<Change.Batch>() }
      let tokens = [
        try front.observeBatches { heard[0].add($0) }, try turned.observeBatches("b") { heard[1].add($0) },
        try erased.observeBatches { heard[2].add($0) }, try hybrid.observeBatches { heard[3].add($0) },
        try positive.observeBatches { heard[4].add($0) },
      ]
      try store.write { batch in
        try batch.set(5, forKey: "a", in: front)
        try batch.set(6, forKey: "b", in: plain)
      }
      let number = store.lastSequence
      for list in heard { #expect(list.reach(1)) }
      let changes: [Change] = [.set(key: "a", before: nil, after: 5), .set(key: "b", before: nil, after: 6)]
      let mapped: [Change] = [.set(key: "a", before: nil, after: -5), .set(key: "b", before: nil, after: -6)]
      #expect(heard[0].all == [.init(changes, sequence: number)])
      #expect(heard[1].all == [.init([mapped[1]], sequence: number)])
      #expect(heard[2].all == [.init(mapped, sequence: number)])
      #expect(heard[3].all == [.init(changes, sequence: number)])
      // What a view does not show is no reason to tear a batch apart.
      #expect(heard[4].all.map(\.changes.count) == [2] && heard[4].all.first?.changes.first == changes[0])
      if case .unreadable("b", _)? = heard[4].all.first?.changes.last {} else { Issue.record("\(heard[4].all)") }
      tokens.forEach { $0.cancel() }
    }
  }

  /// Memory, and storages that have no batches, tell of each change.
  @Test func whereThereAreNoBatchesEachChangeComesAlone() throws {
    let memory = MemoryStorage<String, Int>()
    let heard = Collected<Change.Batch>()
    let token = try memory.observeBatches { heard.add($0) }
    try memory.set(1, forKey: "a")
    try memory.removeAll()
    #expect(heard.reach(2))
    #expect(heard.all == [.init([.set(key: "a", before: nil, after: 1)]), .init([.removedAll])])
    token.cancel()
  }

  @Test func aSequenceHasRoomForABatchOrMissesAllOfIt() async throws {
    try await withTemporaryStore { (store) async throws in
      let scores = try store.storage("scores", of: Int.self)
      let barrier = Collected<Change>()
      let token = try scores.observe { barrier.add($0) }
      let batches = try scores.batches(buffer: 2)
      for round in 0..<4 {
        try store.write { batch in
          for number in 0..<10 { try batch.set(round, forKey: "\(number)", in: scores) }
        }
      }
      #expect(barrier.reach(40))
      var iterator = batches.makeAsyncIterator()
      for _ in 0..<2 { #expect(try await iterator.next()?.changes.count == 10) }
      #expect(try await iterator.next() == .init([.missed(20)]))
      try store.write { batch in
        for number in 0..<3 { try batch.set(9, forKey: "\(number)", in: scores) }
      }
      #expect(try await iterator.next()?.sequence == store.lastSequence)
      token.cancel()
    }
  }

  /// More changes than are queued, and more than a sequence has places.
  @Test func aBatchLargerThanTheQueueIsWhole() async throws {
    try await withTemporaryStore { (store) async throws in
      let scores = try store.storage("scores", of: Int.self)
      let batches = try scores.batches(buffer: 2)
      try store.write { batch in
        for number in 0..<20_000 { try batch.set(number, forKey: "\(number % 500)", in: scores) }
      }
      var iterator = batches.makeAsyncIterator()
      let batch = try #require(try await iterator.next())
      #expect(batch.changes.count == 20_000 && batch.sequence == store.lastSequence)
      #expect(batch.changes.last == .set(key: "499", before: 19_499, after: 19_999))
    }
  }

  /// The feed of the store goes on behind the number of a batch that was reported, at once.
  @Test func theFeedGoesOnBehindABatch() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let failures = Collected<String>()
      let heard = Collected<Change.Batch>()
      let token = try scores.observeBatches { batch in
        heard.add(batch)
        guard let number = batch.sequence else { return failures.add("no number") }
        do { _ = try store.changes(since: number, includingUnsynced: true).batches.poll() } catch {
          failures.add("\(error)")
        }
      }
      for number in 0..<500 {
        try store.write { batch in
          try batch.set(number, forKey: "a", in: scores)
          try batch.set(number, forKey: "b", in: scores)
        }
      }
      #expect(heard.reach(500))
      #expect(failures.all == [])
      token.cancel()
    }
  }

  /// Threads write batches and single values while others come and go: each batch is whole, and all together are what is there.
  @Test func batchesOfManyWritersAreWhole() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let (heard, single) = (Collected<Change.Batch>(), Collected<Change>())
      let torn = Collected<Change.Batch>()
      let tokens = [try scores.observeBatches { heard.add($0) }, try scores.observe { single.add($0) }]
      @Sendable func isWhole(_ batch: Change.Batch) -> Bool { batch.changes.count == (batch.sequence == nil ? 1 : 3) }
      onThreads(4) { thread in
        for number in 0..<300 {
          switch (thread, number % 3) {
          case (0, _):
            let passing = try? scores.observeBatches { if !isWhole($0) { torn.add($0) } }
            passing?.cancel()
          case (_, 0): try? scores.set(number, forKey: "\(thread)")
          default:
            try? store.write { batch in
              for key in 0..<3 { try batch.set(thread * 1000 + number, forKey: "\(key)", in: scores) }
            }
          }
        }
      }
      try scores.set(-1, forKey: "end")
      #expect(eventually { heard.all.last?.changes == [.set(key: "end", before: nil, after: -1)] })
      #expect(eventually { single.all.last == .set(key: "end", before: nil, after: -1) })
      #expect(heard.all.allSatisfy(isWhole) && torn.count == 0)
      let numbers = heard.all.compactMap(\.sequence)
      #expect(numbers.count == 600 && numbers == numbers.sorted() && Set(numbers).count == 600)
      #expect(heard.all.flatMap(\.changes) == single.all)
      var contents: [String: Int] = [:]
      try scores.forEachEntry { key, entry in contents[key] = entry.value }
      #expect(replayed(single.all) == contents)
      tokens.forEach { $0.cancel() }
    }
  }

  @Test func whoObservesBatchesIsToldOfTheEnd() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let heard = Collected<Change.Batch>()
      let token = try scores.observeBatches { heard.add($0) }
      try store.removeKeyspace("scores")
      #expect(heard.reach(2))
      #expect(heard.all == [.init([.removedAll]), .init([.closed])])
      guard case .store(.keyspaceRemoved("scores")) = failure(of: { _ = try scores.batches() }) else {
        Issue.record("it was taken")
        return
      }
      token.cancel()
    }
  }
}
