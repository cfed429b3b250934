internal import EskerPlatform
internal import Synchronization

/// Limits the speed of a merge, and decides whether it continues.
struct MergePace: ~Copyable {
  private let merger: Merger
  private let bytesPerSecond: Int?
  /// Called now and then; false ends the merge.
  private let goesOn: () -> Bool

  init(_ merger: Merger, bytesPerSecond: Int?, goesOn: @escaping () -> Bool = { true }) {
    self.merger = merger
    self.bytesPerSecond = bytesPerSecond
    self.goesOn = goesOn
  }

  /// Waits as long as copying these bytes should take. Called with no lock but those of merges.
  ///
  /// - Throws: ``StoreError/cancelled`` if the merge is to end, ``StoreError/closed`` if the store was closed.
  func pass(bytes: Int) throws(StoreError) {
    try check()
    guard let bytesPerSecond, bytesPerSecond > 0, bytes > 0, merger.env.workers.merger.isThreaded else { return }
    let wait = UInt64(Double(bytes) / Double(bytesPerSecond) * 1e9)
    // In short naps, so that a close does not have to wait.
    var rest = wait
    while rest > 0 {
      let nap = min(rest, 10_000_000)
      merger.env.workers.merger.sleep(nanoseconds: nap)
      rest -= nap
      try check()
    }
  }

  func check() throws(StoreError) {
    try merger.env.checkWritable()
    guard goesOn() else { throw .cancelled }
  }
}
