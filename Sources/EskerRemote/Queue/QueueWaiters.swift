internal import Esker
internal import EskerLog

/// A task that waits for something to leave a queue.
final class QueueWaiter: Sendable {
  enum Wish: Hashable, Sendable {
    /// All records up to one are gone.
    case drained(SequenceNumber)
    /// Nothing waits of the key.
    case key([UInt8])
    /// No replay is under way, and no writer that was let in.
    case quiet
  }

  let wish: Wish
  /// Whether the wish has come true; otherwise the queue was stopped.
  let landing = Landing<Bool>()

  init(_ wish: Wish) { self.wish = wish }
}

extension QueueBook {
  /// Whether a wish has come true.
  mutating func grants(_ wish: QueueWaiter.Wish) -> Bool {
    switch wish {
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
    if case .key(let key) = waiter.wish { byKey[key, default: []].append(waiter) } else { others.append(waiter) }
  }

  mutating func remove(_ waiter: QueueWaiter) {
    guard case .key(let key) = waiter.wish else { return others.removeAll { $0 === waiter } }
    byKey[key]?.removeAll { $0 === waiter }
    if byKey[key]?.isEmpty == true { byKey[key] = nil }
  }

  /// Takes out those whose wish has come true, now that something of `key` has changed.
  mutating func granted(_ key: [UInt8]?, by book: inout QueueBook) -> [QueueWaiter] {
    var granted: [QueueWaiter] = []
    if let key, let waiters = byKey[key], book.grants(.key(key)) {
      granted = waiters
      byKey[key] = nil
    }
    others.removeAll { waiter in
      guard book.grants(waiter.wish) else { return false }
      granted.append(waiter)
      return true
    }
    return granted
  }

  /// Takes out all but those who wait for the queue to be quiet.
  mutating func dismissAll() -> [QueueWaiter] {
    let dismissed = byKey.values.joined() + others.filter { $0.wish != .quiet }
    byKey = [:]
    others.removeAll { $0.wish != .quiet }
    return dismissed
  }
}

/// Who is told of lost writes. What is lost before anybody listens is kept, so that a process that starts hears of it.
struct LossListeners {
  static let unheardLimit = 1_024

  private var listeners: [UInt64: @Sendable ([UInt8], RemoteLoss) -> Void] = [:]
  private var unheard: [(key: [UInt8], loss: RemoteLoss)] = []
  private var last: UInt64 = 0

  mutating func add(
    _ listener: @escaping @Sendable ([UInt8], RemoteLoss) -> Void
  ) -> (number: UInt64, unheard: [(key: [UInt8], loss: RemoteLoss)]) {
    last += 1
    listeners[last] = listener
    defer { unheard = [] }
    return (last, unheard)
  }

  mutating func remove(_ number: UInt64) { listeners[number] = nil }

  mutating func hearing(_ key: [UInt8], _ loss: RemoteLoss) -> [@Sendable ([UInt8], RemoteLoss) -> Void] {
    if listeners.isEmpty, unheard.count < Self.unheardLimit { unheard.append((key, loss)) }
    return Array(listeners.values)
  }
}
