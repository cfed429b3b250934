internal import EskerFormat
internal import EskerIndex
internal import Synchronization

// The hash lists of small keyspaces. They change under the writer's lock only.

extension Keydir {
  /// The maximum number of hashes in all hash lists, of eight bytes each: two bytes for each key of the store, and half a mebibyte.
  private var keyHashLimit: Int { 64 << 10 + count / 4 }

  /// Notes a key that the index is about to get. Called for a keyspace with a hash list, which it may lose.
  func enlist(_ hash: UInt64, in core: KeyspaceCore, _ keys: borrowing KeydirState) {
    core.keyHashes.withLock { keyHashes in
      if keyHashes.isFull {
        let before = keyHashes.capacity
        let kept = Set(keyHashes.hashes).filter { mayLead($0) }
        let budget = keyHashLimit - keyHashCapacity.load(ordering: .relaxed)
        guard keyHashes.renew(Array(kept), budget: budget) else {
          drop(&keyHashes, of: core)
          return
        }
        keyHashCapacity.wrappingAdd(keyHashes.capacity - before, ordering: .relaxed)
      }
      keyHashes.append(hash)
    }
  }

  private func drop(_ keyHashes: inout KeyHashList, of core: KeyspaceCore) {
    keyHashCapacity.wrappingSubtract(keyHashes.capacity, ordering: .relaxed)
    keyHashes = KeyHashList()
    core.hasKeyHashes = false
  }

  /// Begins the hash list of a keyspace that has no entries.
  func beginKeyHashes(of core: KeyspaceCore) {
    core.keyHashes.withLock { drop(&$0, of: core) }
    core.hasKeyHashes = core.id != 0 && !core.tag.isRemoved
  }

  /// Adopts a hash list from a checkpoint; none if there is none.
  func adoptKeyHashes(_ hashes: [UInt64]?, of core: KeyspaceCore) {
    beginKeyHashes(of: core)
    guard let hashes, let keyHashes = KeyHashList(hashes),
      keyHashes.capacity <= keyHashLimit - keyHashCapacity.load(ordering: .relaxed)
    else {
      core.hasKeyHashes = false
      return
    }
    core.keyHashes.withLock { $0 = keyHashes }
    keyHashCapacity.wrappingAdd(keyHashes.capacity, ordering: .relaxed)
  }

  /// Whether the index may lead to a record with this hash.
  private func mayLead(_ hash: UInt64) -> Bool {
    var probe = writeProbe(hash)
    return probe.next() != nil || probe.isDamaged
  }

  /// The hashes that entries of a keyspace have; nil if it has no hash list, or is not in that incarnation.
  func keyHashes(of core: KeyspaceCore, _ tag: KeyspaceTag, _ keys: borrowing KeydirState) -> [UInt64]? {
    guard core.tag == tag, core.hasKeyHashes else { return nil }
    return core.keyHashes.withLock { $0.hashes }
  }

  /// The addresses to which the index leads for a hash; nil if a part of the index is damaged.
  func addresses(for hash: UInt64, _ keys: borrowing KeydirState) -> [UInt64]? {
    var probe = writeProbe(hash)
    var found: [UInt64] = []
    while let address = probe.next() { found.append(address) }
    return probe.isDamaged ? nil : found
  }
}
