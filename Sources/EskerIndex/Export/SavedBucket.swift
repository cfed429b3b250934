/// A copy of a bucket, kept for an image while the index changes.
public struct SavedBucket: Sendable {
  /// The slots of all lines in the chain.
  let words: [UInt64]
  /// The control words of the overflow lines, without the links.
  let owners: [UInt64]
}

extension HashIndex {
  /// The bucket that a hash currently belongs to.
  ///
  /// Thread safety: the writer only; with `splitsPaused` the result stays valid.
  public func bucket(of hash: UInt64) -> Int {
    Int(state.bucket(of: hash))
  }

  /// Copies a bucket; nil if it is damaged. Thread safety: the writer only.
  public func saveBucket(_ bucket: Int) -> SavedBucket? {
    guard let chain = Chain(bucket: UInt64(bucket), in: state) else { return nil }
    return SavedBucket(
      words: (0..<chain.capacity).map { chain[$0] },
      owners: chain.overflowCount == 0 ? [] : (1...chain.overflowCount).map { Control.owner(chain.line($0).control) }
    )
  }
}
