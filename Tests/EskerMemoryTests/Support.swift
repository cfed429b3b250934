import EskerMemory
import Foundation

/// Runs each body on a thread of its own and waits for all of them.
func onThreads(_ bodies: [@Sendable () -> Void]) {
  let group = DispatchGroup()
  for body in bodies {
    group.enter()
    let thread = Thread {
      body()
      group.leave()
    }
    thread.start()
  }
  group.wait()
}

/// A key of which all have the same hash.
struct CollidingKey: Hashable, Sendable {
  let number: Int

  func hash(into hasher: inout Hasher) {}
}

/// Does something when it dies.
final class Mortal: Sendable {
  private let atDeath: @Sendable () -> Void

  init(_ atDeath: @escaping @Sendable () -> Void) {
    self.atDeath = atDeath
  }

  deinit { atDeath() }
}

extension MemoryCache {
  /// What `forEach` shows.
  func entries(now: Int64) -> [Key: MemoryEntry<Value>] {
    var entries: [Key: MemoryEntry<Value>] = [:]
    forEach(now: now) { key, entry in entries[key] = entry }
    return entries
  }
}
