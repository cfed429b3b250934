internal import EskerFormat
internal import EskerIndex

/// Up to sixteen records that are looked up in the index at once.
struct LeadBatch {
  fileprivate var hashes = SIMD16<UInt64>()
  fileprivate var addresses = SIMD16<UInt64>()
  /// A bit for each: whether it is looked up.
  fileprivate var wanted: UInt16 = 0
  fileprivate var count = 0

  var isFull: Bool { count == hashes.scalarCount }

  /// Adds a record. There must be room.
  mutating func add(_ hash: UInt64, _ address: UInt64) {
    hashes[count] = hash
    addresses[count] = address
    wanted |= 1 << count
    count += 1
  }

  /// Skips the place of a record that is not looked up. There must be room.
  mutating func skip() { count += 1 }
}

extension Keydir {
  /// Whether the index led to exactly this record at a snapshot's instant.
  func leads(to address: UInt64, hash: UInt64, in state: SnapshotState) -> Bool {
    // The index first: a record is noted before it is taken out of the index.
    isShown(address, ifLed: leads(to: address, hash: hash), in: state)
  }

  /// The same for each record of a batch, bit by bit. The index's waits for memory overlap.
  func leads(_ batch: LeadBatch, in state: SnapshotState) -> UInt16 {
    for position in 0..<batch.count where batch.wanted >> position & 1 == 1 { reader.prefetch(batch.hashes[position]) }
    let pin = epochs.enter()
    var found: UInt16 = 0
    for position in 0..<batch.count where batch.wanted >> position & 1 == 1 {
      if isLed(batch.hashes[position], to: batch.addresses[position]) { found |= 1 << position }
    }
    epochs.exit(pin)
    var shown: UInt16 = 0
    for position in 0..<batch.count where batch.wanted >> position & 1 == 1 {
      let isLed = found >> position & 1 == 1
      if isShown(batch.addresses[position], ifLed: isLed, in: state) { shown |= 1 << position }
    }
    return shown
  }

  /// Whether the index leads to exactly this record.
  func leads(to address: UInt64, hash: UInt64) -> Bool {
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    return isLed(hash, to: address)
  }

  /// Calls `body` with each address to which the index leads for a hash, or one like it; false if a part of the index is damaged.
  func forEachAddress(for hash: UInt64, _ body: (UInt64) -> Void) -> Bool {
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    var probe = reader.probe(hash)
    while let address = probe.next() { body(address) }
    return !probe.isDamaged
  }

  /// Whether the index leads to every record of a segment that ends there. Under the writer's lock; cheap.
  ///
  /// The live figures cover exactly the records that the index leads to. So if they make up all bytes, none is dead, and there is
  /// no tombstone, mark or filler. A damaged record counts with the size that it seems to have: there, the index decides.
  ///
  /// Figures come from a checkpoint, too. Those of a forged one can be wrong: then a snapshot shows records that were dead.
  func leadsToAll(of segment: Segment, to end: Int) -> Bool {
    !segment.layout.isPacked && !isDamaged && !isIncomplete && !isLogForged
      && granules.live(segment).bytes == end - SegmentHeader.length
  }

  private func isShown(_ address: UInt64, ifLed isLed: Bool, in state: SnapshotState) -> Bool {
    (isLed && !state.hasEntered(address)) || state.wasSuperseded(address)
  }

  /// The caller is pinned.
  @inline(__always)
  private func isLed(_ hash: UInt64, to address: UInt64) -> Bool {
    var probe = reader.probe(hash)
    while let candidate = probe.next() {
      if candidate == address { return true }
    }
    return false
  }
}
