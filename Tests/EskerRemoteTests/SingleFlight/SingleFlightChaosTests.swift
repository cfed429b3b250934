import Esker
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerRemote

/// Three processes whose producers fail and are cancelled, while changes are lost and leases end, in an order by chance.
///
/// A lock lives an hour, so whoever misses that it may go on waits forever, and the test does not end.
@Suite struct SingleFlightChaosTests {
  @Test func nobodyWaitsForeverAndNoTwoProduceAtOnce() async throws {
    var random = SeededGenerator(announcedFor: "nobodyWaitsForeverAndNoTwoProduceAtOnce")
    var made = 0
    for _ in 0..<20 { made += try await run(&random) }
    #expect(made > 0)
  }

  /// What was not told before is not told any more.
  private func reconnect(_ process: TinyProcess) {
    process.store.server.loop.sync { process.store.untold = [] }
    process.store.raise()
    process.store.trust(for: .seconds(1_000_000))
  }

  /// How many calls had a value.
  private func run(_ random: inout SeededGenerator) async throws -> Int {
    let server = TinyServer()
    let keys = ["a", "b"]
    let producers = Dictionary(uniqueKeysWithValues: keys.map { ($0, ProducerDouble()) })
    var processes: [TinyProcess] = []
    for _ in 0..<3 { processes.append(try await TinyProcess(server, SingleFlightTests.options)) }
    var calls: [Task<String, any Error>] = []

    for _ in 0..<150 {
      let process = processes[Int.random(in: 0..<3, using: &random)]
      let key = keys[Int.random(in: 0..<2, using: &random)]
      let producer = try #require(producers[key])
      switch Int.random(in: 0..<14, using: &random) {
      case 0..<4: calls.append(Task { try await process.texts.async.value(forKey: key) { try await producer.make() } })
      case 4: producer.permit(1)
      case 5: producer.permit(1, failing: 1)
      case 6: if !calls.isEmpty { calls[Int.random(in: calls.indices, using: &random)].cancel() }
      case 7: process.store.setDeaf(true)
      case 8: process.store.setDeaf(false)
      case 9:
        reconnect(process)
      case 10:
        process.store.suspend()
        process.store.trust(for: .seconds(1_000_000))
      case 11: server.put(nil, "texts:\(key)")
      default: try await Task.sleep(for: .milliseconds(Int.random(in: 0...2, using: &random)))
      }
    }
    // In the end all producers may finish, and some processes are not told of it.
    let cutOff = processes.filter { _ in random.oneIn(2) }
    for process in processes { process.store.setDeaf(false) }
    for process in cutOff { process.store.setDeaf(true) }
    for producer in producers.values { producer.permitAll() }
    try await Task.sleep(for: .milliseconds(5))
    for process in cutOff {
      reconnect(process)
      process.store.setDeaf(false)
    }
    var made = 0
    for call in calls {
      switch await call.result {
      case .success(let value): made += value.hasPrefix("made") ? 1 : 0
      case .failure(StorageError.cancelled), .failure(StorageError.producer): break
      case .failure(let error): Issue.record("\(error)")
      }
    }
    for producer in producers.values { #expect(producer.atOnce <= 1, "\(producer.runs) runs") }
    #expect(try await eventually { server.locks == 0 && processes.allSatisfy(\.isQuiet) })
    return made
  }
}
