internal import EskerIndex

extension Writer {
  /// The number of buckets examined each time the lock is held: some tens of microseconds.
  static let sliceLength = 64

  /// Calls `body` with the entries of the index, some at a time: each that stays meanwhile is among them once.
  ///
  /// The caller is pinned while `body` runs, without a lock: what the entries lead to may be read, and waited for.
  ///
  /// - Returns: False if a part of the index is damaged, and was skipped.
  @discardableResult
  func forEachSlice(_ body: ([IndexEntry]) -> Void) throws(StoreError) -> Bool {
    withLock { state in keydir.pauseSplits(&state.keys) }
    defer { withLock { state in keydir.resumeSplits(&state.keys) } }
    var (bucket, isWhole) = (0, true)
    var entries: [IndexEntry] = []
    while bucket < keydir.bucketCount {
      entries.removeAll(keepingCapacity: true)
      isWhole = try takeSlice(bucket..<bucket + Self.sliceLength, &entries, body) && isWhole
      bucket += Self.sliceLength
      letOthersIn()
    }
    return isWhole
  }

  private func takeSlice(
    _ buckets: Range<Int>,
    _ entries: inout [IndexEntry],
    _ body: ([IndexEntry]) -> Void
  ) throws(StoreError) -> Bool {
    let pin = keydir.epochs.enter()
    defer { keydir.epochs.exit(pin) }
    let isWhole = try withLock { (state) throws(StoreError) -> Bool in
      try env.checkOpen()
      return keydir.forEachEntry(inBuckets: buckets, state.keys) { entries.append($0) }
    }
    body(entries)
    return isWhole
  }
}
