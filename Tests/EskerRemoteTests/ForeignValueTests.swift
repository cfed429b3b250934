import Esker
import EskerLog
import EskerTestSupport
import Testing

@testable import EskerRemote

/// Values without an envelope, which other programs store.
@Suite struct ForeignValueTests {
  let server = TinyServer()

  private var options: RemoteOptions {
    var options = RemoteOptions()
    options.foreignValues = .decoded
    options.serveStale = .seconds(100)
    return options
  }

  private func put(_ text: String?, expiry: UInt64 = 0) {
    server.put(text.map { RemoteValue(stored: Array($0.utf8), foreignExpiry: expiry) }, "counts:k")
  }

  @Test func theyAreDecodedAndTheirChangesAreSeen() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let (tiers, store) = try await server.makeTiers()
    let counts: RemoteStorage<String, Int> = try tiers.storage("counts", transformer: .json, log: log, options: options)
    let keyspace = try log.keyspace("test/p:counts")
    try await counts.async.set(1, forKey: "k")
    #expect(try keyspace.count() == 1)
    let present = UInt64(server.clock.wallMilliseconds())
    for number in 7..<10 {
      put("\(number)", expiry: present + 90_000)
      for tier in [RemoteEntry<Int>.Tier.remote, .memory, .memory] {
        let found = try #require(try await counts.find("k"))
        #expect(found.value == number && found.tier == tier && found.version == nil && !found.isStale)
        guard case .at(let end) = found.expiry else { return #expect(Bool(false)) }
        #expect(UInt64(end.millisecondsSince1970) == present + 90_000)
      }
    }
    #expect(store.count("get") == 3 && store.count("check") == 0)
    // It is in no log, nor is what it replaced.
    #expect(try await eventually { try keyspace.count() == 0 })
    // What is not trusted is read again.
    store.raise()
    store.trust(for: .seconds(1_000))
    #expect(try await counts.find("k")?.tier == .remote)
    #expect(store.count("check") == 0)
    // As stale it may be served.
    store.suspend()
    store.setFailure(.unavailable(until: nil))
    server.clock.advance(milliseconds: 3_000)
    let stale = try #require(try await counts.find("k"))
    #expect(stale.value == 9 && stale.isStale && stale.age == .seconds(3))
    store.setFailure(nil)
    store.trust(for: .seconds(1_000))
    put(nil)
    #expect(try await counts.find("k") == nil)
    #expect(tiers.statistics.rolledBack == 0)
    await tiers.stop()
    try log.close()
  }

  @Test func theyExpireByTheServersClock() async throws {
    let (tiers, store) = try await server.makeTiers()
    let counts: RemoteStorage<String, Int> = try tiers.storage("counts", transformer: .json, options: options)
    put("7", expiry: UInt64(server.clock.wallMilliseconds()) + 1_000)
    #expect(try await counts.find("k")?.value == 7)
    #expect(try await counts.find("k")?.tier == .memory)
    server.clock.advance(milliseconds: 996)
    _ = try await counts.find("k")
    #expect(store.count("get") == 2)
    await tiers.stop()
  }

  @Test func whatNeedsAVersionIsRefused() async throws {
    let (tiers, _) = try await server.makeTiers()
    let counts: RemoteStorage<String, Int> = try tiers.storage("counts", transformer: .json, options: options)
    put("7")
    for _ in 0..<2 {
      await #expect(throws: StorageError.self) { try await counts.async.update(forKey: "k") { $0 = nil } }
      await #expect(throws: StorageError.self) { try await counts.async.increment("k") }
      await #expect(throws: StorageError.self) { try await counts.async.entry(forKey: "k") }
      await #expect(throws: StorageError.self) { try await counts.async.touch("k", expiry: .never) }
      #expect(try await counts.async.compareAndSet(8, forKey: "k", ifVersion: nil) == nil)
      #expect(try await !counts.async.removeValue(forKey: "k", ifVersion: SequenceNumber(rawValue: 1)))
      #expect(try await !counts.async.setIfAbsent(8, forKey: "k"))
      // It is there, so nothing is produced.
      #expect(try await counts.async.value(forKey: "k") { 9 } == 7)
      #expect(try await counts.async.value(forKey: "k") == 7)
    }
    try await counts.async.set(8, forKey: "k")
    #expect(try await counts.async.increment("k") == 9)
    put("3")
    #expect(try await counts.async.removeValue(forKey: "k"))
    #expect(server.value("counts:k") == nil)
    await tiers.stop()
  }

  @Test func whatBeginsAsAnEnvelopeIsOfALaterVersion() async throws {
    let (tiers, _) = try await server.makeTiers()
    let bytes: RemoteStorage<String, [UInt8]> = try tiers.storage("counts", transformer: .bytes, options: options)
    let strict: RemoteStorage<String, [UInt8]> = try tiers.storage("strict", transformer: .bytes)
    for foreign in [[], [1, 2, 3], [0xEE, 0x4B]] as [[UInt8]] {
      server.put(RemoteValue(stored: foreign), "counts:k")
      #expect(try await bytes.async.value(forKey: "k") == foreign)
      server.put(RemoteValue(stored: foreign), "strict:k")
      await #expect(throws: StorageError.self) { try await strict.async.value(forKey: "k") }
    }
    var later = RemoteEnvelope.magic + [0x80]
    later += [UInt8](repeating: 0, count: 40)
    server.put(RemoteValue(stored: later), "counts:k")
    await #expect(throws: StorageError.self) { try await bytes.async.value(forKey: "k") }
    await tiers.stop()
  }
}
