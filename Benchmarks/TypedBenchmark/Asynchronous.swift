import Dispatch
import Esker
import Foundation

private let tasks = 1000
private let setsOfATask = 100

/// Synced sets by a thousand tasks at once: bytes through the engine, against a typed storage and one with memory ahead.
func measureSyncedTasks() throws {
  let path = NSTemporaryDirectory() + "esker-typed-synced-\(UUID().uuidString)"
  defer { try? FileManager.default.removeItem(atPath: path) }
  var options = Options()
  options.durability = .synced
  let store = try LogStore(at: path, options: options)
  let bytes = try store.keyspace("bytes").async
  let value = [UInt8](repeating: 7, count: 100)
  let typed = try store.storage("typed", key: Int.self, transformer: .bytes)
  let hybrid = HybridStorage(try LogStorage(store, "hybrid", key: Int.self, transformer: .bytes))
  let engine = inTasks { (key) in _ = try await bytes.put(value, forKey: "key\(key)") }
  let storage = inTasks { (key) in try await typed.async.set(value, forKey: key) }
  let front = inTasks { (key) in try await hybrid.async.set(value, forKey: key) }
  row("synced put of \(tasks) tasks, engine", engine)
  row("synced set of \(tasks) tasks, storage", storage, "\(text(engine / storage, 2)) of the engine's rate")
  row("synced set of \(tasks) tasks, hybrid", front, "\(text(engine / front, 2)) of the engine's rate")
  try store.close()
}

/// Nanoseconds an operation, the best of three rounds.
private func inTasks(_ body: @escaping @Sendable (Int) async throws -> Void) -> Double {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var nanoseconds = Double.infinity
  Task.detached {
    for _ in 0..<3 {
      let start = DispatchTime.now().uptimeNanoseconds
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
          group.addTask {
            for number in 0..<setsOfATask { try? await body(task * setsOfATask + number) }
          }
        }
      }
      let spent = Double(DispatchTime.now().uptimeNanoseconds - start)
      nanoseconds = min(nanoseconds, spent / Double(tasks * setsOfATask))
    }
    done.signal()
  }
  done.wait()
  return nanoseconds
}
