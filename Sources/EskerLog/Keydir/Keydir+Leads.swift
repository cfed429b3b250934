internal import EskerFormat
internal import EskerIndex

extension Keydir {
  /// Whether the index led to exactly this record at a snapshot's instant.
  func leads(to address: UInt64, hash: UInt64, in state: SnapshotState) -> Bool {
    // The index first: a record is noted before it is taken out of the index.
    (leads(to: address, hash: hash) && !state.hasEntered(address)) || state.wasSuperseded(address)
  }

  /// Whether the index leads to exactly this record.
  func leads(to address: UInt64, hash: UInt64) -> Bool {
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    var probe = reader.probe(hash)
    while let candidate = probe.next() {
      if candidate == address { return true }
    }
    return false
  }
}
