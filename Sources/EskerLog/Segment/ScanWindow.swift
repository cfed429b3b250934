internal import EskerPlatform

/// Reads ahead of a scan of a segment in a store larger than memory, and releases the pages that it has passed.
///
/// There the kernel reads single pages (see ``PageAdvice``), and without this each would be waited for. Pages that were not in memory
/// before do not stay there either: a scan needs each once, and look-ups would lose theirs to it. A plain value: each scan keeps one for
/// its present segment.
struct ScanWindow {
  /// Bytes that are requested, or released, at a time.
  private static let step = 1 << 20

  private let segment: Segment
  private let end: Int
  private let isNeeded: Bool
  /// How far the bytes have been asked for.
  private var fetched: Int
  /// The ranges that were asked for and not passed yet, and what of them was not in memory.
  private var ahead: [(range: Range<Int>, absent: [Range<Int>])] = []

  init(_ segment: Segment, from start: Int = 0) {
    self.segment = segment
    end = segment.readableEnd
    isNeeded = segment.pages.isBeyondMemory
    fetched = start / Self.step * Self.step
  }

  /// Called before the bytes of a record are read, or its header while its size is unknown. None before it are needed any more.
  @inline(__always)
  mutating func reach(_ offset: Int, size: Int = 0) {
    if isNeeded, offset &+ size &+ Self.step > fetched { advance(to: offset, size) }
  }

  /// Whether what stands at an offset that was reached was in memory before: then look-ups use it. True in a store that fits.
  mutating func wasPresent(_ offset: Int) -> Bool {
    guard isNeeded, let place = ahead.firstIndex(where: { $0.range.contains(offset) }) else { return true }
    // Offsets ascend, so what ends before this one is not asked about again; it is let go at once.
    while let first = ahead[place].absent.first, first.upperBound <= offset {
      segment.mapping.letGo(first)
      ahead[place].absent.removeFirst()
    }
    return ahead[place].absent.first?.contains(offset) != true
  }

  /// Called at the end of the scan.
  mutating func finish() { letGo(before: .max) }

  private mutating func advance(to offset: Int, _ size: Int) {
    letGo(before: offset)
    fetched = max(fetched, offset / Self.step * Self.step)
    while fetched < min(end, offset + size + 2 * Self.step) {
      let range = fetched..<min(end, fetched + Self.step)
      ahead.append((range, segment.mapping.absentRanges(in: range)))
      segment.mapping.fetch(range)
      fetched = range.upperBound
      if range.count < Self.step { break }
    }
  }

  private mutating func letGo(before offset: Int) {
    while let (range, absent) = ahead.first, range.upperBound <= offset {
      ahead.removeFirst()
      for range in absent { segment.mapping.letGo(range) }
    }
  }
}
