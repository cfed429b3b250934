internal import EskerFormat
internal import EskerIndex

/// Applies records to the index, a window of them at a time.
///
/// The newest record of a key wins, whatever the order. The buckets of the records in the window are prefetched, so that
/// the waits for memory overlap.
struct LogReplay: ~Copyable {
  private let writer: Writer
  /// Whether records only replace their own copies.
  private let onlyMoves: Bool
  private var window: [LogRecord] = []
  private static let depth = 32
  /// The number of records applied.
  private(set) var count = 0

  init(_ writer: Writer, onlyMoving onlyMoves: Bool = false) {
    self.writer = writer
    self.onlyMoves = onlyMoves
    window.reserveCapacity(Self.depth)
  }

  mutating func apply(_ record: LogRecord) {
    writer.keydir.reader.prefetch(record.hash)
    window.append(record)
    if window.count == Self.depth { drain() }
  }

  /// Applies the records in the window. Takes the writer's lock, so that no other thread walks the index meanwhile.
  mutating func drain() {
    guard !window.isEmpty else { return }
    writer.withLock { state in
      var start = 0
      while start < window.count {
        let first = window[start]
        var end = start + 1
        if first.kind == .reset {
          writer.keydir.applyReset(first, state.keys)
        } else {
          while end < window.count, window[end].keyspace == first.keyspace, window[end].kind != .reset { end += 1 }
          writer.keydir.apply(window, start..<end, onlyMoving: onlyMoves, state.keys)
        }
        start = end
      }
    }
    count += window.count
    window.removeAll(keepingCapacity: true)
  }
}
