extension Options {
  /// When what was removed, overwritten or evicted, or has expired, is gone from the store's files. See <doc:Erasure>.
  public enum Erasure: Sendable, Hashable {
    /// When a merge takes its place, which may be never: a store merges to save space.
    case whenMerged
    /// At the latest after this time, as long as the store is open for writing. What was due while it was closed is erased when it is opened
    /// next. At least one second; opening a store with less fails.
    ///
    /// Every half of that time, segments with anything that is dead are written anew, without regard to ``Merge/isAutomatic``,
    /// ``Merge/window`` and ``Merge/bytesPerSecond``. Values are packed without a dictionary, which would have parts of them.
    case within(Duration)
  }
}

extension Options.Erasure: CustomStringConvertible {
  /// `when merged`, or `within 3600.0 seconds`.
  public var description: String {
    switch self {
    case .whenMerged: "when merged"
    case .within(let time): "within \(time)"
    }
  }
}
