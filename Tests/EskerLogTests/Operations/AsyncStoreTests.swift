import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// The operations for tasks do what the others do, and wait for the durability asked for.
@Suite struct AsyncStoreTests {
  /// An operation in both forms; each says what it returned.
  private struct Pair: Sendable {
    var name: String
    var call: @Sendable (Keyspace, Durability?) throws -> String
    var twin: @Sendable (Keyspace.Async, Durability?) async throws -> String
  }

  private static let version = SequenceNumber(rawValue: 1)

  private static let pairs: [Pair] = [
    Pair(name: "compareAndSet by version") {
      "\(try $0.compareAndSet("new", forKey: "k", ifVersion: version, durability: $1) as Any)"
    } twin: {
      "\(try await $0.compareAndSet("new", forKey: "k", ifVersion: version, durability: $1) as Any)"
    },
    Pair(name: "compareAndSet by another version") {
      "\(try $0.compareAndSet("new", forKey: "k", ifVersion: nil, durability: $1) as Any)"
    } twin: {
      "\(try await $0.compareAndSet("new", forKey: "k", ifVersion: nil, durability: $1) as Any)"
    },
    Pair(name: "compareAndSet by value") {
      "\(try $0.compareAndSet("w", forKey: "k", ifValue: bytes("12345678"), expiry: .after(.seconds(9)), durability: $1) as Any)"
    } twin: {
      "\(try await $0.compareAndSet("w", forKey: "k", ifValue: bytes("12345678"), expiry: .after(.seconds(9)), durability: $1) as Any)"
    },
    Pair(name: "compareAndSet by another value") {
      "\(try $0.compareAndSet("new", forKey: "k", ifValue: bytes("x"), durability: $1) as Any)"
    } twin: {
      "\(try await $0.compareAndSet("new", forKey: "k", ifValue: bytes("x"), durability: $1) as Any)"
    },
    Pair(name: "remove by version") {
      "\(try $0.remove("k", ifVersion: version, durability: $1))"
    } twin: {
      "\(try await $0.remove("k", ifVersion: version, durability: $1))"
    },
    Pair(name: "remove by another version") {
      "\(try $0.remove("k", ifVersion: SequenceNumber(rawValue: 9), durability: $1))"
    } twin: {
      "\(try await $0.remove("k", ifVersion: SequenceNumber(rawValue: 9), durability: $1))"
    },
    Pair(name: "putIfAbsent") {
      "\(try $0.putIfAbsent("new", forKey: "absent", expiry: .after(.seconds(5)), durability: $1) as Any)"
    } twin: {
      "\(try await $0.putIfAbsent("new", forKey: "absent", expiry: .after(.seconds(5)), durability: $1) as Any)"
    },
    Pair(name: "putIfAbsent of a present key") {
      "\(try $0.putIfAbsent("new", forKey: "k", durability: $1) as Any)"
    } twin: {
      "\(try await $0.putIfAbsent("new", forKey: "k", durability: $1) as Any)"
    },
    Pair(name: "increment") {
      "\(try $0.increment("k", by: 3, durability: $1)) \(try $0.increment("n", durability: $1))"
    } twin: {
      "\(try await $0.increment("k", by: 3, durability: $1)) \(try await $0.increment("n", durability: $1))"
    },
    Pair(name: "append") {
      "\(try $0.append("!", toKey: "k", durability: $1)) \(try $0.append("a", toKey: "absent", durability: $1))"
    } twin: {
      "\(try await $0.append("!", toKey: "k", durability: $1)) \(try await $0.append("a", toKey: "absent", durability: $1))"
    },
    Pair(name: "touch") {
      "\(try $0.touch("k", expiry: .after(.seconds(7)), durability: $1) as Any) \(try $0.touch("x", expiry: .never) as Any)"
    } twin: {
      "\(try await $0.touch("k", expiry: .after(.seconds(7)), durability: $1) as Any) \(try await $0.touch("x", expiry: .never) as Any)"
    },
    Pair(name: "persist") {
      "\(try $0.persist("brief", durability: $1) as Any)"
    } twin: {
      "\(try await $0.persist("brief", durability: $1) as Any)"
    },
    Pair(name: "get that extends") {
      "\(try $0.get("brief", extendingBy: .seconds(60), durability: $1) as Any) \(try $0.get("k", extendingBy: .seconds(1)) as Any)"
    } twin: {
      "\(try await $0.get("brief", extendingBy: .seconds(60), durability: $1) as Any) \(try await $0.get("k", extendingBy: .seconds(1)) as Any)"
    },
    Pair(name: "removeAll") {
      "\(try $0.removeAll(durability: $1))"
    } twin: {
      "\(try await $0.removeAll(durability: $1))"
    },
    Pair(name: "update that changes nothing") {
      "\(try $0.update(forKey: "k", durability: $1) { (_) throws(StoreError) in .put(bytes("12345678")) } as Any)"
    } twin: {
      "\(try await $0.update(forKey: "k", durability: $1) { (_) throws(StoreError) in .put(bytes("12345678")) } as Any)"
    },
  ]

  private func prepared() throws -> LogStore {
    let store = try Machine().open()
    try store.put("12345678", forKey: "k")
    try store.put("v", forKey: "brief", expiry: .after(.seconds(30)))
    return store
  }

  /// All keys with their values and metadata.
  private func state(of store: LogStore) throws -> [[UInt8]: String] {
    var state: [[UInt8]: String] = [:]
    for (key, value) in try store.contents() { state[key] = "\(value) \(try store.metadata(forKey: key) as Any)" }
    return state
  }

  @Test(arguments: pairs.indices, [nil, Durability.buffered, .synced])
  func eachDoesWhatItsSynchronousFormDoes(_ index: Int, _ durability: Durability?) async throws {
    let pair = Self.pairs[index]
    let (one, other) = (try prepared(), try prepared())
    let returned = try pair.call(one.default, durability)
    #expect(try await pair.twin(other.async, durability) == returned, "\(pair.name)")
    #expect(try state(of: one) == state(of: other), "\(pair.name)")
    #expect(one.lastSequence == other.lastSequence, "\(pair.name)")
    if durability == .synced {
      if one.lastSequence.rawValue > 2 { #expect(other.durableSequence == other.lastSequence, "\(pair.name)") }
    } else {
      #expect(other.durableSequence.rawValue == 0, "\(pair.name)")
    }
  }

  @Test func eachWorksInItsKeyspace() async throws {
    let store = try prepared()
    let other = try store.keyspace("other")
    #expect(try await other.async.increment("k") == 1)
    #expect(try await other.async.putIfAbsent("v", forKey: "brief") != nil)
    try await store.async.removeAll()
    #expect(try store.count() == 0 && other.count() == 2)
  }

  @Test(arguments: pairs.indices) func aTaskHearsOfASyncThatFailed(_ index: Int) async throws {
    let pair = Self.pairs[index]
    let bench = FaultBench()
    let store = try bench.open()
    try store.put("12345678", forKey: "k")
    try store.put("v", forKey: "brief", expiry: .after(.seconds(30)))
    let last = store.lastSequence
    bench.plan.fail(.sync, on: .suffix(".segment"), sticky: true, .error(5))
    var failure: StoreError?
    do { _ = try await pair.twin(store.async, .synced) } catch { failure = error as? StoreError }
    // Whatever was to be made durable was not.
    let isToBeDurable = store.lastSequence > last || pair.name == "update that changes nothing"
    #expect(failure == (isToBeDurable ? .outcomeUnknown(errno: 5) : nil), "\(pair.name)")
    store.probe.kill()
  }
}
