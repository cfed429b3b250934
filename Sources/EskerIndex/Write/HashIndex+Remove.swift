extension HashIndex {
  /// Removes the entry with this hash and address; false if there is none, or its bucket is damaged.
  ///
  /// Complexity: like a probe; linear in the chain.
  public func remove(_ hash: UInt64, address: UInt64) -> Bool {
    let bucket = state.bucket(of: hash)
    guard var chain = Chain(bucket: bucket, in: state) else { return false }
    let word = Slot.fingerprint(hash) | address & Slot.addressMask
    guard word & Slot.addressMask != 0 else { return false }
    for position in 0..<chain.capacity where chain[position] == word {
      remove(position, from: &chain)
      return true
    }
    return false
  }

  /// Removes an entry, filling the hole with the chain's last entry.
  func remove(_ position: Int, from chain: inout Chain) {
    let last = chain.end() - 1
    if position != last {
      chain[position] = chain[last]
      chain.bumpVersion()
    }
    chain[last] = 0
    chain.truncate(to: last, pool)
    let count = state[.entryCount]
    if count > 0 { state[.entryCount] = count - 1 }
  }
}
