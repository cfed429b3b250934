internal import EskerMemory

/// Notifies a front of the writes that the engine reports, whether they are made by a view or directly.
///
/// Called under the writer's lock: a front takes no lock that anybody holds who calls the store.
///
/// Safety: threads may share it, since what changes is only touched by a holder of the writer's lock.
final class FrontWriteWatcher: WriteWatcher, @unchecked Sendable {
  let front: WriteFront
  // Guarded by the writer's lock.
  /// The writes that have been announced, in order: one, or all of a batch, which are reported in the same order.
  private var announced: [WriteTicket?] = []
  /// How many of them have been reported.
  private var reported = 0

  init(_ front: WriteFront) {
    self.front = front
  }

  func willWrite(_ key: RawSpan) { announced.append(front.enterWrite(key)) }

  func didWrite(_ key: RawSpan, _ sequence: UInt64?) {
    if let ticket = announced[reported] { front.leaveWrite(ticket, sequence) }
    reported += 1
    if reported < announced.count { return }
    announced.removeAll(keepingCapacity: announced.count < 64)
    reported = 0
  }

  func willEmpty() { front.enterRemovalOfAll() }
  func didEmpty() { front.leaveRemovalOfAll() }
  func afterEmptying() { front.release() }

  func didEnd() {
    // Nobody leaves this removal, so nothing is kept again.
    front.enterRemovalOfAll()
    front.release()
  }
}
