/// A bucket as it was, kept for an image while the index goes on changing.
public struct SavedBucket: Sendable {
  /// The slots of all lines of the chain, as they stood.
  let words: [UInt64]
  /// The control words of the lines, without what links them.
  let owners: [UInt64]
}

extension HashIndex {
  /// The number of the bucket that a hash belongs to now.
  ///
  /// Thread safety: the writer only; with `splitsPaused` it stays so.
  public func bucket(of hash: UInt64) -> Int {
    Int(state.bucket(of: hash))
  }

  /// Copies a bucket; nil when it is damaged. Thread safety: the writer only.
  public func saveBucket(_ bucket: Int) -> SavedBucket? {
    guard let chain = Chain(bucket: UInt64(bucket), in: state) else { return nil }
    return SavedBucket(
      words: (0..<chain.capacity).map { chain[$0] },
      owners: chain.overflowCount == 0 ? [] : (1...chain.overflowCount).map { Control.owner(chain.line($0).control) }
    )
  }
}
