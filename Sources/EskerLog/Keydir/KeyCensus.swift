internal import EskerFormat

/// Estimates the number of keys in the log before it is replayed, so that the index can be created at its final size.
///
/// Counts exactly the keys whose hashes fall into one of 256 parts, so a key that was written a million times counts once.
struct KeyCensus {
  private var sample: Set<UInt64> = []
  private static let shift: UInt64 = 56

  @inline(__always)
  mutating func see(_ hash: UInt64, _ kind: RecordKind) {
    if hash >> Self.shift == 0 { note(hash, kind) }
  }

  private mutating func note(_ hash: UInt64, _ kind: RecordKind) {
    switch kind {
    case .put: sample.insert(hash)
    case .tombstone: sample.remove(hash)
    case .reset: sample.removeAll()
    case .seal, .filler: break
    }
  }

  /// A likely lower bound of the number of keys: two standard deviations below the estimate. A table that is a little too small
  /// grows; one that is too large never shrinks.
  var keys: Int {
    let count = Double(sample.count)
    return Int(max(0, count - 2 * count.squareRoot())) << 8
  }
}

extension Keydir {
  /// Gives the empty index the size that the log calls for.
  func makeRoomInIndex(for segments: [Segment], durable: UInt64) {
    var census = KeyCensus()
    // The replay will report the damage.
    var ignored: [StoreEvent] = []
    for segment in segments {
      if let (footer, bytes) = segment.durableFooter(durable: durable, damage: &ignored) {
        census.see(footer, bytes, segment.layout)
      } else if let view = segment.packedView(end: segment.readableEnd) {
        census.see(view, env.seed)
      } else {
        census.see(segment)
      }
    }
    makeRoom(for: census.keys)
  }
}

extension KeyCensus {
  fileprivate mutating func see(_ footer: SegmentFooter, _ bytes: [UInt8], _ layout: SegmentLayout) {
    var cursor = footer.entries(layout)
    var entries: [FooterEntry] = []
    let bytes = ContiguousArray(bytes)
    // Safety: the span is used only during the call, and the array is kept.
    while (try? unsafe cursor.next(into: &entries, from: bytes.span.bytes)) != nil, !entries.isEmpty {
      for position in entries.indices { see(entries[position].keyHash, entries[position].kind) }
    }
  }

  fileprivate mutating func see(_ view: PackedSegmentView, _ seed: HashSeed) {
    var walk = PackedWalk(view)
    while let step = walk.next(in: view) {
      if case .record(let entry) = step { see(entry.keyHash(seed), entry.kind) }
    }
  }

  /// Follows the records by their lengths, without verifying them: enough for an estimate.
  fileprivate mutating func see(_ segment: Segment) {
    let end = segment.readableEnd
    var offset = SegmentHeader.length
    while let record = segment.view(at: offset, end: end), let kind = record.kind, kind != .seal {
      see(record.keyHash, kind)
      offset += record.size
    }
  }
}
