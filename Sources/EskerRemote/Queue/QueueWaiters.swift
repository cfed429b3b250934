internal import EskerLog

/// Tasks that wait for something to leave a queue.
struct QueueWaiters {
  enum Ending: Sendable { case done, cancelled, stopped, timedOut }

  enum Wish: Hashable, Sendable {
    /// All records up to one are gone.
    case drained(SequenceNumber)
    /// Nothing waits of the key.
    case key([UInt8])
    /// No replay is under way, and no writer that was let in.
    case quiet
  }

  private var waiting: [UInt64: (wish: Wish, continuation: CheckedContinuation<Ending, Never>)] = [:]
  private var byKey: [[UInt8]: Set<UInt64>] = [:]
  private var others: Set<UInt64> = []
  private var last: UInt64 = 0

  mutating func nextNumber() -> UInt64 {
    last += 1
    return last
  }

  mutating func add(_ number: UInt64, _ wish: Wish, _ continuation: CheckedContinuation<Ending, Never>) {
    waiting[number] = (wish, continuation)
    if case .key(let key) = wish { byKey[key, default: []].insert(number) } else { others.insert(number) }
  }

  mutating func remove(_ number: UInt64) -> CheckedContinuation<Ending, Never>? {
    guard let (wish, continuation) = waiting.removeValue(forKey: number) else { return nil }
    if case .key(let key) = wish {
      byKey[key]?.remove(number)
      if byKey[key]?.isEmpty == true { byKey[key] = nil }
    }
    others.remove(number)
    return continuation
  }

  /// Those whose wish has come true, now that something of `key` has changed.
  mutating func granted(_ key: [UInt8]?, _ isGranted: (Wish) -> Bool) -> [CheckedContinuation<Ending, Never>] {
    let candidates = (key.flatMap { byKey[$0] } ?? []).union(others)
    return candidates.filter { waiting[$0].map { isGranted($0.wish) } ?? false }.compactMap { remove($0) }
  }

  /// All but those who wait for the queue to be quiet.
  mutating func dismissAll() -> [CheckedContinuation<Ending, Never>] {
    waiting.filter { $0.value.wish != .quiet }.keys.compactMap { remove($0) }
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
