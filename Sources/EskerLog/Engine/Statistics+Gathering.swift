internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Statistics {
  /// Gathers the statistics. Does no I/O except to query file sizes, outside all locks.
  init(of engine: Engine) {
    let (env, commits, catalog, keydir) = (engine.env, engine.commits, engine.catalog, engine.keydir)
    var result = Statistics()
    let tail = engine.writer.withLock { state in
      result.recordsWritten = state.recordsWritten
      result.bytesLogged = state.bytesLogged
      result.openSnapshots = state.keys.openSnapshots
      return state.logTail
    }
    result.settings = Options.Settings(catalog.settings)
    result.merges = engine.merger.figures.count
    result.merged = engine.merger.figures.report
    result.pinnedBytes = catalog.pinnedBytes
    result.keys = keydir.keyspaces.count
    result.indexBytes = keydir.byteCount
    result.indexLoad = keydir.bucketCount == 0 ? 0 : Double(keydir.count) / Double(keydir.bucketCount * 7)
    result.lastSequence = SequenceNumber(rawValue: commits.publishedSequence)
    result.durableSequence = SequenceNumber(rawValue: commits.durableSequence)
    result.syncs = commits.latencies
    result.puts = env.puts.histogram
    result.gets = env.gets.histogram
    result.bytesWritten = result.bytesLogged + env.bytesWritten
    // In a forged manifest, two keyspaces may have the same name.
    let keyspaces = keydir.keyspaces.all.map { ($0.name, Statistics.KeyspaceFigures($0)) }
    result.keyspaces = Dictionary(keyspaces, uniquingKeysWith: { first, _ in first })
    for (_, keyspace) in keyspaces {
      result.merged.recordsEvicted += keyspace.evicted
      result.merged.bytesEvicted += keyspace.evictedBytes
    }
    // Records in the outputs of a running merge may be live too.
    let unlisted = catalog.unlisted
    let list = catalog.segments
    for segment in list {
      let live = catalog.granules.live(segment)
      let first = segment.firstSequence
      let last = segment === tail.segment ? commits.publishedSequence : segment.lastSequence
      var row = Statistics.SegmentFigures(
        id: segment.id,
        path: segment.path,
        isMerged: segment.kind != .log,
        isSealed: segment.isSealed,
        recordBytes: tail.recordBytes(of: segment),
        liveBytes: live.bytes,
        fileBytes: (try? segment.file.status().size) ?? 0,
        sequences: first != 0 && first <= last ? first...last : nil
      )
      row.isPacked = segment.layout.isPacked
      row.unpackedBytes = row.isPacked ? segment.plainBytes : row.recordBytes
      result.segments.append(row)
      result.liveBytes += row.liveBytes
      result.deadBytes += row.recordBytes - row.liveBytes
      result.bytesOnDisk += row.fileBytes
    }
    for segment in unlisted where !list.contains(where: { $0 === segment }) {
      result.liveBytes += catalog.granules.live(segment).bytes
    }
    let names = (try? env.platform.fileSystem.list(env.path)) ?? []
    for name in names where FileName.segmentID(name) == nil {
      result.bytesOnDisk += (try? env.platform.fileSystem.status("\(env.path)/\(name)"))??.size ?? 0
    }
    self = result
  }
}

extension Statistics.KeyspaceFigures {
  fileprivate init(_ core: KeyspaceCore) {
    keys = core.count
    liveBytes = core.byteCount
    orderBytes = core.order?.byteCount
    (capacityBytes, capacityEntries) = core.budget.limits
    if let evicted = core.keyClock?.evicted { (self.evicted, evictedBytes) = evicted }
  }
}
