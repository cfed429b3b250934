import Esker
import EskerLog
import EskerRedis
import EskerTestSupport
import Foundation
import Testing

@testable import EskerRemote

/// Values that another program stores: here redis-cli.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct ForeignTests {
  @Test func whatAnotherProgramStoresIsReadAndItsChangesAreSeen() async throws {
    let server = try TestServer()
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path + "/copies")
    let tiers = try await Processes.tiers(server)
    var options = RemoteOptions()
    options.foreignValues = .decoded
    let counts: RemoteStorage<String, Int> = try tiers.storage("counts", transformer: .json, log: log, options: options)
    server.cli("SET", "t:counts:k", "7")
    #expect(try await counts.find("k")?.value == 7)
    try await Processes.until("it is served from memory") { try await counts.find("k")?.tier == .memory }
    let held = try #require(try await counts.find("k"))
    #expect(held.value == 7 && held.version == nil && held.expiry == .never && !held.isStale)
    // Replaced, changed in place, and given a life.
    server.cli("SET", "t:counts:k", "8")
    try await Processes.until("the change is told") { try await counts.async.value(forKey: "k") == 8 }
    server.cli("INCR", "t:counts:k")
    try await Processes.until("the change in place is told") { try await counts.async.value(forKey: "k") == 9 }
    server.cli("PEXPIRE", "t:counts:k", "100000")
    try await Processes.until("the expiry is told") { try await counts.find("k")?.expiry != .never }
    guard case .at(let end) = try await counts.find("k")?.expiry else { throw TestFailure("it expires") }
    let expected = Int64(server.cli("PEXPIRETIME", "t:counts:k").trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(end.millisecondsSince1970 == expected)
    server.cli("SET", "t:counts:k", "10", "PX", "50")
    try await Processes.until("it expires") { try await counts.async.value(forKey: "k") == nil }
    // Nothing of it was ever in the log, and it is replaced as anything else.
    #expect(try log.keyspace("tests/t:counts").count() == 0)
    server.cli("SET", "t:counts:k", "11")
    try await Processes.until("it is back") { try await counts.async.value(forKey: "k") == 11 }
    await #expect(throws: StorageError.self) { try await counts.async.increment("k") }
    #expect(try await !counts.async.setIfAbsent(1, forKey: "k"))
    try await counts.async.set(12, forKey: "k")
    #expect(try await counts.find("k")?.version != nil)
    #expect(try log.keyspace("tests/t:counts").count() == 1)
    server.cli("SET", "t:counts:k", "13")
    try await Processes.until("it is foreign again") { try await counts.async.value(forKey: "k") == 13 }
    #expect(try await counts.find("k")?.version == nil)
    await tiers.stop()
    try log.close()
  }
}
