import Dispatch
import Esker
import Foundation

private let count = 100_000
private let rounds = 9

/// The suspending twins against the plain calls, for what memory or the page cache has: processor time of one task.
func measureTwins(_ store: LogStore) throws -> Int {
  let log = try LogStorage(store, "twins", key: Int.self, of: Int.self)
  let hybrid = HybridStorage(try LogStorage(store, "twins behind", key: Int.self, of: Int.self))
  let memory = MemoryStorage<Int, Int>()
  let mapped = log.mapValues(to: Int.self) {
    $0 &+ 1
  } from: {
    $0 &- 1
  }
  return measure("log", log) &+ measure("memory", memory) &+ measure("hybrid", hybrid) &+ measure("map of log", mapped)
    &+ measure("log erased", Storage(log)) &+ measure("memory erased", Storage(memory))
    &+ measure("hybrid erased", Storage(hybrid))
}

private func measure<Subject: UpdatableStorage<Int, Int>>(_ name: String, _ storage: Subject) -> Int {
  let keys = (0..<count).map { $0 &* 0x9E37_79B9 }
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var times = [Double](repeating: .infinity, count: 6)
  nonisolated(unsafe) var sum = 0
  Task.detached {
    // They take turns, so that what else the machine does is the same for both.
    for _ in 0..<rounds {
      times[0] = min(times[0], await spent { for key in keys { try storage.set(key, forKey: key) } })
      times[1] = min(times[1], await spent { for key in keys { try await storage.async.set(key, forKey: key) } })
      times[2] = min(times[2], await spent { for key in keys { sum &+= try storage.value(forKey: key) ?? 0 } })
      times[3] = min(
        times[3],
        await spent { for key in keys { sum &+= try await storage.async.value(forKey: key) ?? 0 } }
      )
      times[4] = min(times[4], await spent { for key in keys { sum &+= try storage.entry(forKey: key)?.value ?? 0 } })
      times[5] = min(
        times[5],
        await spent { for key in keys { sum &+= try await storage.async.entry(forKey: key)?.value ?? 0 } }
      )
    }
    done.signal()
  }
  done.wait()
  for (place, call) in ["set", "value", "entry"].enumerated() {
    let (plain, twin) = (times[2 * place], times[2 * place + 1])
    row("\(name) async \(call)", twin, "\(text(twin / plain, 2)) times the plain \(text(plain, 1))")
  }
  return sum
}

/// The processor time of the process, in nanoseconds a key.
private func spent(_ body: () async throws -> Void) async -> Double {
  let start = clock()
  do { try await body() } catch { return .infinity }
  return Double(clock() - start) * 1e9 / Double(CLOCKS_PER_SEC) / Double(count)
}
