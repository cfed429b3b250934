internal import Esker
internal import EskerLog

/// A task that waits for something to leave a queue.
final class QueueWaiter: Sendable {
  enum Condition: Hashable, Sendable {
    /// All records up to one are gone.
    case drained(SequenceNumber)
    /// Nothing waits of the key.
    case key([UInt8])
    /// No replay is under way, and no writer that was let in.
    case quiet
  }

  let condition: Condition
  /// Whether the condition holds; otherwise the queue was stopped.
  let promise = FlightPromise<Bool>()

  init(_ condition: Condition) { self.condition = condition }
}

extension QueueBook {
  /// Whether a condition holds.
  mutating func grants(_ condition: QueueWaiter.Condition) -> Bool {
    switch condition {
    case .drained(let record): isDrained(to: record)
    case .key(let key): entries[key] == nil
    case .quiet: isQuiet
    }
  }
}

/// Tasks that wait for something to leave a queue.
struct QueueWaiters {
  private var byKey: [[UInt8]: [QueueWaiter]] = [:]
  private var others: [QueueWaiter] = []

  mutating func add(_ waiter: QueueWaiter) {
    if case .key(let key) = waiter.condition { byKey[key, default: []].append(waiter) } else { others.append(waiter) }
  }

  mutating func remove(_ waiter: QueueWaiter) {
    guard case .key(let key) = waiter.condition else { return others.removeAll { $0 === waiter } }
    byKey[key]?.removeAll { $0 === waiter }
    if byKey[key]?.isEmpty == true { byKey[key] = nil }
  }

  /// Takes out those whose condition holds, now that something of `key` has changed.
  mutating func satisfied(_ key: [UInt8]?, by book: inout QueueBook) -> [QueueWaiter] {
    var granted: [QueueWaiter] = []
    if let key, let waiters = byKey[key], book.grants(.key(key)) {
      granted = waiters
      byKey[key] = nil
    }
    others.removeAll { waiter in
      guard book.grants(waiter.condition) else { return false }
      granted.append(waiter)
      return true
    }
    return granted
  }

  /// Takes out all but those who wait for the queue to be quiet.
  mutating func dismissAll() -> [QueueWaiter] {
    let dismissed = byKey.values.joined() + others.filter { $0.condition != .quiet }
    byKey = [:]
    others.removeAll { $0.condition != .quiet }
    return dismissed
  }
}

/// Who is told of lost writes. What is lost before anybody listens is kept, so that a process that starts hears of it.
struct LossListeners {
  static let undeliveredLimit = 1_024

  private var listeners: [UInt64: @Sendable ([UInt8], RemoteLoss) -> Void] = [:]
  private var undelivered: [(key: [UInt8], loss: RemoteLoss)] = []
  private var last: UInt64 = 0

  mutating func add(
    _ listener: @escaping @Sendable ([UInt8], RemoteLoss) -> Void
  ) -> (number: UInt64, undelivered: [(key: [UInt8], loss: RemoteLoss)]) {
    last += 1
    listeners[last] = listener
    defer { undelivered = [] }
    return (last, undelivered)
  }

  mutating func remove(_ number: UInt64) { listeners[number] = nil }

  mutating func hearing(_ key: [UInt8], _ loss: RemoteLoss) -> [@Sendable ([UInt8], RemoteLoss) -> Void] {
    if listeners.isEmpty, undelivered.count < Self.undeliveredLimit { undelivered.append((key, loss)) }
    return Array(listeners.values)
  }
}
