internal import EskerFormat
internal import EskerIndex
internal import Synchronization

// The rosters of small keyspaces. They change under the writer's lock only.

extension Keydir {
  /// The most hashes in all rosters, of eight bytes each: two bytes for each key of the store, and half a mebibyte.
  private var rosterLimit: Int { 64 << 10 + count / 4 }

  /// Notes a key that the index got. Called for a keyspace with a roster, which it may lose.
  @inline(never)
  func enlist(_ hash: UInt64, in core: KeyspaceCore?, _ keys: borrowing KeysState) {
    guard let core else { return }
    core.roster.withLock { roster in
      if roster.isFull {
        let before = roster.room
        let kept = Set(roster.hashes).filter { mayLead($0) }
        let budget = rosterLimit - rostered.load(ordering: .relaxed)
        guard roster.renew(Array(kept), budget: budget) else {
          drop(&roster, of: core)
          return
        }
        rostered.wrappingAdd(roster.room - before, ordering: .relaxed)
      }
      roster.append(hash)
    }
  }

  private func drop(_ roster: inout KeyRoster, of core: KeyspaceCore) {
    rostered.wrappingSubtract(roster.room, ordering: .relaxed)
    roster = KeyRoster()
    core.hasRoster.store(false, ordering: .relaxed)
  }

  /// Begins the roster of a keyspace that has no entries.
  func beginRoster(of core: KeyspaceCore) {
    core.roster.withLock { drop(&$0, of: core) }
    core.hasRoster.store(core.id != 0 && !core.tag.isRemoved, ordering: .relaxed)
  }

  /// Adopts a roster from a checkpoint; none if there is none.
  func adoptRoster(_ hashes: [UInt64]?, of core: KeyspaceCore) {
    beginRoster(of: core)
    guard let hashes, let roster = KeyRoster(hashes),
      roster.room <= rosterLimit - rostered.load(ordering: .relaxed)
    else { return core.hasRoster.store(false, ordering: .relaxed) }
    core.roster.withLock { $0 = roster }
    rostered.wrappingAdd(roster.room, ordering: .relaxed)
  }

  /// Whether the index may lead to a record with this hash.
  private func mayLead(_ hash: UInt64) -> Bool {
    var probe = writeProbe(hash)
    return probe.next() != nil || probe.isDamaged
  }

  /// The hashes that entries of a keyspace have; nil if it has no roster, or is not in that incarnation.
  func roster(of core: KeyspaceCore, _ tag: KeyspaceTag, _ keys: borrowing KeysState) -> [UInt64]? {
    guard core.tag == tag, core.hasRoster.load(ordering: .relaxed) else { return nil }
    return core.roster.withLock { $0.hashes }
  }

  /// The addresses to which the index leads for a hash; nil if a part of the index is damaged.
  func addresses(for hash: UInt64, _ keys: borrowing KeysState) -> [UInt64]? {
    var probe = writeProbe(hash)
    var found: [UInt64] = []
    while let address = probe.next() { found.append(address) }
    return probe.isDamaged ? nil : found
  }
}
