/// Tasks that wait for durability, roughly in the order of their tickets.
///
/// Safety: a continuation leaves the list when it is removed or resumed, so it is resumed at most once. The owner of the
/// list resumes what it removes, and all the others before it drops the list.
struct WaiterList {
  typealias Continuation = UnsafeContinuation<StoreError?, Never>

  @safe
  private struct Waiter {
    let ticket: UInt64
    /// Nil once the task has been removed.
    var continuation: Continuation?
  }

  private var waiters: [Waiter] = []
  /// The highest sequence number that a task waits for.
  private(set) var sequence: UInt64 = 0

  var count: Int { waiters.count }
  var isEmpty: Bool { waiters.isEmpty }

  mutating func append(_ continuation: Continuation, ticket: UInt64, sequence: UInt64) {
    waiters.append(unsafe Waiter(ticket: ticket, continuation: continuation))
    self.sequence = max(self.sequence, sequence)
  }

  /// Removes one task; nil if it is not in the list.
  ///
  /// Tickets are drawn in sequence just before they are appended, so the search starts at the ticket's distance from the
  /// first one: thousands of tasks may be cancelled at once, and searching from the start would take quadratic time.
  mutating func remove(ticket: UInt64) -> Continuation? {
    guard let first = waiters.first else { return nil }
    let distance = Int64(bitPattern: ticket &- first.ticket)
    var below = Int(min(max(distance, 0), Int64(waiters.count - 1)))
    var above = below + 1
    while below >= 0 || above < waiters.count {
      if below >= 0 {
        if waiters[below].ticket == ticket { return unsafe waiters[below].continuation.take() }
        below -= 1
      }
      if above < waiters.count {
        if waiters[above].ticket == ticket { return unsafe waiters[above].continuation.take() }
        above += 1
      }
    }
    return nil
  }

  /// Resumes all tasks and empties the list. No other thread may use the list: a task may continue at once.
  mutating func resumeAll(_ failure: StoreError?) {
    for waiter in waiters { unsafe waiter.continuation?.resume(returning: failure) }
    waiters.removeAll(keepingCapacity: true)
    sequence = 0
  }
}
