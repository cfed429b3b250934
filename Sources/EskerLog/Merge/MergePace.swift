internal import EskerPlatform
internal import Synchronization

/// How fast a merge goes, and whether it goes on at all.
struct MergePace: ~Copyable {
  private let merger: Merger
  private let bytesPerSecond: Int?
  /// Asked now and then; false ends the merge.
  private let goesOn: () -> Bool

  init(_ merger: Merger, bytesPerSecond: Int?, goesOn: @escaping () -> Bool = { true }) {
    self.merger = merger
    self.bytesPerSecond = bytesPerSecond
    self.goesOn = goesOn
  }

  /// Takes the time that some bytes should have taken to copy. No lock is held.
  ///
  /// - Throws: ``StoreError/cancelled`` when the merge is to end, ``StoreError/closed`` when the store is.
  func pass(bytes: Int) throws(StoreError) {
    try check()
    guard let bytesPerSecond, bytesPerSecond > 0, bytes > 0, merger.env.workers.merger.isThreaded else { return }
    let wait = UInt64(Double(bytes) / Double(bytesPerSecond) * 1e9)
    // In short naps, so that a close is not kept waiting.
    var rest = wait
    while rest > 0 {
      let nap = min(rest, 10_000_000)
      merger.env.workers.merger.nap(nanoseconds: nap)
      rest -= nap
      try check()
    }
  }

  func check() throws(StoreError) {
    try merger.env.checkWritable()
    guard goesOn() else { throw .cancelled }
  }
}
