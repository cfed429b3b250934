internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

// Segments that a writer in another process is still writing.

extension Catalog {
  /// Maps what a writer in another process has added to a segment; false if there is nothing new.
  func growToFile(_ segment: Segment) -> Bool {
    let before = segment.readableEnd
    let hadNone = segment.renewMissed()
    try? segment.growToFile()
    guard segment.readableEnd > before else { return hadNone }
    granules.updateLimit(segment)
    return true
  }

  /// Retries pages that could not be read in. Must be called after a manifest was read: what it calls sealed is there by
  /// now.
  func renewMissed() {
    for segment in segments { segment.renewMissed() }
  }

  /// The number of the first record in a segment, which may extend beyond what has been mapped so far.
  func firstNumber(of segment: Segment) -> UInt64? {
    if let number = segment.firstNumber { return number }
    return !segment.isEmpty && growToFile(segment) ? segment.firstNumber : nil
  }

  /// Orders log segments by their first records, which a writer in another process may be writing at the moment.
  ///
  /// Numbers are published in order. So once two passes over all segments agree, a segment was seen whenever one that
  /// begins after it was.
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
  /// Maps again the pages that could not be read in; true if there were any.
  ///
  /// A writer in another process truncates the file to what it has used when it closes. A reader that touches such a page
  /// at that moment gets zeros, which stay even when the next writer continues in the file.
  @discardableResult
  func renewMissed() -> Bool {
    guard mapping.isFaulted else { return false }
    try? mapping.renew()
    return true
  }

  /// Notes that the file may be shorter than it was: a process that closes the store cuts off what was not used. What was read of the
  /// segment is in front of that.
  ///
  /// - Parameter length: The bytes that the manifest says are durable.
  func shrinkToFile(durable length: Int) {
    durableLength.store(length, ordering: .relaxed)
    guard let size = try? file.status().size else { return }
    accessible.min(size, ordering: .acquiringAndReleasing)
  }

  /// The word at `offset`, a multiple of eight, as another process may have published it; 0 beyond the end.
  ///
  /// Acquiring: a thread that sees the word sees the record that begins with it.
  ///
  /// Safety: the segment keeps the mapping, and the word lies before the readable end. The mapping is aligned to a page,
  /// and `Atomic<UInt64>` has the layout of `UInt64`.
  func nextWord(at offset: Int) -> UInt64 {
    guard offset + 8 <= readableEnd else { return 0 }
    return unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
  }

  /// The number of the first record; nil if there is none, or it cannot be read. For a segment that may have grown, see
  /// ``Catalog/firstNumber(of:)``.
  var firstNumber: UInt64? {
    guard case .record(let header) = readRecord(at: SegmentHeader.length, end: readableEnd), header.kind != .seal else {
      return nil
    }
    return header.sequence
  }

  /// Whether there is no record, nor the rest of one.
  var isEmpty: Bool {
    // In this order: the look itself may find that the page cannot be read.
    readableEnd >= SegmentHeader.length + 8 && nextWord(at: SegmentHeader.length) == 0 && !mapping.isFaulted
  }

  /// Notes where a log segment ends that was read and gets no more records, unless the manifest has already said so.
  func settleRead(to end: Int, last: UInt64, _ granules: GranuleTable) {
    guard !isSettled else { return }
    change { $0.seal(at: end, last: last) }
    granules.updateLimit(self)
  }
}
