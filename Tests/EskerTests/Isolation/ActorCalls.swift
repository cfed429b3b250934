import Esker
import EskerTestSupport
import Testing

/// Each suspending function, called with what is an actor's own: that this compiles is most of the test.
///
/// `MainActorCalls` has the same of the main actor.
actor ActorCalls {
  private let store: LogStore
  private let space: Keyspace
  private let scores: Storage<String, Int>
  private let lists: Storage<String, [Int]>
  private let single: Composed<Storage<String, Int>, StorageStep.MapKeys<String, Void, Int>>
  private var calls = Tally()
  private let name = Name("a")
  private let names = [Name("a"), Name("b")]

  init(_ store: LogStore) throws {
    self.store = store
    space = try store.keyspace("bytes")
    scores = try store.storage("scores")
    lists = try store.storage("lists")
    single = scores.singleKey("single")
  }

  func readBytes() async throws {
    try await space.async.put(name, forKey: name)
    #expect(try await space.async.get(name) == name.bytes)
    #expect(try await space.async.get(names) == [name.bytes, nil])
    #expect(try await space.async.get(name, extendingBy: .seconds(1)) == name.bytes)
    #expect(try await space.async.contains(name))
    #expect(try await space.async.metadata(forKey: name)?.length == 1)
    var changes = store.changes(since: SequenceNumber(rawValue: 0)).makeAsyncIterator()
    #expect(try await changes.next() != nil)
    var batches = store.changes(since: SequenceNumber(rawValue: 0)).batches.makeAsyncIterator()
    #expect(try await batches.next() != nil)
  }

  func writeBytes() async throws {
    let version = try await space.async.putIfAbsent(name, forKey: name)
    _ = try await space.async.compareAndSet(name, forKey: name, ifVersion: version)
    _ = try await space.async.compareAndSet(name, forKey: name, ifValue: name.bytes)
    try await space.async.append(name, toKey: name)
    try await space.async.touch(name, expiry: .after(.seconds(3600)))
    try await space.async.persist(name)
    let own = try await space.async.update(forKey: name) { _ in
      calls.count += 1
      return .put(name.bytes)
    }
    try await space.async.update(forKey: name) { (_) throws(StoreError) in
      calls.count += 1
      return .remove
    }
    #expect(try await space.async.remove(name, ifVersion: #require(own)) == false)
    #expect(try await space.async.remove(name) == false)
    #expect(try await space.async.increment(name) == 1)
    #expect(calls.count == 2)
  }

  func writeMuch() async throws {
    let tally = try await store.async.write(durability: .synced) { batch in
      try batch.set(1, forKey: "a", in: scores)
      try batch.put(name.bytes, forKey: name.bytes, in: space)
      calls.count += 1
      return calls
    }
    try await space.async.write { (batch) throws(StoreError) in
      try batch.put(name.bytes, forKey: name.bytes, in: space)
      calls.count += 1
    }
    #expect(tally.count == 2)
    try await store.async.sync()
    try await store.async.waitDurable(store.lastSequence)
    #expect(try await space.async.removeExpired() == 0)
    #expect(try await store.async.removeAllExpired() == 0)
    try await space.async.removeAll()
    #expect(try await store.async.removeKeyspace("bytes"))
  }

  func readValues() async throws {
    try await scores.async.set(1, forKey: "a")
    #expect(try await scores.async.value(forKey: "a") == 1)
    #expect(try await scores.async.value(forKey: "a", extendingBy: .seconds(1)) == 1)
    #expect(try await scores.async.values(forKeys: ["a", "b"]) == [1, nil])
    #expect(try await scores.async.entry(forKey: "a", allowExpired: true)?.value == 1)
    #expect(try await scores.async.isExpired(forKey: "a") == false)
    #expect(try await scores.async.contains("a"))
    #expect(try await scores.async.keys() == ["a"])
    #expect(try await scores.async.values() == [1])
    #expect(try await scores.async.entries().count == 1)
    #expect(try await scores.async.count() == 1)
    #expect(try await scores.async.check { $0 <= 1 }.isClean)
    let reading = scores.readOnly()
    #expect(try await reading.async.entry(forKey: "a")?.value == 1)
    #expect(try await reading.async.value(forKey: "a") == 1)
    #expect(try await reading.async.values(forKeys: ["a"]) == [1])
    #expect(try await reading.async.contains("a"))
    let made = calls.count
    #expect(try await scores.async.value(forKey: "b") { made + 7 } == 7)
    let production = StorageRequest.Production(lifetime: .seconds(60))
    #expect(try await scores.async.value(forKey: "c", production) { 8 } == 8)
    var changes = try scores.changes().makeAsyncIterator()
    var batches = try scores.batches().makeAsyncIterator()
    try await scores.async.set(2, forKey: "a")
    #expect(await changes.next(isolation: #isolation) != nil)
    #expect(await batches.next(isolation: #isolation) != nil)
  }

  func writeValues() async throws {
    #expect(try await scores.async.setIfAbsent(1, forKey: "a"))
    let version = try await scores.async.entry(forKey: "a")?.version
    let next = try await scores.async.compareAndSet(2, forKey: "a", ifVersion: version)
    #expect(try await scores.async.touch("a", expiry: .after(.seconds(3600))))
    #expect(try await scores.async.persist("a"))
    #expect(try await scores.async.increment("a") == 3)
    #expect(try await scores.async.removeValue(forKey: "a", ifVersion: #require(next)) == false)
    try await lists.async.append([1], toKey: "a")
    let tally = try await scores.async.update(forKey: "a") { value in
      calls.count += 1
      value = calls.count
      return calls
    }
    try await scores.async.update(forKey: "a") { (value) throws(StorageError) in value = calls.count + 1 }
    try await scores.async.update(forKey: "a", default: calls.count) { $0 += calls.count }
    try await scores.async.update(forKey: "a", default: calls.count) { (value) throws(StorageError) in
      value += calls.count
    }
    #expect(tally.count == 1)
    #expect(try await scores.async.value(forKey: "a") == 4)
    #expect(try await scores.async.removeValue(forKey: "a"))
    #expect(try await scores.async.removeExpired() == 0)
    try await scores.async.removeAll()
  }

  func useOneKey() async throws {
    try await single.async.set(1)
    #expect(try await single.async.value() == 1)
    #expect(try await single.async.entry()?.value == 1)
    #expect(try await single.readOnly().async.entry()?.value == 1)
    try await single.async.update { $0 = calls.count }
    try await single.async.update { (value) throws(StorageError) in value = calls.count }
    #expect(try await single.async.removeValue())
  }

  func useMaps() async throws {
    let texts = scores.async.mapValues {
      "\($0)"
    } from: {
      Int($0) ?? 0
    }
    try await texts.set("5", forKey: "a")
    #expect(try await texts.value(forKey: "a") == "5")
    #expect(try await texts.entry(forKey: "a")?.value == "5")
    #expect(try await texts.contains("a"))
    #expect(try await texts.mapKeys { (key: Int) in "\(key)" }.removeValue(forKey: 1) == false)
  }
}
