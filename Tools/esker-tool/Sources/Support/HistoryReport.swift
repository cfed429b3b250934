import Esker

// What openings have found in a store, as text and JSON.

extension Pairs {
  /// Adds a line for the last opening, and one for each before it in which anything went wrong, newest first.
  mutating func add(_ history: Report.History) {
    let last = history.openings.count - 1
    for (place, opening) in history.openings.enumerated().reversed() where place == last || opening.isEventful {
      let time = "\(opening.time.description.replacing("T", with: " ").dropLast(5))Z"
      add(opening.title, .text(opening.words.isEmpty ? time : "\(time), \(opening.words)"))
    }
    if history.isDamaged { add("opened", .word("what was recorded before is damaged")) }
  }
}

extension Report.Opening {
  fileprivate var isEventful: Bool {
    kind != .clean || lastSync != .complete || cut != nil || damageCount > 0 || !isComplete
  }

  fileprivate var title: String {
    switch kind {
    case .created: "created"
    case .clean, .afterCrash: "opened"
    case .copied: "copied"
    case .repaired: "repaired"
    }
  }

  /// Everything but the time.
  fileprivate var words: String {
    var parts: [String] = []
    switch kind {
    case .created: break
    case .clean: parts.append("was closed")
    case .afterCrash: parts.append("after a crash")
    case .copied, .repaired: break
    }
    switch lastSync {
    case .complete: break
    case .interrupted: parts.append("during a sync")
    case .failed: parts.append("behind a failed sync")
    }
    if kind != .created { parts.append("through write \(lastSequence)") }
    if let cut {
      parts.append(
        "cut off: \(NumberText.count(cut.records, "record")) from \(cut.sequence) on, which had never been durable "
          + "(\(HumanUnits.bytes(cut.bytes)), in segment \(cut.segment) from offset \(cut.offset) on)"
      )
    }
    if rewrittenRecords > 0 { parts.append("\(NumberText.count(rewrittenRecords, "record")) rewritten") }
    for damage in damage { parts.append("\(damage.location): \(damage.reason)") }
    if damageCount > damage.count { parts.append("and \(damageCount - damage.count) more damaged places") }
    if !isComplete { parts.append("not known to have come to its end") }
    return parts.joined(separator: "; ")
  }

  fileprivate var kindName: String {
    switch kind {
    case .created: "created"
    case .clean: "clean"
    case .afterCrash: "afterCrash"
    case .copied: "copied"
    case .repaired: "repaired"
    }
  }
}

extension JSONWriter {
  /// Adds the openings, oldest first.
  mutating func fields(_ history: Report.History) {
    field("historyDamaged", history.isDamaged)
    list("history", history.openings) { writer, opening in
      writer.field("time", opening.time)
      writer.field("kind", opening.kindName)
      writer.field("complete", opening.isComplete)
      writer.field("lastSync", "\(opening.lastSync)")
      writer.field("indexSource", "\(opening.indexSource)")
      writer.field("lastSequence", opening.lastSequence.rawValue)
      writer.fields([
        "replayedRecords": opening.replayedRecords, "rewrittenRecords": opening.rewrittenRecords, "keys": opening.keys,
      ])
      writer.field("seconds", opening.duration.seconds)
      writer.object("cut", of: opening.cut) { writer, cut in
        writer.field("segment", cut.segment)
        writer.field("offset", cut.offset)
        writer.field("sequence", cut.sequence.rawValue)
        writer.fields(["records": cut.records, "bytes": cut.bytes, "discardedSegments": cut.discardedSegments])
      }
      writer.field("damageCount", opening.damageCount)
      writer.list("damage", opening.damage) { writer, damage in
        writer.fields(damage.location, length: damage.length, reason: damage.reason)
        writer.field("records", damage.records)
      }
    }
  }
}
