internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Follower {
  /// Loads everything that a manifest lists and the index lacks at once, where records cannot be read one by one: a part
  /// of the log was merged away unread, is damaged, or has numbers that a recovery skipped.
  ///
  /// Meanwhile the index is in a state that the writer's never was in, so others wait: snapshots for `following`, and
  /// reads because of the status. Called with `following` held.
  ///
  /// - Parameters:
  ///   - opened: The new segments.
  ///   - last: Where it may stop, unless more was durable.
  func load(
    _ manifest: Manifest,
    _ opened: [Segment],
    through last: UInt64,
    _ follower: inout LogPosition,
    _ events: inout [StoreEvent]
  ) {
    env.beginLoading()
    defer { env.endLoading() }
    // The record that emptied or removed a keyspace may have been merged away.
    let left = Set(manifest.keyspaces.map(\.id))
    writer.withLock { state in
      for core in keydir.keyspaces.all
      where core.id != 0 && core.id < manifest.nextKeyspaceID && !left.contains(core.id) {
        keydir.remove(core, at: manifest.durableSequence, state.keys)
      }
      for row in manifest.keyspaces where row.incarnation > 0 {
        keydir.applyReset(
          LogRecord(
            hash: 0,
            address: 0,
            sequence: manifest.durableSequence,
            size: 0,
            unpackedSize: 0,
            kind: .reset,
            keyspace: row.tag,
            expiry: .max
          ),
          state.keys
        )
      }
    }
    let recovery = Recovery(writer)
    var merged = MergedReplay(writer, upTo: follower.whole)
    for segment in opened where segment.kind != .log { merged.take(segment, damage: &events) }
    settleBeforeLoading(manifest, follower)
    let (offset, expected) = follower.restart
    let listed = Set(manifest.segments.map(\.id))
    let log = catalog.ordering(catalog.segments.filter { listed.contains($0.id) && $0.mayHold(expected) })
    // The rest of the segment being read comes first.
    let isGoingOn = log.first.map { $0 === follower.segment } ?? false
    var scanner = LogScanner(writer, manifest, expected: expected, through: last)
    let start = isGoingOn ? offset : log.first.map { recovery.firstOffset(after: expected &- 1, in: $0) }
    recovery.read(log, from: start ?? SegmentHeader.length, manifest, &scanner, &events)
    scanner.finish()
    merged.finish()
    events += scanner.damage.map(\.event)
    let place = recovery.place(behind: scanner, log)
    if let (segment, offset) = place {
      if let current = follower.segment, current !== segment {
        current.settleRead(to: follower.restart.offset, last: follower.restart.expected &- 1, catalog.granules)
      }
      follower.segment = segment
      follower.offset = offset
      follower.isHeldUp = false
    } else {
      follower.offset = follower.restart.offset
    }
    recovery.settleRead(log, scanner, goingOnIn: follower.segment)
    follower.batch = []
    follower.whole = max(follower.whole, scanner.expected &- 1)
    // What is durable but not in the log was merged away.
    if scanner.cut == nil { follower.whole = max(follower.whole, manifest.durableSequence) }
    assert(follower.whole >= manifest.durableSequence, "a manifest takes effect before all that was durable is read")
    follower.expected = follower.whole &+ 1
    adopt(manifest, &follower, &events)
    publish(follower)
  }
}

extension Segment {
  /// Whether this is a log segment that may contain records from a number on.
  fileprivate func mayHold(_ sequence: UInt64) -> Bool {
    kind == .log && (!isSealed || lastSequence >= sequence)
  }
}
