internal import EskerFormat
internal import EskerIndex

/// Brings the index up to the log, a window of records at a time.
///
/// The newest record of a key wins, whatever the order. Records wait in a window between the moment their bucket is asked for
/// and the moment they enter it, so that the waits for memory overlap.
struct Replay: ~Copyable {
  private let writer: Writer
  /// Whether records only take the place of their own copies.
  private let onlyMoves: Bool
  private var window: [LogRecord] = []
  private static let depth = 32
  /// Records that took part.
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

  /// Lets all records take effect that wait. Takes the writer's lock, so that nobody walks the index meanwhile.
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
