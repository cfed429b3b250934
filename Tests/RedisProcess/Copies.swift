import Esker
import EskerRedis
import Foundation
import Synchronization

@testable import EskerRemote

/// Fills memory and log with entries until it is killed, and reads them all again after that.
enum Copies {
  private static func tiers(_ arguments: Arguments) async throws -> (RemoteTiers, RemoteStorage<String, String>) {
    let count = arguments.number("count", or: 1_000)
    let tiers = RemoteTiers(
      try client(arguments),
      named: "copies",
      prefix: "c:",
      verifiedCapacity: 3 * count
    )
    try await tiers.start()
    let log = try LogStore(at: arguments.text("directory"))
    let storage = try tiers.storage("kv", of: String.self, memory: MemoryLimits(count: 1_000), log: log)
    return (tiers, storage)
  }

  /// What is stored under a key by ``fill(_:)``: 100 bytes.
  static func value(_ number: Int) -> String { "\(number)".padding(toLength: 100, withPad: ".", startingAt: 0) }

  static func key(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// Calls `body` with each number, from many tasks.
  private static func forEach(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    let next = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<256 {
        group.addTask {
          while true {
            let number = next.next()
            if number >= count { return }
            try await body(number)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Reads a few keys all the time and notes what it finds, as `History` does.
  static func watch(_ arguments: Arguments) async throws {
    let (tiers, storage) = try await tiers(arguments)
    let journal = try Journal(arguments.text("journal"))
    let count = arguments.number("keys", or: 16)
    for key in 0..<count { _ = try await storage.find("k\(key)") }
    say("watching")
    let isOver = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while isOver.value == 0 {
            for key in 0..<count {
              let invoked = now()
              guard let found = try? await storage.find("k\(key)") else { continue }
              journal.note("R k\(key) \(invoked) \(now()) \(found.value) \(found.tier)")
            }
            try? await Task.sleep(for: .microseconds(200))
          }
        }
      }
      group.addTask {
        await endOfInput()
        isOver.next()
      }
      await group.waitForAll()
    }
    journal.flush()
    await tiers.stop()
  }

  static func fill(_ arguments: Arguments) async throws {
    let (_, storage) = try await tiers(arguments)
    try await forEach(arguments.number("count", or: 1_000)) {
      try await storage.async.set(value($0), forKey: key($0))
    }
    // What is kept is written a moment later.
    try await Task.sleep(for: .milliseconds(200))
    say("filled \(getpid())")
    await endOfInput()
  }

  /// Reads the entries that were not changed, then those that were: every `changed`th. Prints what it took. With `together` copies are
  /// checked before they are read.
  static func check(_ arguments: Arguments) async throws {
    let (tiers, storage) = try await tiers(arguments)
    let count = arguments.number("count", or: 1_000)
    let changed = arguments.number("changed", or: 20)
    let (stale, moved) = (Counter(), Counter())
    say("began")
    _ = readLine()
    if arguments.number("together", or: 0) == 1 {
      let began = ContinuousClock.now
      let current = try await storage.checkCopies()
      say("together \((ContinuousClock.now - began) / .seconds(1)) \(current)")
    }
    let began = ContinuousClock.now
    try await forEach(count) { number in
      if number % changed == 0 { return }
      let found = try await storage.find(key(number))
      if found?.value != value(number) { stale.next() }
      if found?.tier == .remote { moved.next() }
    }
    let seconds = (ContinuousClock.now - began) / .seconds(1)
    say("unchanged \(seconds) \(moved.value) \(tiers.statistics.same)")
    _ = readLine()
    try await forEach(count) { number in
      guard number % changed == 0 else { return }
      if try await storage.find(key(number))?.value != "changed \(number)" { stale.next() }
    }
    say("stale \(stale.value)")
    await tiers.stop()
  }
}
