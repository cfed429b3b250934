internal import EskerFormat

extension Writer {
  /// The number of keys looked up each time the lock is held: some tens of microseconds.
  private static let hashesLength = 128

  /// Calls `body`, under the writer's lock, with each address that the index has for keys of a keyspace, and perhaps with some
  /// of other keys; false if the keyspace has no hash list, so that the whole index is to be read.
  func withAddresses(
    of core: KeyspaceCore,
    _ tag: KeyspaceTag,
    _ body: (_ hash: UInt64, _ address: UInt64, inout WriterState) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    guard let keyHashes = withLock({ keydir.keyHashes(of: core, tag, $0.keys) }) else { return false }
    let hashes = Array(Set(keyHashes))
    for start in stride(from: 0, to: hashes.count, by: Self.hashesLength) {
      if start > 0 { letOthersIn() }
      let isWhole = try withLock { (state) throws(StoreError) -> Bool in
        try env.checkOpen()
        for hash in hashes[start..<min(start + Self.hashesLength, hashes.count)] {
          guard let addresses = keydir.addresses(for: hash, state.keys) else { return false }
          for address in addresses { try body(hash, address, &state) }
        }
        return true
      }
      guard isWhole else { return false }
    }
    return true
  }
}
