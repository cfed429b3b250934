internal import EskerFormat

// Openings as the manifest keeps them.

extension Report.History {
  init(_ rows: [OpeningRow], isDamaged: Bool, in path: String) {
    self.init()
    openings = rows.map { Report.Opening($0, in: path) }
    self.isDamaged = isDamaged
  }
}

extension Report.Opening {
  fileprivate init(_ row: OpeningRow, in path: String) {
    kind =
      switch row.kind {
      case .created: .created
      case .clean: .clean
      case .afterCrash: .afterCrash
      case .copied: .copied
      case .repaired: .repaired
      }
    time = WallTime(millisecondsSince1970: row.time)
    isComplete = row.isComplete
    indexSource =
      switch row.index {
      case .empty: .empty
      case .checkpoint: .checkpoint
      case .checkpointAndReplay: .checkpointAndReplay
      case .segments: .segments
      }
    lastSync =
      switch row.sync {
      case .complete: .complete
      case .interrupted: .interrupted
      case .failed: .failed
      }
    lastSequence = SequenceNumber(rawValue: row.lastSequence)
    replayedRecords = Int(clamping: row.replayedRecords)
    rewrittenRecords = Int(clamping: row.rewrittenRecords)
    keys = Int(clamping: row.keys)
    duration = .nanoseconds(Int64(clamping: row.duration))
    cut = row.cut.map { cut in
      Report.Cut(
        segment: cut.segment,
        offset: Int(clamping: cut.offset),
        sequence: SequenceNumber(rawValue: cut.sequence),
        records: Int(clamping: cut.records),
        bytes: Int(clamping: cut.bytes),
        discardedSegments: Int(clamping: cut.segments)
      )
    }
    damageCount = Int(clamping: row.damageCount)
    let directory = kind == .repaired ? "" : path + "/"
    damage = row.damage.map { damage in
      Report.Verification.Damage(
        location: StoreError.Location(
          path: damage.file.isEmpty ? path : directory + damage.file,
          segment: damage.segment == 0 ? nil : damage.segment,
          offset: damage.offset.map { Int(clamping: $0) }
        ),
        length: Int(clamping: damage.length),
        reason: damage.reason,
        records: Int(clamping: damage.records)
      )
    }
  }
}

extension OpeningRow {
  /// - Parameter path: The store's, which a row does not repeat.
  init(_ opening: Report.Opening, in path: String) {
    let kind: Kind =
      switch opening.kind {
      case .created: .created
      case .clean: .clean
      case .afterCrash: .afterCrash
      case .copied: .copied
      case .repaired: .repaired
      }
    self.init(kind: kind, time: opening.time.millisecondsSince1970)
    isComplete = opening.isComplete
    index =
      switch opening.indexSource {
      case .empty: .empty
      case .checkpoint: .checkpoint
      case .checkpointAndReplay: .checkpointAndReplay
      case .segments: .segments
      }
    sync =
      switch opening.lastSync {
      case .complete: .complete
      case .interrupted: .interrupted
      case .failed: .failed
      }
    lastSequence = opening.lastSequence.rawValue
    replayedRecords = UInt64(clamping: opening.replayedRecords)
    rewrittenRecords = UInt64(clamping: opening.rewrittenRecords)
    keys = UInt64(clamping: opening.keys)
    duration = opening.duration.wholeNanoseconds
    cut = opening.cut.map { cut in
      Cut(
        segment: cut.segment,
        offset: UInt64(clamping: cut.offset),
        sequence: cut.sequence.rawValue,
        records: UInt64(clamping: cut.records),
        bytes: UInt64(clamping: cut.bytes),
        segments: UInt32(clamping: cut.discardedSegments)
      )
    }
    damageCount = UInt32(clamping: opening.damageCount)
    damage = opening.damage.prefix(Self.mostDamage).map { damage in
      let name = damage.location.path.split(separator: "/").last.map { String($0) }
      return Damage(
        segment: damage.location.segment ?? 0,
        offset: damage.location.offset.map { UInt64(clamping: $0) },
        length: UInt64(clamping: damage.length),
        records: UInt64(clamping: damage.records),
        file: damage.location.path == path ? "" : name ?? "",
        reason: damage.reason
      )
    }
  }
}
