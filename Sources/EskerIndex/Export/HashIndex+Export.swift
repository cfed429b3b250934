/// The second section of an image during an export: the part not yet written out, and the length so far.
public struct OverflowImage: Sendable {
  /// The number of lines exported, including the reserved line 0.
  public private(set) var lineCount = 1
  /// Little-endian words of the lines that ``drain(_:)`` has not passed on yet.
  private var pending = [UInt64](repeating: 0, count: 8)

  /// Starts a section with the reserved line.
  public init() {}

  /// The number of bytes waiting for ``drain(_:)``.
  public var pendingByteCount: Int { pending.count * 8 }

  /// Passes the next bytes to write to `body`, and drops them unless it throws.
  public mutating func drain<E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) {
    // Safety: the array outlives the closure.
    try unsafe pending.withUnsafeBufferPointer { (words) throws(E) in try unsafe body(UnsafeRawBufferPointer(words)) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Adds a chain, whose lines get consecutive numbers, and returns the first number.
  mutating func append(_ chain: Chain) -> UInt64 {
    let first = UInt64(lineCount)
    for index in 1...chain.overflowCount {
      let line = chain.line(index)
      for slot in 0..<Line.slotCount { pending.append(line[slot].littleEndian) }
      let next = index == chain.overflowCount ? 0 : first + UInt64(index)
      pending.append((next << 32 | Control.owner(line.control)).littleEndian)
    }
    lineCount += chain.overflowCount
    return first
  }

  /// Adds the overflow lines of a saved bucket; returns the first number.
  mutating func append(_ saved: SavedBucket) -> UInt64 {
    let first = UInt64(lineCount)
    for (index, owner) in saved.owners.enumerated() {
      for slot in 0..<Line.slotCount { pending.append(saved.words[(index + 1) * Line.slotCount + slot].littleEndian) }
      let next = index == saved.owners.count - 1 ? 0 : first + UInt64(index) + 1
      pending.append((next << 32 | owner).littleEndian)
    }
    lineCount += saved.owners.count
    return first
  }
}

extension HashIndex {
  /// Writes buckets in the format of an image: their lines to `main`, their chains' overflow lines to `overflow`.
  ///
  /// Set ``splitsPaused`` from the first slice to the last, and export all buckets in ascending order. `main` takes 64 bytes
  /// per bucket. Buckets in `saved` are written as they were when they were saved. Returns false if a bucket is damaged:
  /// then no image can be made. Thread safety: the writer only.
  public func exportBuckets(
    _ range: Range<Int>,
    saved: [Int: SavedBucket] = [:],
    main: UnsafeMutableRawBufferPointer,
    overflow: inout OverflowImage
  ) -> Bool {
    precondition(range.upperBound <= bucketCount && main.count >= range.count * Line.byteCount, "no such buckets")
    // Safety: the caller keeps the buffer until this returns. It is as long as the lines of all buckets, of eight words each.
    guard var line = main.baseAddress else { return range.isEmpty }
    for bucket in range {
      let next: UInt64
      if !saved.isEmpty, let saved = saved[bucket] {
        for slot in 0..<Line.slotCount {
          unsafe line.storeBytes(of: saved.words[slot].littleEndian, toByteOffset: slot * 8, as: UInt64.self)
        }
        next = saved.owners.isEmpty ? 0 : overflow.append(saved)
      } else {
        guard let chain = Chain(bucket: UInt64(bucket), in: state) else { return false }
        for slot in 0..<Line.slotCount {
          unsafe line.storeBytes(of: chain[slot].littleEndian, toByteOffset: slot * 8, as: UInt64.self)
        }
        next = chain.overflowCount == 0 ? 0 : overflow.append(chain)
      }
      unsafe line.storeBytes(of: (next << 32).littleEndian, toByteOffset: Line.slotCount * 8, as: UInt64.self)
      unsafe line += Line.byteCount
    }
    return true
  }
}
