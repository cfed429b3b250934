/// Notifies a front of the writes that the engine reports, whether they are made by a view or directly.
///
/// Called under the writer's lock: a front takes no lock that anybody holds who calls the store.
final class EngineWatch: WriteWatcher {
  let front: any WriteFront

  init(_ front: any WriteFront) {
    self.front = front
  }

  func willWrite(_ key: RawSpan) { front.enterWrite(key) }
  func didWrite(_ key: RawSpan, _ sequence: UInt64?) { front.leaveWrite(key, number: sequence) }
  func willEmpty() { front.enterRemovalOfAll() }
  func didEmpty() { front.leaveRemovalOfAll() }
  func afterEmptying() { front.release() }

  func didEnd() {
    // Nobody leaves this removal, so nothing is kept again.
    front.enterRemovalOfAll()
    front.release()
  }
}
