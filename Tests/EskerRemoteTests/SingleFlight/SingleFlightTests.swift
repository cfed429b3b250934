import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

@testable import Esker
@testable import EskerRemote

/// Of several processes that miss a key, one produces. A lock lives an hour here, so that no timer helps.
@Suite struct SingleFlightTests {
  let server = TinyServer()
  let producer = ProducerDouble()
  static let options: RemoteOptions = {
    var options = RemoteOptions()
    options.singleFlight = RemoteSingleFlight()
    options.singleFlight?.lockLifetime = .seconds(3_600)
    return options
  }()

  func makeProcesses(_ count: Int, _ options: RemoteOptions = options) async throws -> [TinyProcess] {
    var processes: [TinyProcess] = []
    for _ in 0..<count { processes.append(try await TinyProcess(server, options)) }
    return processes
  }

  /// One process produces, and all others have begun to wait.
  private func allWait(_ processes: [TinyProcess]) async throws {
    #expect(try await eventually { processes.allSatisfy { $0.watches > 0 } })
    #expect(try await eventually { producer.runs > 0 })
  }

  private func expectQuiet(_ processes: [TinyProcess]) async throws {
    #expect(try await eventually { server.locks == 0 && processes.allSatisfy(\.isQuiet) })
  }

  @Test(arguments: 2...4) func oneProcessProducesForAllTasksOfAll(_ count: Int) async throws {
    let processes = try await makeProcesses(count)
    let values = try await withThrowingTaskGroup(of: String.self) { group in
      for process in processes {
        for _ in 0..<25 {
          group.addTask { [producer] in try await process.texts.async.value(forKey: "a") { try await producer.make() } }
        }
      }
      try await allWait(processes)
      producer.permit()
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(values.count == 25 * count && Set(values) == ["made 1"])
    #expect(producer.runs == 1)
    #expect(processes.reduce(0) { $0 + $1.tiers.statistics.productions } == 1)
    #expect(processes.reduce(0) { $0 + $1.tiers.statistics.awaited } == UInt64(count - 1))
    try await expectQuiet(processes)
    // Nothing is left for what is there: no lock is taken.
    let locks = processes.reduce(0) { $0 + $1.store.count("lock set") }
    for process in processes {
      #expect(try await process.texts.async.value(forKey: "a") { "never" } == "made 1")
    }
    #expect(processes.reduce(0) { $0 + $1.store.count("lock set") } == locks)
  }

  @Test func withoutTheOptionEachProcessProduces() async throws {
    let processes = try await makeProcesses(3, RemoteOptions())
    try await withThrowingTaskGroup(of: String.self) { group in
      for process in processes {
        group.addTask { [producer] in try await process.texts.async.value(forKey: "a") { try await producer.make() } }
      }
      #expect(try await eventually { producer.runs == 3 })
      producer.permit()
      let values = try await group.reduce(into: [String]()) { $0.append($1) }
      #expect(values.count == 3 && Set(values).count == 1)
    }
    #expect(processes.allSatisfy { $0.store.count("lock set") == 0 })
  }

  @Test func whereAProducerFailsOneOtherIsNext() async throws {
    let processes = try await makeProcesses(4)
    let failed = try await withThrowingTaskGroup(of: Bool.self) { group in
      for process in processes {
        group.addTask { [producer] in
          do {
            let value = try await process.texts.async.value(forKey: "a") { try await producer.make() }
            #expect(value == "made 3")
            return false
          } catch StorageError.producer(let error) {
            #expect(error is ProducerDouble.Broken)
            return true
          }
        }
      }
      try await allWait(processes)
      producer.permit(failing: 2)
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(failed == 2)
    #expect(producer.runs == 3 && producer.atOnce == 1)
    try await expectQuiet(processes)
  }

  @Test func oneProcessRenewsAndTheOthersServeWhatTheyHave() async throws {
    let processes = try await makeProcesses(4)
    var production = StorageRequest.Production(lifetime: .seconds(1_000_000))
    production.refreshAfter = 0.5
    // How old an entry is, is told by the clock of the machine, which goes on for as long as the test has to wait.
    server.clock.setWall(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    try await processes[0].texts.async.set("old", forKey: "a", expiry: .after(.seconds(400_000)))
    for process in processes {
      for _ in 0..<5 {
        let value = try await process.texts.async.value(forKey: "a", production) { [producer] in
          try await producer.make()
        }
        #expect(value == "old")
      }
    }
    try await allWait(processes)
    for process in processes {
      #expect(try await process.texts.async.value(forKey: "a", production) { "never" } == "old")
    }
    #expect(producer.runs == 1)
    producer.permit()
    try await expectQuiet(processes)
    for process in processes {
      #expect(try await process.texts.async.value(forKey: "a", production) { "never" } == "made 1")
    }
    #expect(processes.reduce(0) { $0 + $1.tiers.statistics.awaited } == 3)
    #expect(producer.runs == 1)
  }

  @Test func whatIsBehindAFrontOrOperatorsIsProducedOnceToo() async throws {
    let processes = try await makeProcesses(4)
    let values = try await withThrowingTaskGroup(of: String.self) { group in
      group.addTask { [producer] in
        let front = MemoryStorage<String, String>().combined(with: processes[0].texts)
        return try await front.async.value(forKey: "a") { try await producer.make() }
      }
      group.addTask { [producer] in
        // It remembers that there was nothing, and looks behind all the same.
        let front = processes[1].texts.cached(remembersAbsence: true)
        return try await front.async.value(forKey: "a") { try await producer.make() }
      }
      group.addTask { [producer] in
        let turned = processes[2].texts.mapValues {
          $0 + "!"
        } from: {
          String($0.dropLast())
        }
        return try await String(turned.async.value(forKey: "a") { try await producer.make() + "!" }.dropLast())
      }
      group.addTask { [producer] in
        let first = processes[3].texts.fallback(with: MemoryStorage<String, String>())
        return try await first.async.value(forKey: "a") { try await producer.make() }
      }
      try await allWait(processes)
      producer.permit()
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(values.count == 4 && Set(values) == ["made 1"] && producer.runs == 1)
    try await expectQuiet(processes)
  }

  @Test func aProducerMayAskForItsOwnValueByAnotherView() async throws {
    let process = try await makeProcesses(1)[0]
    let turned = process.texts.mapValues {
      "<\($0)>"
    } from: {
      String($0.dropFirst().dropLast())
    }
    let value = try await turned.async.value(forKey: "a") {
      try await "<" + process.texts.async.value(forKey: "a") { "inner" } + ">"
    }
    #expect(value == "<inner>")
    try await expectQuiet([process])
  }

  /// A task that has missed the key by itself waits for the lock's producer, and that waits for the task.
  @Test func aProducerMayWaitForATaskThatMissesItsValueToo() async throws {
    let process = try await makeProcesses(1)[0]
    let texts = process.texts
    let flight = FlightKey(identity: try texts.identity(of: "a"), value: ObjectIdentifier(String.self))
    @Sendable func waiting(_ count: Int) async throws {
      #expect(try await eventually { FlightTable.shared.waiterCount(for: flight) == count })
    }
    let turned = texts.mapValues {
      "<\($0)>"
    } from: {
      String($0.dropFirst().dropLast())
    }
    let outer = Task {
      try await turned.async.value(forKey: "a") {
        try await waiting(1)
        return try await "<" + texts.async.value(forKey: "a") { "never" } + ">"
      }
    }
    #expect(try await eventually { server.locks == 1 })
    let inner = try await texts.async.value(forKey: "a") {
      try await waiting(2)
      return "inner"
    }
    #expect(inner == "inner")
    #expect(try await outer.value == "<inner>")
    try await expectQuiet([process])
    #expect(process.tiers.locks.isEmpty)
  }

  @Test func whoComesAfterAnInvalidationDoesNotWaitForAProducerElsewhere() async throws {
    let processes = try await makeProcesses(2)
    let tagged = try processes.map { try $0.texts.tagged("t") }
    let first = Task { [producer] in try await tagged[0].async.value(forKey: "a") { try await producer.make() } }
    #expect(try await eventually { producer.runs == 1 })
    try await processes[1].tiers.invalidate(tag: "t")
    #expect(try await tagged[1].async.value(forKey: "a") { "new" } == "new")
    producer.permit()
    #expect(try await first.value == "new")
    try await expectQuiet(processes)
  }

  @Test func theLockIsNobodysKey() async throws {
    let process = try await makeProcesses(1)[0]
    #expect(throws: StorageError.self) { let _: RemoteStorage<String, Int> = try process.tiers.storage("#lock") }
    let changes = process.texts.changes()
    // A key that looks like a lock is behind the storage's name.
    for key in ["#lock:texts:a", "a"] {
      #expect(try await process.texts.async.value(forKey: key) { key } == key)
    }
    try await expectQuiet([process])
    // Locks are not told.
    for await change in changes {
      #expect([.changed("#lock:texts:a"), .changed("a")].contains(change))
      if change == .changed("a") { break }
    }
    #expect(server.value("texts:#lock:texts:a") != nil)
    try await expectQuiet([process])
  }
}
