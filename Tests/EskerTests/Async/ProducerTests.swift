import EskerTestSupport
import Foundation
import Testing

@testable import Esker

@Suite struct ProducerTests {
  private struct Broken: Error {}

  /// Suspends until it is opened.
  private actor Gate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var arrived = 0

    func pass() async {
      arrived += 1
      if !isOpen { await withCheckedContinuation { waiters.append($0) } }
    }

    func open() {
      isOpen = true
      for waiter in waiters { waiter.resume() }
      waiters = []
    }

    func wait(for count: Int) async {
      while arrived < count { await Task.yield() }
    }
  }

  @Test func oneProducerRunsHoweverManyWait() async throws {
    try await withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let again = try store.storage("scores", of: Int.self)
      let runs = Collected<Int>()
      let values = await withTaskGroup(of: Int?.self) { group in
        for number in 0..<500 {
          group.addTask {
            try? await (number % 2 == 0 ? scores : again).async.value(forKey: "a", expiry: .after(.seconds(86_400))) {
              runs.add(number)
              try await Task.sleep(for: .milliseconds(5))
              return 42
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(values == Array(repeating: 42, count: 500))
      #expect(runs.count == 1)
      let entry = try #require(try scores.entry(forKey: "a"))
      #expect(entry.value == 42 && entry.expiry != .never)
    }
  }

  /// Two keys to the log, which Swift holds for equal.
  @Test func keysOfOtherSpellingsAreProducedEachForItself() async throws {
    try await withTemporaryStore { store in
      let names = try store.storage("names", of: String.self)
      let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
      let gate = Gate()
      async let first = names.async.value(forKey: composed) {
        await gate.pass()
        return "composed"
      }
      await gate.wait(for: 1)
      // The other producer is under way.
      #expect(try await names.async.value(forKey: decomposed) { "decomposed" } == "decomposed")
      await gate.open()
      #expect(try await first == "composed")
      #expect(try names.value(forKey: composed) == "composed" && names.value(forKey: decomposed) == "decomposed")
      #expect(try names.count() == 2)
    }
  }

  @Test func failureIsToldToAllAndTheNextTriesAgain() async throws {
    let storage = DictionaryStorage<String, Int>()
    let gate = Gate()
    let tasks = (0..<10).map { _ in
      Task {
        try await storage.async.value(forKey: "a") {
          await gate.pass()
          throw Broken()
        }
      }
    }
    try await wait(for: 10, of: storage)
    await gate.open()
    for task in tasks {
      do {
        _ = try await task.value
        Issue.record("nothing was thrown")
      } catch let error as StorageError {
        guard case .producer(let underlying) = error, underlying is Broken else {
          Issue.record("\(error)")
          continue
        }
      }
    }
    #expect(await gate.arrived == 1)
    #expect(try await storage.async.value(forKey: "a") { 3 } == 3)
    #expect(storage.all == ["a": 3])
  }

  @Test func producerGoesOnForTheOthersWhenTheFirstIsCancelled() async throws {
    let storage = DictionaryStorage<String, Int>()
    let gate = Gate()
    let first = Task {
      try await storage.async.value(forKey: "a") {
        await gate.pass()
        return Task.isCancelled ? -1 : 1
      }
    }
    await gate.wait(for: 1)
    let second = Task { try await storage.async.value(forKey: "a") { 2 } }
    let key = FlightKey(identity: try storage.identity(of: "a"), value: ObjectIdentifier(Int.self))
    while FlightTable.shared.waiterCount(for: key) < 2 { await Task.yield() }
    first.cancel()
    await #expect(throws: StorageError.self) { try await first.value }
    await gate.open()
    #expect(try await second.value == 1)
    #expect(storage.all == ["a": 1])
  }

  /// Says when nothing is left that holds it.
  private final class Token: Sendable {
    private let atEnd: @Sendable () -> Void

    init(_ atEnd: @escaping @Sendable () -> Void) {
      self.atEnd = atEnd
    }

    deinit { atEnd() }
  }

  @Test func producerNobodyWaitsForIsCancelledAndItsValueNotStored() async throws {
    let storage = DictionaryStorage<String, Int>()
    let gate = Gate()
    let wasCancelled = Collected<Bool>()
    let hasEnded = Collected<Bool>()
    // Held by the producer, and so by the task that runs it and stores what it gives.
    var token: Token? = Token { hasEnded.add(true) }
    let only = Task { [token] in
      try await storage.async.value(forKey: "a") {
        await gate.pass()
        withExtendedLifetime(token) { wasCancelled.add(Task.isCancelled) }
        return 1
      }
    }
    token = nil
    await gate.wait(for: 1)
    only.cancel()
    await #expect(throws: StorageError.self) { try await only.value }
    // Whoever comes now begins anew.
    #expect(try await storage.async.value(forKey: "a") { 2 } == 2)
    await gate.open()
    let isOver = try await eventually { hasEnded.count == 1 }
    #expect(isOver)
    #expect(wasCancelled.all == [true])
    #expect(storage.all == ["a": 2])
  }

  @Test func producerMayUseTheStorage() async throws {
    let storage = DictionaryStorage<String, Int>()
    let value = try await storage.async.value(forKey: "a") {
      try storage.set(1, forKey: "b")
      let other = try await storage.async.value(forKey: "c") { 20 }
      return try (storage.value(forKey: "b") ?? 0) + other
    }
    #expect(value == 21)
    #expect(storage.all == ["a": 21, "b": 1, "c": 20])
  }

  @Test func producerThatWaitsForItselfIsAnError() async throws {
    let storage = DictionaryStorage<String, Int>()
    for path in [["a"], ["b", "a"], ["b", "c", "a"]] {
      @Sendable func ask(_ rest: [String]) async throws -> Int {
        guard let next = rest.first else { return 0 }
        return try await storage.async.value(forKey: next) { try await ask(Array(rest.dropFirst())) }
      }
      let error = await #expect(throws: StorageError.self) {
        try await storage.async.value(forKey: "a") { try await ask(path) }
      }
      #expect(error.map { "\($0)" }?.contains("is waiting for the value that it should produce itself") == true)
    }
    #expect(storage.all.isEmpty)
  }

  @Test func producersThatWaitForEachOtherAreAnError() async throws {
    let storage = DictionaryStorage<String, Int>()
    let gate = Gate()
    @Sendable func ask(_ key: String, _ other: String) async throws -> Int {
      try await storage.async.value(forKey: key) {
        await gate.pass()
        return try await storage.async.value(forKey: other) { 1 }
      }
    }
    async let first = ask("a", "b")
    async let second = ask("b", "a")
    await gate.wait(for: 2)
    await gate.open()
    let outcomes = [try? await first, try? await second]
    // One was refused, and took the one that waited for it along.
    #expect(outcomes == [nil, nil])
  }

  @Test func valueThatCannotBeStoredIsAnErrorForAll() async throws {
    let storage = DictionaryStorage<String, Int>()
    storage.refuse(writes: true)
    let gate = Gate()
    let tasks = (0..<3).map { _ in
      Task {
        try await storage.async.value(forKey: "a") {
          await gate.pass()
          return 1
        }
      }
    }
    try await wait(for: 3, of: storage)
    await gate.open()
    for task in tasks {
      guard case .failure(StorageError.back(name: "dictionary", _)) = await task.result else {
        Issue.record("another outcome")
        return
      }
    }
    #expect(await gate.arrived == 1)
    #expect(storage.all.isEmpty)
  }

  /// Waits until that many tasks wait for the value under "a".
  private func wait(for count: Int, of storage: DictionaryStorage<String, Int>) async throws {
    let key = FlightKey(identity: try storage.identity(of: "a"), value: ObjectIdentifier(Int.self))
    while FlightTable.shared.waiterCount(for: key) < count { await Task.yield() }
  }

  @Test func valueWrittenWhileOneIsProducedStays() async throws {
    let storage = DictionaryStorage<String, Int>()
    let value = try await storage.async.value(forKey: "a") {
      try storage.set(5, forKey: "a")
      return 1
    }
    #expect(value == 5 && storage.all == ["a": 5])
    // Also where memory ahead says that there is none.
    let cached = storage.cached(remembersAbsence: true)
    #expect(try cached.value(forKey: "b") == nil)
    try storage.set(6, forKey: "b")
    #expect(try await cached.async.value(forKey: "b") { 1 } == 6)
    // A pair cannot be written on a condition; the last one stays.
    let pairs = zip(storage, DictionaryStorage<String, Int>())
    #expect(try await pairs.async.value(forKey: "c") { (1, 2) } == (1, 2))
  }

  @Test func viewThatChecksValuesDoesNotGetThoseOfOneThatDoesNot() async throws {
    let storage = DictionaryStorage<String, Int>()
    let gate = Gate()
    let plain = Task {
      try await storage.async.value(forKey: "a") {
        await gate.pass()
        return -1
      }
    }
    await gate.wait(for: 1)
    let checked = storage.validate { $0 > 0 }
    let started = Collected<Bool>()
    let strict = Task {
      try await checked.async.value(forKey: "a") {
        started.add(true)
        return 1
      }
    }
    let key = FlightKey(identity: try storage.identity(of: "a"), value: ObjectIdentifier(Int.self))
    while started.count == 0, FlightTable.shared.waiterCount(for: key) < 2 { await Task.yield() }
    #expect(started.count == 1)
    await gate.open()
    #expect(try await strict.value == 1)
    // Whichever of the two was first to be stored.
    #expect(try await plain.value == storage.all["a"])
  }
}
