internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// What a read-only store has read of the writer's merges while it was still reading the log.
struct FollowedMerges {
  /// Segments that are not listed any more. What the index still leads to in them is dead once the log has been read.
  var delisted: [Segment] = []
  /// One that the index does not lead to any more, kept because its end is where the log is being read.
  var leaving: Segment?
  /// Tombstones from parts of the log that were merged away before they were read. The index remembers no tombstone, so
  /// they wait until the log has been read.
  var tombstones: [LogRecord] = []
  /// Everything up to here is in the log or was merged.
  var durable: UInt64 = 0
}

extension Engine {
  /// Leads the index to what merges wrote. Called with `opening` held; what was read of the log is in the index.
  ///
  /// Of records that had been read, those the index leads to have a new place, and all others are dead. Records that had
  /// not been read come from a part of the log that is gone; they count like any other.
  func beginFollowing(_ manifest: Manifest, _ opened: [Segment], _ follower: inout LogFollower) {
    let snapshots = writer.withLock { $0.snapshots }
    // The record that emptied a keyspace may be among what was merged away.
    for row in manifest.keyspaces where row.incarnation > 0 {
      applyReset(
        LogRecord(hash: 0, address: 0, sequence: manifest.durableSequence, size: 0, kind: .reset, keyspace: row.tag)
      )
    }
    var replay = Replay(self, notifying: snapshots)
    for segment in opened where segment.kind != .log {
      var damage: [StoreEvent] = []
      var walk = SegmentWalk(segment, of: self, damage: &damage)
      while let entry = walk.nextReadable(reporting: &damage) {
        let record = LogRecord(entry, of: segment)
        if entry.sequence < follower.expected {
          if entry.kind == .put { follow(record, notifying: snapshots) }
        } else if entry.kind == .put {
          replay.apply(record)
        } else {
          follower.merged.tombstones.append(record)
        }
      }
    }
    replay.drain()
    let listed = Set(manifest.segments.map(\.id))
    let known = Set((follower.merged.delisted + [follower.merged.leaving].compactMap { $0 }).map(\.id))
    follower.merged.delisted += segments.withLock { list in
      list.filter { !listed.contains($0.id) && !known.contains($0.id) }
    }
    follower.merged.durable = manifest.durableSequence
  }

  /// Follows a record to its new place, if the index leads to its old one.
  private func follow(_ record: LogRecord, notifying snapshots: [SnapshotState]) {
    var probe = index.writeProbe(record.hash)
    guard let existing = existing(record, &probe), existing.sequence == record.sequence,
      existing.address != record.address
    else {
      return
    }
    probe.replaceCurrent(with: record.address)
    for snapshot in snapshots { snapshot.noteSuperseded(existing.address, existing.sequence) }
    granules.addLive(at: existing.address, bytes: -existing.size)
    granules.addLive(at: record.address, bytes: record.size)
  }

  /// Lets go of what merges replaced. The log has been read to its end.
  func endFollowedMerges(_ follower: inout LogFollower) {
    let merged = follower.merged
    if let segment = merged.leaving, segment !== follower.segment {
      feeds.hold(self, through: follower.expected &- 1)
      letGo(of: segment)
      follower.merged.leaving = nil
    }
    guard !merged.delisted.isEmpty || !merged.tombstones.isEmpty else { return }
    let snapshots = writer.withLock { $0.snapshots }
    var replay = Replay(self, notifying: snapshots)
    for record in merged.tombstones { replay.apply(record) }
    replay.drain()
    follower.merged = FollowedMerges(leaving: follower.merged.leaving)
    feeds.hold(self, through: follower.expected &- 1)
    for segment in merged.delisted {
      let isCurrent = segment === follower.segment
      clear(segment, to: isCurrent ? follower.offset : nil, notifying: snapshots)
      if isCurrent { follower.merged.leaving = segment } else { letGo(of: segment) }
    }
    feeds.checkBounds(self)
    follower.expected = max(follower.expected, merged.durable &+ 1)
    epochs.collect()
  }

  /// Takes what is left of a segment out of the index.
  private func clear(_ segment: Segment, to end: Int?, notifying snapshots: [SnapshotState]) {
    var damage: [StoreEvent] = []
    var walk = SegmentWalk(segment, of: self, to: end, damage: &damage)
    while let entry = walk.nextReadable(reporting: &damage) {
      let record = LogRecord(entry, of: segment)
      guard entry.kind == .put, index.remove(record.hash, address: record.address) else { continue }
      for snapshot in snapshots { snapshot.noteSuperseded(record.address, record.sequence) }
      if let core = keyspaces.withLock({ $0.byID[record.keyspace.id] }), core.tag == record.keyspace {
        core.entryCount.subtract(1, ordering: .relaxed)
      }
    }
  }

  private func letGo(of segment: Segment) {
    segments.withLock { list in list.removeAll { $0 === segment } }
    segment.lease.retire(bytes: segment.fileLength)
    uninstall(segment)
  }
}
