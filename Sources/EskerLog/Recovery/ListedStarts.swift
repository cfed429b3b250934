internal import EskerFormat

/// The numbers at which the manifest says that the log goes on. What has the numbers in front of them was cut off or merged away.
struct ListedStarts {
  private let manifest: Manifest
  private let numbers: [UInt64: UInt64]

  init(_ manifest: Manifest) {
    self.manifest = manifest
    numbers = Dictionary(
      manifest.segments.lazy.map { ($0.id, $0.firstSequence) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// The number at which the log continues in a segment at the earliest; 0 if the manifest does not say.
  ///
  /// The segment may begin with a later number by now: an empty tail is skipped if a record is too large for it, and what
  /// is written meanwhile is in segments that only a newer manifest lists.
  ///
  /// - Parameters:
  ///   - rest: The segment, and those behind it.
  ///   - isFirst: Whether everything before the segment was merged away.
  func start(of rest: ArraySlice<Segment>, isFirst: Bool) -> UInt64 {
    guard let segment = rest.first else { return 0 }
    var listed = numbers[segment.id] ?? 0
    // Nothing had been written to it when the manifest was made. So all that was merged away by then has lower numbers, and it does not
    // begin below a tail: it may have been used in the place of one that was skipped, with the number that both were to begin with.
    if listed == 0, !segment.isSettled {
      let tail = rest.lazy.filter { !$0.isSettled }.compactMap { numbers[$0.id] }.filter { $0 != 0 }.min() ?? 0
      listed = max(tail, manifest.mergedThrough == 0 ? 0 : manifest.mergedThrough &+ 1)
    }
    if listed != 0 || !isFirst { return listed }
    return min(segment.firstSequence, Recovery.lastSequence(withoutLog: manifest) &+ 1)
  }
}
