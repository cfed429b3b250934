internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Figures gathered now; reads counters only.
  var statistics: Statistics {
    var result = Statistics()
    let (tail, offset) = writer.withLock { state in
      result.recordsWritten = state.recordsWritten
      result.bytesLogged = state.bytesLogged
      return (state.tail, state.offset)
    }
    result.merges = mergeCount.load(ordering: .relaxed)
    result.merged = merges.withLock { $0 }
    result.pinnedBytes = addresses.pinnedBytes
    result.openSnapshots = openSnapshots.load(ordering: .relaxed)
    result.keys = totalCount
    result.indexBytes = index.memoryBytes
    result.indexLoad = index.bucketCount == 0 ? 0 : Double(index.count) / Double(index.bucketCount * 7)
    result.lastSequence = SequenceNumber(rawValue: publishedSequence)
    result.durableSequence = SequenceNumber(rawValue: durableSequence)
    result.syncs = commits.latencies
    result.puts = puts.histogram
    result.gets = gets.histogram
    result.bytesWritten = result.bytesLogged + bytesWritten.load(ordering: .relaxed)
    result.keyspaces = keyspaces.withLock { table in
      Dictionary(uniqueKeysWithValues: table.byName.map { ($0.key, $0.value.count) })
    }
    // What a merge under way has led the index to is alive too.
    let incoming = incoming.withLock { $0 }
    let list = segments.withLock { $0 }
    for segment in list {
      let end = segment === tail ? offset : segment.recordsEnd.load(ordering: .relaxed)
      let live = granules.live(segment)
      let first = segment.firstSequence.load(ordering: .relaxed)
      let last = segment === tail ? publishedSequence : segment.lastSequence.load(ordering: .relaxed)
      var row = SegmentStatistics(
        id: segment.id,
        path: segment.path,
        isMerged: segment.kind != .log,
        isSealed: segment.isSealed.load(ordering: .relaxed),
        recordBytes: max(0, end - SegmentHeader.length),
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
    for segment in incoming where !list.contains(where: { $0 === segment }) {
      result.liveBytes += granules.live(segment).bytes
    }
    let names = (try? platform.fileSystem.list(path)) ?? []
    for name in names where FileName.segmentID(name) == nil {
      result.bytesOnDisk += (try? platform.fileSystem.status("\(path)/\(name)"))??.size ?? 0
    }
    return result
  }
}
