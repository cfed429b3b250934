internal import EskerPlatform
internal import Synchronization

/// Delivers a store's events to its handler: in order, one at a time, and where no lock of the store's is held, so that the
/// handler may call the store.
///
/// An event may be added anywhere, under whatever locks. Each call that may have added some delivers them at its end, and the
/// keeper's thread delivers what is left.
final class EventQueue: Sendable {
  private struct State {
    var waiting: [StoreEvent] = []
    var isDelivering = false
    /// From the start: what an opening finds waits for `begin`.
    var isHeld = true
  }

  private let handler: (@Sendable (StoreEvent) -> Void)?
  private let state = Guarded(State(), .leaf)
  /// Whether something waits: a hint, so that looking costs a load.
  private let isWaiting = Atomic<Bool>(false)

  init(_ handler: (@Sendable (StoreEvent) -> Void)?) {
    self.handler = handler
  }

  /// Adds an event; false when nobody wants it.
  func add(_ event: StoreEvent) -> Bool {
    guard handler != nil else { return false }
    state.withLock { state in
      state.waiting.append(event)
      isWaiting.store(true, ordering: .relaxed)
    }
    return true
  }

  /// Delivers nothing from now on, until ``begin()``: the caller is about to take locks that the handler may want.
  func hold() {
    state.withLock { $0.isHeld = true }
  }

  /// Delivers what was held back, on the calling thread and before anything that comes later.
  func begin() {
    state.withLock { $0.isHeld = false }
    deliverWaiting()
  }

  /// Calls the handler for each event that waits. No lock is held. Returns at once while another thread does it, or the
  /// handler itself led here.
  @inline(__always)
  func deliver() {
    if isWaiting.load(ordering: .relaxed) { deliverWaiting() }
  }

  @inline(never)
  private func deliverWaiting() {
    let isFirst = state.withLock { state in
      guard !state.isHeld, !state.isDelivering else { return false }
      state.isDelivering = true
      return true
    }
    guard isFirst else { return }
    while let event = next() { handler?(event) }
  }

  /// The next event; nil ends the delivery.
  private func next() -> StoreEvent? {
    state.withLock { state in
      if !state.isHeld, !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.isDelivering = false
      if state.waiting.isEmpty { isWaiting.store(false, ordering: .relaxed) }
      return nil
    }
  }
}
