import Esker
import EskerTestSupport
import Foundation
import Testing

/// `check`: what could not be read with the types of today, without changing anything.
@Suite struct CheckTests {
  private struct Old: Codable, Sendable { var name: String }
  private struct User: Codable, Sendable, Equatable { var name: String, age: Int }
  private struct Own: Error, CustomStringConvertible { var description: String { "of its own" } }

  private static func key(_ number: Int) -> String { "user \(String(number + 1000).dropFirst())" }

  /// Users in the form of today, and one in ten in each of two forms that it does not read; some have expired.
  @discardableResult
  private func fill(_ store: LogStore, _ count: Int, named name: String = "users") throws -> Storage<String, User> {
    let users = try store.storage(name, of: User.self)
    let old = try users.transform(to: Transformer<Old>.binary)
    let texts = try users.transform(to: Transformer<[String: String]>.binary)
    for number in 0..<count {
      let key = Self.key(number)
      switch number % 10 {
      case 3: try old.set(Old(name: "of key \(number)"), forKey: key)
      case 6: try texts.set(["name": String(repeating: "x", count: number), "age": "many"], forKey: key)
      default: try users.set(User(name: "Anna", age: number), forKey: key)
      }
      let isOld = Expiry.at(WallTime(millisecondsSince1970: 1))
      if number % 10 == 0 { try old.set(Old(name: "gone"), forKey: "gone \(number)", expiry: isOld) }
    }
    return users
  }

  /// Few keys are found by their hashes, many by reading the log.
  @Test(arguments: [30, 700]) func failuresAreGroupedAndNamed(_ count: Int) throws {
    try withTemporaryStore { store in
      let users = try fill(store, count)
      try store.storage("others", of: String.self).set("no user", forKey: "a")
      let last = store.lastSequence
      let report = try users.check(samples: 2)
      #expect(store.lastSequence == last, "nothing is written")
      #expect(report.decoded == count / 10 * 8 && report.undecoded == count / 10 * 2 && report.damaged == 0)
      #expect(!report.isClean && report.others == 0)
      try #require(report.failures.count == 2)
      #expect(report.failures.map(\.count) == [count / 10, count / 10])
      let missing = try #require(report.failures.first { $0.reason.contains("there is no value for \"age\"") })
      let mistyped = try #require(report.failures.first { $0.reason.contains("not Int in age") })
      for (failure, rest) in [(missing, 3), (mistyped, 6)] {
        #expect(failure.reason.contains("User") && failure.reason.contains("cbor") && !failure.reason.contains("byte"))
        #expect(failure.samples.count == 2)
        for sample in failure.samples {
          let key = try #require(sample.key)
          #expect(sample.bytes == Array(key.utf8) && sample.description == key)
          #expect(try #require(Int(key.suffix(3))) % 10 == rest)
        }
        // What a read of the first one throws.
        let key = try #require(failure.samples.first?.key)
        let thrown = thrownError { try users.value(forKey: key) }
        #expect("\(failure.error)" == "\(thrown)")
      }
      let text = report.description
      #expect(text.hasPrefix("\(count / 10 * 8) entries can be read, \(count / 10 * 2) cannot, 0 damaged\n"))
      #expect(text.contains("\(count / 10) entries: \(missing.reason), such as user "))
    }
  }

  /// The error without the optional around it.
  private func thrownError<R>(_ body: () throws -> R) -> any Error { failure(of: body) ?? StorageError.cancelled }

  @Test func whatIsCleanIsSaidToBe() throws {
    try withTemporaryStore { store in
      let users = try store.storage("users", of: User.self)
      #expect(try users.check().isClean && users.check().decoded == 0)
      for number in 0..<12 { try users.set(User(name: "Anna", age: number), forKey: Self.key(number)) }
      let report = try users.check()
      #expect(report.isClean && report.decoded == 12 && report.failures.isEmpty)
      #expect(report.description == "12 entries can be read")
      // A migration counts as what it returns.
      let migrating = Transformer<User>.binary.versioned(2) { _, bytes in
        User(name: try Transformer<Old>.binary.decode(bytes).name, age: 0)
      }
      #expect(try users.transform(to: migrating).check().isClean)
      let refusing = try users.transform(to: Transformer<User>.binary.versioned(2)).check()
      #expect(refusing.undecoded == 12 && refusing.failures.count == 1)
      #expect(refusing.failures.first?.reason.contains("has version 0") == true)
      #expect(refusing.failures.first?.samples.count == 5)
    }
  }

  // MARK: Keys

  private enum Season: String, StorageKey, CaseIterable { case spring, summer }

  @Test func keysThatAreNoneAreNamedByTheirBytes() throws {
    try withTemporaryStore { store in
      let texts = try store.storage("seasons", of: Int.self)
      for season in ["spring", "winter", "autumn", "winter\u{1}"] { try texts.set(1, forKey: season) }
      let seasons: Storage<Season, Int> = try store.storage("seasons")
      let report = try seasons.check()
      #expect(report.decoded == 1 && report.undecoded == 3)
      #expect(report.failures.allSatisfy { $0.reason.hasPrefix("the key cannot be used") })
      let samples = report.failures.flatMap(\.samples)
      #expect(samples.allSatisfy { $0.key == nil && $0.bytes != nil })
      #expect(Set(samples.map(\.description)) == ["\"winter\"", "\"autumn\"", "0x77696e74657201"])
      guard case .key? = report.failures.first?.error else {
        Issue.record("\(report.failures)")
        return
      }
    }
  }

  // MARK: Bounds

  @Test func reasonsAndSamplesAreBounded() throws {
    try withTemporaryStore { store in
      let numbers = try store.storage("numbers", of: Int.self)
      for number in 0..<200 { try numbers.set(number, forKey: Self.key(number)) }
      struct Odd: Error, CustomStringConvertible { var description: String }
      let kinds = numbers.mapValues(to: Int.self) { number in
        // Those of one kind are seven times as many, and come late.
        throw Odd(description: number >= 150 ? "late" : "kind \(number % 40)")
      } from: {
        $0
      }
      let report = try kinds.check(samples: 3)
      #expect(report.decoded == 0 && report.undecoded == 200)
      #expect(report.failures.count == Report.Check<String>.mostFailures)
      #expect(report.others == 200 - report.failures.reduce(0) { $0 + $1.count } && report.others > 0)
      #expect(report.failures.allSatisfy { $0.samples.count <= 3 })
      let counts = report.failures.map(\.count)
      #expect(counts == counts.sorted(by: >))
      #expect(report.description.contains("for more reasons"))
      #expect(try kinds.check(samples: 0).failures.allSatisfy { $0.samples.isEmpty && $0.count > 0 })
    }
  }

  /// An error may quote the value: what is kept of it is short, and what differs from value to value is one reason.
  @Test func numbersAndPlacesMakeNoReasonsOfTheirOwn() throws {
    try withTemporaryStore { store in
      let lists = try store.storage("lists", of: [Int].self)
      for number in 0..<50 {
        try lists.set([Int](repeating: 1, count: number % 7) + [300 + number], forKey: Self.key(number))
      }
      let report = try lists.transform(to: Transformer<[Int8]>.binary).check()
      #expect(report.failures.map(\.count) == [50])
      #expect(report.failures.first?.reason.contains("The number N does not fit in Int8") == true)
      struct Long: Error, CustomStringConvertible { var description: String { String(repeating: "x", count: 5000) } }
      let long = lists.mapValues(to: Int.self) { _ in
        throw Long()
      } from: {
        [$0]
      }
      #expect(try long.check().failures.map(\.reason.count).allSatisfy { $0 < 400 })
    }
  }

  // MARK: Damage

  @Test func damageIsCountedApart() throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try LogStore(at: path)
    let users = try store.storage("users", of: User.self)
    let old = try users.transform(to: Transformer<Old>.binary)
    try users.set(User(name: "Anna", age: 1), forKey: "anna")
    try users.set(User(name: "The damaged one", age: 2), forKey: "bert")
    try old.set(Old(name: "Cleo"), forKey: "cleo")
    try store.close()
    let files = try FileManager.default.contentsOfDirectory(atPath: path)
    let segment = URL(filePath: "\(path)/\(try #require(files.first { $0.hasSuffix(".segment") }))")
    var bytes = try Data(contentsOf: segment)
    let place = try #require(bytes.range(of: Data("The damaged one".utf8)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: segment)
    let reader = try LogStore(at: path, options: Options(readOnly: true))
    let report = try reader.storage("users", of: User.self).check()
    #expect(report.decoded == 1 && report.undecoded == 1 && report.damaged == 1 && !report.isClean)
    #expect(report.failures.map { $0.samples.map(\.key) } == [["cleo"]])
    guard case .damaged? = report.damage.first else {
      Issue.record("\(report.damage)")
      return
    }
    try reader.close()
  }

  // MARK: Compositions

  private func undecoded(_ storage: some ReadableStorage) throws -> Int { try storage.check().undecoded }

  @Test func everyViewOfALogIsChecked() throws {
    try withTemporaryStore { store in
      let users = try fill(store, 30)
      let log = try LogStorage(store, "users", key: String.self, of: User.self)
      let front = try store.storage("users", of: User.self, memory: MemoryLimits(count: 100))
      _ = try front.entries(skippingUnreadable: true)
      _ = try front.value(forKey: Self.key(1))
      let before = front.statistics
      #expect(try undecoded(front) == 6, "what is in the log, whatever memory has")
      #expect(front.statistics == before)
      #expect(try undecoded(log) == 6 && undecoded(PartialStorage(log)) == 6 && undecoded(PartialStorage(users)) == 6)
      #expect(try undecoded(Storage(HybridStorage(log))) == 6 && undecoded(users.readOnly()) == 6)
      #expect(try undecoded(users.tap { _ in }.defaulting(to: User(name: "", age: 0))) == 6)
      let memory = MemoryStorage<String, User>()
      #expect(try undecoded(memory.combined(with: log)) == 6)
      #expect(try undecoded(PartialStorage(memory.combined(with: log))) == 6)
      #expect(try undecoded(log.backed(by: memory)) == 6 && undecoded(log.fallback(with: memory)) == 6)
      #expect(try undecoded(log.combined(with: memory, setStrategy: .frontOnly)) == 6)
      let renamed = try users.renaming(to: "people").check()
      #expect(renamed.failures.allSatisfy { "\($0.error)".hasPrefix("people: ") })

      // Steps of the program's own fail too.
      let ages = users.mapValues(to: Int.self) { user in
        if user.age == 5 { throw Own() }
        return user.age
      } from: {
        User(name: "", age: $0)
      }
      let report = try ages.check()
      #expect(report.decoded == 23 && report.undecoded == 7)
      let own = try #require(report.failures.first { $0.reason.contains("of its own") })
      #expect(own.count == 1 && own.samples.map(\.key) == [Self.key(5)])
      #expect(own.samples.first?.bytes == Array(Self.key(5).utf8))
      let valid = try users.validate { $0.age > 1 }.check()
      #expect(valid.undecoded == 8 && valid.failures.last?.count == 2)
      #expect(valid.failures.last?.reason.hasPrefix("the value was rejected") == true)
      let numbered = users.mapKeys(to: Int.self) {
        Self.key($0)
      } back: { key in
        guard let number = Int(key.suffix(3)), number != 8 else { throw Own() }
        return number
      }
      let keys = try numbered.check()
      #expect(keys.decoded == 23 && keys.failures.contains { $0.samples.map(\.key) == [3, 13, 23] })
      #expect(keys.failures.contains { $0.count == 1 && $0.samples.map(\.key) == [nil] })
    }
  }

  @Test func whatIsNoLogIsListedOrRefused() throws {
    let memory = MemoryStorage<String, Int>()
    try memory.set(1, forKey: "a")
    #expect(try memory.check().decoded == 1 && Storage(memory).check().isClean)
    let failing = memory.mapValues(to: Int.self) { _ in
      throw Own()
    } from: {
      $0
    }
    let report = try failing.check()
    let sample = try #require(report.failures.first?.samples.first)
    #expect(report.undecoded == 1 && sample.key == "a" && sample.bytes == nil)
    #expect(try DictionaryStorage(["a": 1, "b": 2]).check().decoded == 2)
    let custom = CustomStorage<String, Int>(name: "custom") { _ in
      nil
    } set: { _, _ in
    }
    let one = memory.singleKey("a")
    let errors = [
      failure(of: { try custom.check() }), failure(of: { try one.check() }),
      failure(of: { try PartialStorage(one).check() }),
    ]
    for error in errors {
      guard case .unsupported? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  // MARK: One instant, progress and cancellation

  @Test(arguments: [30, 700]) func showsOneInstantWhileOthersWrite(_ count: Int) throws {
    try withTemporaryStore { store in
      let users = try fill(store, count)
      var isFirst = true
      let report = try users.check { _ in
        if isFirst {
          isFirst = false
          try? users.removeAll()
          try? users.set(User(name: "New", age: 1), forKey: "new")
        }
        return true
      }
      #expect(report.decoded == count / 10 * 8 && report.undecoded == count / 10 * 2)
      #expect(try users.check().decoded == 1)
    }
  }

  @Test(arguments: [30, 700]) func progressGoesUpAndStops(_ count: Int) throws {
    try withTemporaryStore { store in
      let users = try fill(store, count)
      var shares: [Double] = []
      _ = try users.check {
        shares.append($0)
        return true
      }
      #expect(shares == shares.sorted() && shares.first == 0 && shares.last == 1)
      #expect(count < 100 || shares.count > 5)
      for end in [0, shares.count / 2] {
        var calls = 0
        let error = failure(of: {
          try users.check { _ in
            calls += 1
            return calls <= end
          }
        })
        guard case .cancelled? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(calls == end + 1)
      }
    }
  }

  /// Where a keyspace is found by reading the log, it may be a small part of it.
  @Test func progressIsToldWhileOthersEntriesArePassed() throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try LogStore(at: path, options: Options(segmentSize: 64 << 10))
    let space = try store.keyspace("others")
    for number in 0..<1000 { try space.put([UInt8](repeating: 7, count: 1000), forKey: "\(number)") }
    let values = Transformer<Int>.littleEndian
    let numbers = try LogStorage(keyspace: store.default, keys: String.keyTransformer, values: values)
    var shares: [Double] = []
    let report = try numbers.check {
      shares.append($0)
      return true
    }
    #expect(report.isClean && report.decoded == 0)
    #expect(shares.count > 10 && shares == shares.sorted())
    try store.close()
    guard case .store(.closed)? = failure(of: { try numbers.check() }) else {
      Issue.record("a closed store was checked")
      return
    }
  }

  @Test func tasksCancelIt() async throws {
    try await withTemporaryStore { store in
      let users = try fill(store, 700)
      #expect(try await users.async.check().undecoded == 140)
      #expect(try await users.async.check(samples: 1) { $0 <= 1 }.failures.allSatisfy { $0.samples.count == 1 })
      // A call on a thread looks whether its task is cancelled.
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try users.check()
      }
      task.cancel()
      guard case .failure(StorageError.cancelled) = await task.result else {
        Issue.record("a cancelled task has checked")
        return
      }
    }
  }

  /// What the twin for tasks is told of a cancellation reaches the thread that checks.
  @Test func cancellationReachesTheThread() async throws {
    try await withTemporaryStore { store in
      let users = try fill(store, 700)
      let began = DispatchSemaphore(value: 0)
      let goOn = DispatchSemaphore(value: 0)
      let shares = Collected<Double>()
      let task = Task {
        try await users.async.check { share in
          shares.add(share)
          if share == 0 {
            began.signal()
            goOn.wait()
          }
          return true
        }
      }
      await withCheckedContinuation { done in
        DispatchQueue.global().async {
          began.wait()
          done.resume()
        }
      }
      task.cancel()
      goOn.signal()
      await #expect(throws: StorageError.self) { _ = try await task.value }
      #expect((shares.all.max() ?? 1) < 1)
    }
  }

  // MARK: A copy

  /// A new version of a program is tried on a copy, and the store is none the wiser.
  @Test func copyIsCheckedReadOnly() throws {
    try withTemporaryStore { store in
      try fill(store, 30)
      let copy = temporaryPath()
      defer { try? FileManager.default.removeItem(atPath: copy) }
      try store.backup(to: copy)
      let files = { try FileManager.default.contentsOfDirectory(atPath: copy).sorted() }
      let before = try files()
      let reader = try LogStore(at: copy, options: Options(readOnly: true))
      let report = try reader.storage("users", of: User.self).check()
      #expect(report.undecoded == 6 && report.decoded == 24)
      try reader.close()
      #expect(try files() == before)
    }
  }
}
