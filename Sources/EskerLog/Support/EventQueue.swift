internal import EskerPlatform
internal import Synchronization

/// Delivers a store's events to its handler: in order, one at a time, and with no lock of the store held, so that the
/// handler may call the store.
///
/// Events may be added anywhere, under any locks. Each call that may have added some delivers them at its end, and the
/// maintainer's thread delivers the rest. Thread safety: any thread.
final class EventQueue: Sendable {
  private struct State {
    var waiting: [StoreEvent] = []
    var isDelivering = false
    /// Initially 1: the events of an opening wait for `begin`.
    var holds = 1

    /// Whether the caller is to deliver, and nobody else until it has.
    mutating func beginDelivery() -> Bool {
      guard holds == 0, !isDelivering else { return false }
      isDelivering = true
      return true
    }
  }

  private let handler: (@Sendable (StoreEvent) -> Void)?
  private let state = Guarded(State(), .leaf)
  /// Whether events are waiting. A hint that saves taking the lock. Relaxed: the lock synchronises the events, and a
  /// thread sees the hint it has set itself.
  private let isWaiting = Atomic<Bool>(false)

  init(_ handler: (@Sendable (StoreEvent) -> Void)?) {
    self.handler = handler
  }

  /// Adds an event; false if there is no handler.
  func add(_ event: StoreEvent) -> Bool {
    guard handler != nil else { return false }
    state.withLock { state in
      state.waiting.append(event)
      isWaiting.store(true, ordering: .relaxed)
    }
    return true
  }

  /// Holds events back until ``begin()``: the caller is about to take locks that the handler may need.
  func hold() {
    state.withLock { $0.holds += 1 }
  }

  /// Ends one ``hold()``, or that of the opening. After the last one, delivers what was held back, on the calling thread, before
  /// any later event.
  func begin() {
    let isFirst = state.withLock { state in
      assert(state.holds > 0)
      state.holds -= 1
      return state.beginDelivery()
    }
    if isFirst { deliverAll() }
  }

  /// Calls the handler for each waiting event. Must be called without locks. Returns at once if another thread is
  /// delivering, or if called from the handler.
  @inline(__always)
  func deliver() {
    if isWaiting.load(ordering: .relaxed) { deliverWaiting() }
  }

  @inline(never)
  private func deliverWaiting() {
    if state.withLock({ $0.beginDelivery() }) { deliverAll() }
  }

  private func deliverAll() {
    while let event = next() { handler?(event) }
  }

  /// The next event; nil, which ends the delivery, if there is none.
  private func next() -> StoreEvent? {
    state.withLock { state in
      if state.holds == 0, !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.isDelivering = false
      if state.waiting.isEmpty { isWaiting.store(false, ordering: .relaxed) }
      return nil
    }
  }
}
