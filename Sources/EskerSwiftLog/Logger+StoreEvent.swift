#if SwiftLog
  internal import Esker
  internal import Logging

  extension Logger {
    /// Logs a store's event, with its details as metadata.
    func log(_ event: StoreEvent) {
      let entry = event.entry
      log(level: entry.level, entry.message, metadata: entry.metadata)
    }
  }

  extension StoreEvent {
    fileprivate typealias Entry = (level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata)

    fileprivate var entry: Entry {
      switch self {
      case .opened(let report):
        (report.wasClean ? .info : .notice, report.wasClean ? "store opened" : "store recovered", report.metadata)
      case .cut(let cut):
        (.warning, "log cut where a crash had left a hole", cut.metadata)
      case .damaged(let location, let reason):
        (.error, "damage found", location.metadata.merging(["reason": "\(reason)"]) { $1 })
      case .segmentSealed(let id, let bytes, let records):
        (.debug, "segment sealed", ["segment": "\(id)", "bytes": "\(bytes)", "records": "\(records)"])
      case .mergeBegan(let segments):
        (.debug, "merge began", ["segments": .array(segments.map { "\($0)" })])
      case .mergeEnded(let report, let duration):
        (.info, "merge ended", report.metadata.merging(["duration": "\(duration)"]) { $1 })
      case .erased(let report, let duration):
        (.info, "erased", report.merged.metadata.merging(["duration": "\(duration)"]) { $1 })
      case .evicted(let records, let bytes):
        (.debug, "records evicted", ["records": "\(records)", "bytes": "\(bytes)"])
      case .checkpointWritten(let sequence, let bytes):
        (.debug, "checkpoint written", ["sequence": "\(sequence.rawValue)", "bytes": "\(bytes)"])
      case .syncFailed(let errno):
        (.critical, "sync failed: the store refuses writes until it is reopened", ["errno": "\(errno)"])
      case .backgroundFailure(let operation, let error):
        (
          .warning, "background work failed",
          ["operation": "\(operation)", "error": "\(error.textForLog)"]
        )
      case .clockJumped(let forward):
        (.warning, "wall clock jumped ahead", ["forward": "\(forward)"])
      case .closed:
        (.info, "store closed", [:])
      }
    }
  }

  extension Report.Opening {
    fileprivate var metadata: Logger.Metadata {
      [
        "keys": "\(keys)", "index_source": "\(indexSource)", "replayed_records": "\(replayedRecords)",
        "rewritten_records": "\(rewrittenRecords)", "last_sync": "\(lastSync)",
        "last_sequence": "\(lastSequence.rawValue)", "duration": "\(duration)",
      ]
    }
  }

  extension Report.Cut {
    fileprivate var metadata: Logger.Metadata {
      [
        "segment": "\(segment)", "offset": "\(offset)", "sequence": "\(sequence.rawValue)", "records": "\(records)",
        "bytes": "\(bytes)", "discarded_segments": "\(discardedSegments)",
      ]
    }
  }

  extension Report.Merge {
    fileprivate var metadata: Logger.Metadata {
      [
        "segments_removed": "\(segmentsRemoved)", "segments_written": "\(segmentsWritten)",
        "bytes_read": "\(bytesRead)",
        "bytes_written": "\(bytesWritten)", "records_evicted": "\(recordsEvicted)",
      ]
    }
  }

  extension StoreError.Location {
    fileprivate var metadata: Logger.Metadata {
      var metadata: Logger.Metadata = ["path": "\(path)"]
      if let segment { metadata["segment"] = "\(segment)" }
      if let offset { metadata["offset"] = "\(offset)" }
      return metadata
    }
  }
#endif
