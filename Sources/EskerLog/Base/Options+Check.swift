internal import EskerPlatform

extension Options {
  /// The minimum capacity in bytes: a few small segments, and the files that every store has.
  static let leastCapacity = 256 << 10

  /// Throws if an option is invalid, before anything is created.
  func check(for path: String) throws(StoreError) {
    func require(_ isPossible: Bool, _ operation: @autoclosure () -> String) throws(StoreError) {
      guard !isPossible else { return }
      throw .failed(operation: operation(), path: path, errno: PlatformError.invalid)
    }
    if let capacity {
      try require(capacity >= Options.leastCapacity, "use a capacity of \(capacity) bytes for")
    }
    try require((64 << 10...1 << 30).contains(segmentSize), "use a segment size of \(segmentSize) for")
    try require(!merge.spaceAmplification.isNaN, "use NaN as space amplification for")
    if let rate = merge.bytesPerSecond { try require(rate > 0, "merge at \(rate) bytes per second in") }
  }
}
