import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerLog

/// Transactions, and the conditions of batches that they are made of.
@Suite(.timeLimit(.minutes(60))) struct TransactionTests {
  private static func number(_ bytes: [UInt8]?) -> Int { Int(String(decoding: bytes ?? [], as: UTF8.self)) ?? 0 }

  // MARK: Conditions

  @Test func aBatchIsLoggedOnlyIfItsConditionsHold() throws {
    let store = try Machine().open()
    let other = try store.keyspace("other")
    let version = try store.put("1", forKey: "a")
    try other.put("1", forKey: "b")
    func attempt(_ require: (inout WriteBatch) throws(StoreError) -> Void) throws -> Bool {
      let before = store.lastSequence
      do throws(StoreError) {
        try store.write { (batch) throws(StoreError) in
          try batch.put("done", forKey: "result")
          try require(&batch)
        }
      } catch .conflict {
        #expect(store.lastSequence == before)
        #expect(try store.get("result") == nil)
        return false
      }
      #expect(try store.remove("result"))
      return true
    }
    #expect(try attempt { (batch) throws(StoreError) in try batch.require("a", version: version) })
    #expect(try !attempt { (batch) throws(StoreError) in try batch.require("a", version: nil) })
    #expect(try !attempt { (batch) throws(StoreError) in try batch.requireAbsent("a") })
    #expect(try attempt { (batch) throws(StoreError) in try batch.requirePresent("a") })
    #expect(try attempt { (batch) throws(StoreError) in try batch.requireAbsent("b") })
    #expect(try !attempt { (batch) throws(StoreError) in try batch.requirePresent("b") })
    #expect(try !attempt { (batch) throws(StoreError) in try batch.requireAbsent("b", in: other) })
    // The first one that does not hold is named.
    #expect(throws: StoreError.conflict(keyspace: "other", key: bytes("c"))) {
      try store.write { (batch) throws(StoreError) in
        try batch.require("a", version: version)
        try batch.requirePresent("c", in: other)
      }
    }
    try store.put("2", forKey: "a")
    #expect(try !attempt { (batch) throws(StoreError) in try batch.require("a", version: version) })
  }

  @Test func whatHasExpiredIsAbsent() throws {
    let machine = Machine()
    let store = try machine.open()
    let version = try store.put("1", forKey: "a", expiry: .after(.seconds(1)))
    try store.write { (batch) throws(StoreError) in try batch.require("a", version: version) }
    machine.clock.advance(milliseconds: 2_000)
    try store.write { (batch) throws(StoreError) in try batch.requireAbsent("a") }
    #expect(throws: StoreError.conflict(keyspace: "", key: bytes("a"))) {
      try store.write { (batch) throws(StoreError) in try batch.require("a", version: version) }
    }
  }

  @Test func aConditionOnAnotherStoresKeyspaceIsRefused() throws {
    let (store, other) = (try Machine().open(), try Machine().open())
    #expect(throws: StoreError.otherStore(path: "/store")) {
      try store.write { (batch) throws(StoreError) in try batch.requireAbsent("a", in: other.default) }
    }
  }

  // MARK: Transactions

  @Test func aTransactionReadsItsOwnWrites() throws {
    let machine = Machine()
    let store = try machine.open()
    let other = try store.keyspace("other")
    try store.put("1", forKey: "a")
    let result = try store.transaction { transaction in
      #expect(try transaction.get("a") == bytes("1"))
      try transaction.put("2", forKey: "a")
      try transaction.put("3", forKey: "a", in: other)
      try transaction.put("4", forKey: "b", expiry: .after(.seconds(-1)))
      #expect(try transaction.get("a") == bytes("2") && transaction.get("a", in: other) == bytes("3"))
      #expect(try transaction.get("b") == nil && !transaction.contains("b"))
      try transaction.remove("a")
      #expect(try transaction.get("a") == nil && !transaction.contains("a") && transaction.contains("a", in: other))
      // Nobody else sees them yet.
      #expect(try store.get("a") == bytes("1") && other.get("a") == nil)
      return "done"
    }
    #expect(result == "done")
    #expect(try store.get("a") == nil && other.get("a") == bytes("3"))
  }

  @Test func whatTheBodyThrowsDiscardsItsWrites() throws {
    struct Enough: Error {}
    let store = try Machine().open()
    let before = store.lastSequence
    #expect(throws: Enough.self) {
      try store.transaction { transaction in
        try transaction.put("1", forKey: "a")
        throw Enough()
      }
    }
    #expect(store.lastSequence == before)
    try store.close()
    #expect(throws: StoreError.closed) { try store.transaction { _ in } }
  }

  @Test func aStoreThatOnlyReadsHasNone() throws {
    let machine = Machine()
    let store = try machine.open()
    let reader = try machine.open { $0.readOnly = true }
    #expect(throws: StoreError.readOnly) { try reader.transaction { _ in } }
    try reader.close()
    try store.close()
  }

  /// Each of these, done by another writer between a read and the end, makes the body run again.
  @Test(arguments: ["put", "remove", "put what was absent", "batch", "empty", "expire", "evict by time"])
  func aChangeOfWhatWasReadMakesTheBodyRunAgain(what: String) throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put("1", forKey: "a", expiry: .after(.seconds(10)))
    var runs = 0
    let seen = try store.transaction { transaction in
      runs += 1
      let seen = (Self.number(try transaction.get("a")), Self.number(try transaction.get("absent")))
      if runs == 1 {
        switch what {
        case "put": try store.put("2", forKey: "a")
        case "remove": try store.remove("a")
        case "put what was absent": try store.put("5", forKey: "absent")
        case "batch":
          try store.write { (batch) throws(StoreError) in
            try batch.put("2", forKey: "a")
            try batch.put("3", forKey: "absent")
          }
        case "empty": try store.removeAll()
        default: machine.clock.advance(milliseconds: 20_000)
        }
        if what == "evict by time" { try store.removeAllExpired() }
      }
      try transaction.put("\(seen.0 + seen.1)", forKey: "sum")
      return seen
    }
    #expect(runs == 2)
    #expect(try Self.number(store.get("sum")) == seen.0 + seen.1)
    #expect(try Self.number(store.get("a")) == seen.0 && Self.number(store.get("absent")) == seen.1)
  }

  /// What others do to keys that were not read is no conflict, and a value that is put again with the same bytes is a new version.
  @Test func otherKeysAreNoConflict() throws {
    let store = try Machine().open()
    try store.put("1", forKey: "a")
    var runs = 0
    try store.transaction { transaction in
      runs += 1
      _ = try transaction.get("a")
      try store.put("2", forKey: "b")
      try store.merge()
      store.probe.writeCheckpoint()
      try transaction.put("3", forKey: "c")
    }
    #expect(runs == 1)
  }

  /// The body never sees a part of what another writer did: it would have to be correct in states that never were.
  @Test(arguments: [false, true]) func allReadsAreOfOneInstant(isRemoval: Bool) throws {
    let store = try Machine().open()
    try store.put("1", forKey: "a")
    try store.put("1", forKey: "b")
    var runs = 0
    let pairs = Guarded<[[Int]]>([], .unranked)
    try store.transaction { transaction in
      runs += 1
      let first = Self.number(try transaction.get("a"))
      if runs == 1 {
        try store.write { (batch) throws(StoreError) in
          if isRemoval {
            try batch.remove("a")
            try batch.remove("b")
          } else {
            try batch.put("2", forKey: "a")
            try batch.put("2", forKey: "b")
          }
        }
      }
      let second = Self.number(try transaction.get("b"))
      pairs.withLock { $0.append([first, second]) }
    }
    #expect(runs == 2)
    #expect(pairs.withLock { $0 } == [isRemoval ? [0, 0] : [2, 2]])
  }

  /// Nothing is written where a value expires, or is evicted.
  @Test func whatExpiresBetweenTwoReadsIsSeenInBothOrInNone() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put("1", forKey: "a", expiry: .after(.seconds(1)))
    try store.put("1", forKey: "b", expiry: .after(.seconds(1)))
    var runs = 0
    let pair = try store.transaction { transaction in
      runs += 1
      let first = Self.number(try transaction.get("a"))
      if runs == 1 { machine.clock.advance(milliseconds: 2_000) }
      return [first, Self.number(try transaction.get("b"))]
    }
    #expect(runs == 2 && pair == [0, 0])
  }

  /// Whatever the body does after the store was closed, it gets that error: nothing is looked up in files that are gone.
  @Test func aCloseWithinABodyIsTold() throws {
    for isRead in [false, true] {
      let store = try Machine().open()
      try store.put("1", forKey: "a")
      #expect(throws: StoreError.closed) {
        try store.transaction { transaction in
          if isRead { _ = try transaction.get("a") }
          try transaction.put("2", forKey: "b")
          try store.close()
        }
      }
      #expect(throws: StoreError.closed) {
        try store.write { (batch) throws(StoreError) in
          try batch.requirePresent("a")
          try batch.put("2", forKey: "b")
        }
      }
      #expect(throws: StoreError.closed) {
        try store.write { (batch) throws(StoreError) in try batch.requirePresent("a") }
      }
    }
  }

  @Test func aCloseBesideTransactionsEndsThem() throws {
    for round in 0..<Rounds.count(20, thorough: 500) {
      let directory = try TemporaryDirectory()
      let store = try LogStore(at: directory.appending("store"))
      for number in 0..<Self.accounts { try store.put("100", forKey: "account \(number)") }
      let begun = Atomic<Int>(0)
      let errors = try onThreads(3) { thread in
        begun.add(1, ordering: .relaxed)
        while begun.load(ordering: .relaxed) < 3 {}
        if thread == 0 { return try store.close() }
        var random = SeededGenerator(seed: UInt64(round * 10 + thread))
        do throws(StoreError) {
          while true {
            try store.transaction { (transaction) throws(StoreError) in try Self.move(&transaction, &random) }
          }
        } catch {
          #expect(error == .closed)
        }
      }
      #expect(errors.isEmpty, "\(errors)")
      let found = try LogStore(at: directory.appending("store"))
      #expect(try Self.total(of: found) == 100 * Self.accounts)
    }
  }

  /// A body that asks for the keyspace gets another one when it runs again; one that holds the old one gets the error.
  @Test func aKeyspaceThatWasRemovedIsAConflict() throws {
    let store = try Machine().open()
    try store.keyspace("s").put("1", forKey: "a")
    let held = try store.keyspace("s")
    var runs = 0
    let seen = try store.transaction { transaction in
      runs += 1
      let seen = Self.number(try transaction.get("a", in: store.keyspace("s")))
      if runs == 1 { try store.removeKeyspace("s") }
      // An error that the body swallows is not forgotten.
      _ = try? transaction.get("absent")
      try transaction.put("2", forKey: "b")
      return seen
    }
    #expect(runs == 2 && seen == 0)
    #expect(throws: StoreError.keyspaceRemoved("s")) {
      try store.transaction { transaction in _ = try transaction.get("a", in: held) }
    }
    #expect(throws: StoreError.keyspaceRemoved("s")) {
      try store.transaction { transaction in try transaction.put("1", forKey: "a", in: held) }
    }
  }

  @Test func aBodyThatWritesWhatItReadsByAnotherWayHasNoSuccess() throws {
    let store = try Machine().open()
    try store.put("1", forKey: "a")
    #expect(throws: StoreError.conflict(keyspace: "", key: bytes("a"))) {
      try store.transaction(attempts: 3) { transaction in
        _ = try transaction.get("a")
        try store.put("2", forKey: "a")
        _ = try? transaction.get("absent")
      }
    }
  }

  /// A transaction that only reads writes nothing, and its reads are of one instant although it is never committed.
  @Test func readingAloneWritesNothing() throws {
    let store = try Machine().open()
    try store.put("1", forKey: "a")
    let before = store.lastSequence
    let value = try store.transaction { transaction in
      let value = try transaction.get("a")
      try store.put("2", forKey: "b")
      _ = try transaction.contains("absent")
      return value
    }
    #expect(value == bytes("1") && store.lastSequence.rawValue == before.rawValue + 1)
  }

  /// Also if the body goes on after the error.
  @Test func aConflictThatTheBodySwallowsIsOne() throws {
    let store = try Machine().open()
    try store.put("1", forKey: "a")
    var runs = 0
    try store.transaction { transaction in
      runs += 1
      _ = try transaction.get("a")
      if runs == 1 { try store.put("2", forKey: "a") }
      _ = try? transaction.get("absent")
      try transaction.put("3", forKey: "c")
    }
    #expect(runs == 2)
  }

  @Test func attemptsAreBounded() throws {
    let store = try Machine().open()
    var runs = 0
    #expect(throws: StoreError.conflict(keyspace: "", key: bytes("a"))) {
      try store.transaction(attempts: 7) { transaction in
        runs += 1
        _ = try transaction.get("a")
        try store.put("\(runs)", forKey: "a")
        try transaction.put("mine", forKey: "a")
      }
    }
    #expect(try runs == 7 && Self.number(store.get("a")) == 7)
  }

  // MARK: At the same time

  private static let accounts = 20

  private static func move(
    _ transaction: inout LogStore.Transaction,
    _ random: inout SeededGenerator
  ) throws(StoreError) {
    let (from, to) = (Int.random(in: 0..<accounts, using: &random), Int.random(in: 0..<accounts, using: &random))
    let amount = Int.random(in: 1...10, using: &random)
    // An account without money is absent.
    let (rich, poor) = (number(try transaction.get("account \(from)")), number(try transaction.get("account \(to)")))
    guard from != to, rich >= amount else { return }
    if rich == amount {
      try transaction.remove("account \(from)")
    } else {
      try transaction.put("\(rich - amount)", forKey: "account \(from)")
    }
    try transaction.put("\(poor + amount)", forKey: "account \(to)")
  }

  private static func total(of store: LogStore) throws -> Int {
    try store.contents().values.reduce(0) { $0 + number($1) }
  }

  @Test func threadsThatMoveMoneyNeitherLoseNorMakeAny() throws {
    for round in 0..<Rounds.count(2, thorough: 30) {
      let directory = try TemporaryDirectory()
      var options = Options()
      options.segmentSize = 256 << 10
      let store = try LogStore(at: directory.appending("store"), options: options)
      for number in 0..<Self.accounts { try store.put("100", forKey: "account \(number)") }
      let isOver = SharedFlag()
      let left = Atomic<Int>(3)
      let errors = try onThreads(5) { thread in
        var random = SeededGenerator(seed: UInt64(round * 10 + thread) + 1)
        if thread == 4 {
          while !isOver.isRaised { try store.merge() }
          return
        }
        if thread == 3 {
          // Whoever reads all accounts sees all the money.
          while !isOver.isRaised {
            let sum = try store.transaction { transaction in
              var sum = 0
              for account in 0..<Self.accounts { sum += Self.number(try transaction.get("account \(account)")) }
              return sum
            }
            #expect(sum == 100 * Self.accounts)
          }
          return
        }
        defer { if left.subtract(1, ordering: .relaxed).newValue == 0 { isOver.raise() } }
        for _ in 0..<1_000 {
          try store.transaction { transaction in try Self.move(&transaction, &random) }
        }
      }
      #expect(errors.isEmpty, "\(errors)")
      #expect(try Self.total(of: store) == 100 * Self.accounts)
    }
  }

  @Test func tasksThatMoveMoneyNeitherLoseNorMakeAny() async throws {
    let store = try Machine().open()
    for number in 0..<Self.accounts { try store.put("100", forKey: "account \(number)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<100 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(task) + 1)
          for _ in 0..<10 {
            try await store.async.transaction { transaction in
              let (from, to) = (task % Self.accounts, Int.random(in: 0..<Self.accounts, using: &random))
              let rich = Self.number(try await transaction.get("account \(from)"))
              await Task.yield()
              let poor = Self.number(try await transaction.get("account \(to)"))
              guard from != to, rich > 1 else { return }
              try transaction.put("\(rich - 1)", forKey: "account \(from)")
              try transaction.put("\(poor + 1)", forKey: "account \(to)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try Self.total(of: store) == 100 * Self.accounts)
  }

  /// Whatever call is the last one before the power fails, the money is all there.
  @Test func aPowerFailureTakesATransactionBackAsAWhole() throws {
    var machine = Machine()
    let plan = FaultPlan()
    machine.calls = plan
    let store = try machine.open()
    for number in 0..<Self.accounts { try store.put("100", forKey: "account \(number)") }
    try store.sync()
    var random = SeededGenerator(announcedFor: "aPowerFailureTakesATransactionBack")
    let losses = Guarded(SeededGenerator(seed: random.next()), .unranked)
    let images = Guarded<[SimulatedDisk]>([], .unranked)
    let disk = machine.disk
    plan.onCall { call in
      guard call.operation == .sync || call.operation == .write else { return }
      for policy in CrashPolicy.allCases {
        if let image = losses.withLock({ try? disk.crashImage(policy, using: &$0) }) {
          images.withLock { $0.append(image) }
        }
      }
    }
    for number in 0..<200 {
      try store.transaction(durability: number % 10 == 0 ? .synced : .buffered) { transaction in
        try Self.move(&transaction, &random)
      }
    }
    plan.onCall(nil)
    for image in images.withLock({ $0 }) {
      var after = Machine()
      after.disk = image
      let found = try after.open()
      #expect(try Self.total(of: found) == 100 * Self.accounts)
      try found.close()
    }
    #expect(images.withLock { $0.count } >= 20 * CrashPolicy.allCases.count / 2)
  }
}
