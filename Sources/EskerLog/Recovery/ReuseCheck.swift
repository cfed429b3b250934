internal import EskerFormat

/// Finds how much of a log segment is complete where records have replaced others, so that gaps in their numbers show nothing.
///
/// After a power failure any page may be as it was at some time since the last sync, and an older record may be in the place of a
/// newer one. The sum in front of each mark, and that of the segment, are right only if nothing is missing or old; see `ReuseWords`.
enum ReuseCheck {
  /// The offset up to which no record is missing; 0 if that is not known, or no record has replaced another.
  ///
  /// - Parameter durable: The number up to which all records are known to have been synced: those are not verified here.
  static func end(of segment: Segment, durable: UInt64) -> Int {
    var words = segment.reuseWords
    guard words.last != 0 else { return 0 }
    var end = 0
    // A writer in another process, which replaces nothing any more, may go on meanwhile.
    for _ in 0..<8 {
      end = Self.end(of: segment, words, durable)
      let now = segment.reuseWords
      if now == words { break }
      words = now
    }
    return end
  }

  private static func end(of segment: Segment, _ words: ReuseWords, _ durable: UInt64) -> Int {
    // Also what an earlier recovery has cut off, as the sum is over that too.
    let limit = segment.reach(.max)
    guard words.base <= UInt64(limit >> 3), words.base >= UInt64(SegmentHeader.length >> 3) else { return 0 }
    var offset = Int(words.base) << 3
    var whole = 0
    // The sum over all records but the one at `words.place`, and the number of that one.
    var (others, found): (UInt64, UInt64) = (0, 0)
    while case .record(let header) = segment.readRecord(at: offset, end: limit), header.kind != .seal {
      let place = UInt64(offset >> 3)
      if header.kind == .filler {
        if header.isMark, header.keyHash == others &+ ReuseWords.mix(found, at: words.place) {
          whole = offset + header.size
        }
      } else if header.sequence > durable, segment.view(at: offset, end: limit)?.bodyIsIntact != true {
        break
      } else if place == words.place {
        found = header.sequence
      } else {
        others &+= ReuseWords.mix(header.sequence, at: place)
      }
      offset += header.size
    }
    return words.isWhole(sumOfOthers: others, found: found) ? offset : whole
  }
}
