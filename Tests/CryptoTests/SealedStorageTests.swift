import Esker
import EskerCrypto
import EskerTestSupport
import Foundation
import Synchronization
import Testing

/// Whatever a storage can do, a sealed one can.
@Suite struct SealedStorageTests {
  private struct Letter: Codable, Hashable, Sendable {
    var to: String
    var text: String
  }

  private let keys: KeyRing

  init() throws { keys = try KeyRing(id: 1) }

  private func letters(_ store: LogStore, memory: MemoryLimits? = nil) throws -> Storage<String, Letter> {
    try store.storage("letters", transformer: Transformer<Letter>.binary.sealed(with: keys), memory: memory)
  }

  private let anna = Letter(to: "anna", text: "one")
  private let bert = Letter(to: "bert", text: "two")

  @Test func readsAndWrites() throws {
    try withStore { store in
      let letters = try letters(store)
      try letters.set(anna, forKey: "a", expiry: .after(.seconds(1000)))
      #expect(try letters.entry(forKey: "a")?.value == anna)
      #expect(try letters.setIfAbsent(bert, forKey: "a") == false)
      #expect(try letters.setIfAbsent(bert, forKey: "b"))
      #expect(try letters.read(several: ["b", "c", "a"], .init()).map { $0?.value } == [bert, nil, anna])
      let version = try #require(try letters.entry(forKey: "b")?.version)
      #expect(try letters.compareAndSet(anna, forKey: "b", ifVersion: version) != nil)
      #expect(try letters.compareAndSet(bert, forKey: "b", ifVersion: version) == nil)
      try letters.update(forKey: "b") { $0?.text = "three" }
      #expect(try letters.value(forKey: "b")?.text == "three")
      #expect(try letters.touch("b", expiry: .after(.seconds(50))))
      #expect(try letters.value(forKey: "b", extendingBy: .seconds(100))?.text == "three")
      #expect(try Set(letters.values()) == [anna, Letter(to: "anna", text: "three")])
      #expect(try letters.check().isClean)
      #expect(try letters.removeValue(forKey: "a"))
      // Expired, but still there.
      try letters.set(anna, forKey: "e", expiry: .at(WallTime(millisecondsSince1970: 1)))
      #expect(try letters.value(forKey: "e") == nil)
      var stale = StorageRequest.Read()
      stale.allowsExpired = true
      #expect(try letters.read("e", stale)?.value == anna)
    }
  }

  @Test func batchesAndTransactions() throws {
    try withStore { store in
      let letters = try letters(store)
      let counts = try store.storage("counts", transformer: Transformer<Int>.littleEndian.sealed(with: keys))
      try store.write { batch in
        try batch.set(anna, forKey: "a", in: letters)
        try batch.set(1, forKey: "a", in: counts)
      }
      try store.transaction { transaction in
        let known = try transaction.value(forKey: "a", in: letters)
        #expect(known == anna)
        try transaction.set(bert, forKey: "a", in: letters)
        #expect(try transaction.value(forKey: "a", in: letters) == bert)
        try transaction.set(try transaction.value(forKey: "a", in: counts).map { $0 + 1 } ?? 0, forKey: "a", in: counts)
      }
      #expect(try letters.value(forKey: "a") == bert)
      #expect(try counts.value(forKey: "a") == 2)
      // Sealed in the batch, too.
      #expect(keyID(try store.keyspace("letters").get("a")) == 1)
    }
  }

  @Test func ranges() throws {
    try withStore { store in
      let letters = try letters(store)
      for number in 0..<600 { try letters.set(Letter(to: "\(number)", text: ""), forKey: "k\(1000 + number)") }
      let found = try letters.entries(in: .from("k1100").upTo("k1500"))
      #expect(found.map { $0.entry.value.to } == (100..<500).map { "\($0)" })
      #expect(try letters.last()?.entry.value.to == "599")
    }
  }

  @Test func fronts() throws {
    try withStore { store in
      let front = try letters(store, memory: MemoryLimits(count: 100))
      let log = try letters(store)
      try front.set(anna, forKey: "a")
      #expect(try front.value(forKey: "a") == anna)
      try log.set(bert, forKey: "a")
      #expect(try front.value(forKey: "a") == bert)
      // From memory: what is behind cannot be read any more.
      let others = try store.storage(
        "letters",
        transformer: Transformer<Letter>.binary.sealed(with: try KeyRing(id: 9)),
        memory: MemoryLimits(count: 100)
      )
      #expect(try front.value(forKey: "a") == bert)
      #expect(throws: StorageError.self) { try others.value(forKey: "a") }
    }
  }

  @Test func observers() throws {
    try withStore { store in
      let letters = try letters(store)
      let heard = Mutex<[StorageChange<String, Letter>]>([])
      let plain = Mutex<[StorageChange<String, [UInt8]>]>([])
      let token = try letters.observe { change in heard.withLock { $0.append(change) } }
      let other = try letters.transform(to: .bytes).observe { change in plain.withLock { $0.append(change) } }
      try letters.set(anna, forKey: "a")
      try letters.set(bert, forKey: "a")
      try store.write { batch in try batch.set(anna, forKey: "b", in: letters) }
      try letters.removeValue(forKey: "a")
      #expect(eventually { heard.withLock { $0.count } == 4 && plain.withLock { $0.count } == 4 })
      let expected: [StorageChange<String, Letter>] = [
        .set(key: "a", before: nil, after: anna), .set(key: "a", before: anna, after: bert),
        .set(key: "b", before: nil, after: anna), .removed(key: "a", before: bert),
      ]
      #expect(heard.withLock { $0 } == expected)
      if case .set(_, _, let bytes) = plain.withLock({ $0[0] }) { #expect(keyID(bytes) == 1) }
      // What cannot be opened is told as such.
      try store.keyspace("letters").put([1, 2, 3], forKey: "c")
      #expect(eventually { heard.withLock { $0.count } == 5 })
      guard case .unreadable(key: "c", .decoding(_, _, _, let error)) = heard.withLock({ $0[4] }) else {
        Issue.record("\(heard.withLock { $0[4] })")
        return
      }
      #expect(error as? SealingError == .notSealed)
      token.cancel()
      other.cancel()
    }
  }

  @Test func versionsAndMigrations() throws {
    try withStore { store in
      let old = try store.storage("users", transformer: Transformer<Int>.json.versioned(1).sealed(with: keys))
      try old.set(42, forKey: "a")
      let form = Transformer<String>.json.versioned(2) { version, bytes in
        "\(version): \(try Transformer<Int>.json.decode(bytes))"
      }
      let new = try store.storage("users", transformer: form.sealed(with: keys))
      #expect(try new.value(forKey: "a") == "1: 42")
      try new.update(forKey: "a") { _ in }
      #expect(
        try old.transform(to: Transformer<String>.json.versioned(2).sealed(with: keys)).value(forKey: "a") == "1: 42"
      )
      // What other type they are shown as is up to steps behind.
      let shouting = form.sealed(with: keys).map(id: "shouting", to: { $0 + "!" }, from: { String($0.dropLast()) })
      #expect(try new.transform(to: shouting).value(forKey: "a") == "1: 42!")
      try new.transform(to: shouting).set("so!", forKey: "b")
      #expect(try new.value(forKey: "b") == "so")
    }
  }

  @Test func properties() throws {
    try withStore { store in
      let settings = try store.storage("settings", transformer: Transformer<Int>.littleEndian.sealed(with: keys))
      @Stored("launches", in: settings) var launches = 0
      launches += 1
      launches += 1
      #expect(launches == 2)
      #expect(keyID(try store.keyspace("settings").get("launches")) == 1)
    }
  }

  @Test func tasks() async throws {
    let directory = try TemporaryDirectory()
    let store = try LogStore(at: directory.appending("store"))
    let letters = try letters(store)
    try await letters.async.set(anna, forKey: "a", durability: .synced)
    #expect(try await letters.async.value(forKey: "a") == anna)
    try await letters.async.update(forKey: "a") { $0?.text = "x" }
    #expect(try await letters.async.value(forKey: "a")?.text == "x")
    try store.close()
    let again = try LogStore(at: directory.appending("store"))
    #expect(try self.letters(again).value(forKey: "a")?.text == "x")
    try again.close()
  }

  @Test func checkTellsWhichValuesNoKeyOpens() throws {
    try withStore { store in
      let letters = try letters(store)
      for number in 0..<10 { try letters.set(anna, forKey: "\(number)") }
      try keys.rotate(to: .random(id: 2))
      for number in 10..<15 { try letters.set(anna, forKey: "\(number)") }
      try keys.remove(id: 1)
      let report = try letters.check()
      #expect(report.decoded == 5 && report.undecoded == 10)
      #expect(report.failures.count == 1)
      #expect(report.failures[0].reason.contains("it was sealed with key 1, which is not in the ring of keys"))
    }
  }

  /// A marker that is looked for in the bytes of all files, and found where nothing is sealed.
  @Test(arguments: [true, false]) func nothingOfAValueIsInTheFiles(_ isSealed: Bool) throws {
    let marker = "WOLPERTINGER"
    let directory = try TemporaryDirectory()
    let path = directory.appending("store")
    var options = Options()
    options.compression = .none
    let plain = Transformer<String>.utf8
    let form = isSealed ? plain.sealed(with: keys) : plain
    let store = try LogStore(at: path, options: options)
    let texts = try store.storage("texts", transformer: form, memory: MemoryLimits(count: 10))
    for number in 0..<2000 { try texts.set("\(marker) \(number) \(marker)", forKey: "\(number % 500)") }
    try store.write { batch in
      for number in 0..<50 { try batch.set("\(marker) \(number)", forKey: "b\(number)", in: texts) }
    }
    try store.transaction { transaction in try transaction.set("\(marker)!", forKey: "t", in: texts) }
    try texts.update(forKey: "t") { $0 = ($0 ?? "") + marker }
    try store.merge()
    for number in 0..<100 { try texts.removeValue(forKey: "\(number)") }
    try store.backup(to: directory.appending("backup"))
    try store.close()
    var found = 0
    var files = 0
    for name in try #require(FileManager.default.enumerator(atPath: directory.path)?.allObjects as? [String]) {
      guard let bytes = FileManager.default.contents(atPath: directory.appending(name)) else { continue }
      files += 1
      if bytes.range(of: Data(marker.utf8)) != nil { found += 1 }
    }
    #expect(files > 4)
    #expect((found > 0) == !isSealed)
  }
}
