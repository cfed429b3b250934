internal import EskerPlatform

/// Writes the latest value of each key, by a task that lives while there is something to write: one key after the other, in the order in
/// which they came.
final class LatestWriter<Value: Sendable>: Sendable {
  private struct Item {
    var value: Value
    /// Who waits until it is written.
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private struct Queue {
    var items: [[UInt8]: Item] = [:]
    var order = FIFOQueue<[UInt8]>()
    var underWay: (key: [UInt8], item: Item)?
    var isRunning = false
    /// Whether nothing may be added any more.
    var isClosed = false
    /// Who waits until the task never will run again.
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  /// Writes a value of a key.
  typealias Write = @Sendable (Value, [UInt8]) async -> Void

  private let queue: Guarded<Queue> = Guarded(Queue(), .leaf)

  /// What will be written of a key, or is being written; nil if nothing waits.
  func pending(_ key: [UInt8]) -> Value? {
    queue.withLock { queue in
      if let item = queue.items[key] { return item.value }
      return queue.underWay?.key == key ? queue.underWay?.item.value : nil
    }
  }

  /// Writes a value soon, in place of one of the key that waits; not at all after ``close()``, nor if it would wait behind `limit` keys.
  func add(_ value: Value, _ key: [UInt8], behind limit: Int = .max, by write: @escaping Write) {
    let mustStart = queue.withLock { queue in
      if queue.isClosed { return false }
      if queue.items[key] != nil {
        queue.items[key]?.value = value
      } else {
        guard queue.items.count < limit else { return false }
        queue.items[key] = Item(value: value)
        queue.order.append(key)
      }
      defer { queue.isRunning = true }
      return !queue.isRunning
    }
    if mustStart { Task { [self] in await run(write) } }
  }

  /// Returns once everything that was added of a key is written.
  func settled(_ key: [UInt8]) async {
    await withCheckedContinuation { continuation in
      let isSettled = queue.withLock { queue in
        if queue.items[key] != nil {
          queue.items[key]?.waiters.append(continuation)
        } else if queue.underWay?.key == key {
          queue.underWay?.item.waiters.append(continuation)
        } else {
          return true
        }
        return false
      }
      if isSettled { continuation.resume() }
    }
  }

  /// Writes what waits, and nothing any more once this returns.
  func close() async {
    await withCheckedContinuation { continuation in
      let hasEnded = queue.withLock { queue in
        queue.isClosed = true
        if queue.isRunning { queue.closers.append(continuation) }
        return !queue.isRunning
      }
      if hasEnded { continuation.resume() }
    }
  }

  private func run(_ write: Write) async {
    while let (key, item) = next() {
      await write(item.value, key)
      let waiters = queue.withLock { $0.underWay.take()?.item.waiters ?? [] }
      for waiter in waiters { waiter.resume() }
    }
  }

  /// The next to be written, which is under way then; nil ends the task.
  private func next() -> (key: [UInt8], item: Item)? {
    let (next, closers) = queue.withLock { queue -> ((key: [UInt8], item: Item)?, [CheckedContinuation<Void, Never>]) in
      if let key = queue.order.popFirst(), let item = queue.items.removeValue(forKey: key) {
        queue.underWay = (key, item)
        return ((key, item), [])
      }
      queue.isRunning = false
      defer { queue.closers = [] }
      return (nil, queue.closers)
    }
    for closer in closers { closer.resume() }
    return next
  }
}
