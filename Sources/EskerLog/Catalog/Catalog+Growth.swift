internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

// Segments that a writer in another process goes on writing.

extension Catalog {
  /// Maps what a writer in another process has added to a segment; false when there is nothing new.
  func growToFile(_ segment: Segment) -> Bool {
    let before = segment.readableEnd
    let hadNone = segment.renewMissed()
    try? segment.growToFile()
    guard segment.readableEnd > before else { return hadNone }
    granules.updateLimit(segment)
    return true
  }

  /// Looks again at pages that could not be had. To be called once a manifest was read: what is sealed by it is there by now.
  func renewMissed() {
    for segment in segments { segment.renewMissed() }
  }

  /// The number of the record that a segment begins with, which may reach beyond what was mapped so far.
  func firstNumber(of segment: Segment) -> UInt64? {
    if let number = segment.firstNumber { return number }
    let isSeen = segment.readableEnd >= SegmentHeader.length + 8 && !segment.mapping.isFaulted
    let isEmpty = isSeen && segment.nextWord(at: SegmentHeader.length) == 0
    return !isEmpty && growToFile(segment) ? segment.firstNumber : nil
  }

  /// Orders log segments by their first records, which a writer in another process may just be writing.
  ///
  /// Numbers are published in order. So once two looks at all segments agree, each segment that begins below one that was
  /// seen was seen too.
  func ordering(_ list: [Segment]) -> [Segment] {
    var before: [UInt64?] = []
    while true {
      let firsts = list.map { firstNumber(of: $0) }
      if firsts == before { break }
      before = firsts
    }
    for (segment, first) in zip(list, before) where !segment.isSettled {
      if let first { segment.change { $0.begin(with: first) } }
    }
    return Self.inOrder(list)
  }
}

extension Segment {
  /// Maps pages again that could not be had; true if there were some.
  ///
  /// A writer in another process cuts off what it has not used when it closes. Whoever looks there right then is given zeros,
  /// which stay while the next writer goes on in the file.
  @discardableResult
  func renewMissed() -> Bool {
    guard mapping.isFaulted else { return false }
    try? mapping.renew()
    return true
  }

  /// The word at `offset`, as another process may have published it; 0 beyond the end.
  ///
  /// Safety: the segment keeps the mapping, and the word lies before the readable end. The mapping is aligned to a page,
  /// and `Atomic<UInt64>` has the layout of `UInt64`.
  func nextWord(at offset: Int) -> UInt64 {
    guard offset + 8 <= readableEnd else { return 0 }
    return unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
  }

  /// The number of the record that the segment begins with; nil when there is none, or it cannot be read: see
  /// `firstNumber(of:)` for a segment that may have grown.
  var firstNumber: UInt64? {
    guard case .record(let header) = readRecord(at: SegmentHeader.length, end: readableEnd), header.kind != .seal else {
      return nil
    }
    return header.sequence
  }

  /// Notes where a log segment ends that was read and gets no more records, unless the manifest has said so.
  func settleRead(to end: Int, last: UInt64, _ granules: GranuleTable) {
    guard !isSettled else { return }
    change { $0.seal(at: end, last: last) }
    granules.updateLimit(self)
  }
}
