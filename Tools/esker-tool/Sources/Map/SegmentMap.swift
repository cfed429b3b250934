import Esker
import Foundation

/// The contents of a picture of a store.
struct SegmentMap {
  let name: String
  let segments: [MapSegment]
  let date: Date
  /// Why it is unknown which data is live; nil if it is known.
  let openError: String?
  /// The bytes of the keyspaces' records; empty if they are not known.
  let keyspaces: [String: Statistics.Usage.Figures]
  /// What the process that has the store open has published.
  let published: Statistics.Published?

  init(_ overview: StoreOverview, name: String, at date: Date) {
    self.name = escaped(Array(name.utf8))
    self.date = date
    openError = overview.openError?.description
    keyspaces = overview.usage?.keyspaces ?? [:]
    published = StoreSample.published(at: overview.inspection.path)
    segments = overview.inspection.segments.map { segment in
      let figures = overview.usage?.segments[segment.id]
      return MapSegment(segment, figures, recordBytes: figures?.recordBytes, now: date.timeIntervalSince1970)
    }
  }

  var total: Int { segments.reduce(0) { $0 + ($1.description.fileBytes ?? 0) } }

  func total(_ part: MapPart) -> Int { segments.reduce(0) { $0 + $1.bytes(part) } }

  /// The parts that occur, in drawing order.
  var parts: [MapPart] { MapPart.allCases.filter { total($0) > 0 } }

  /// The whole, and what of it a merge would leave.
  var totals: [(title: String, bytes: Int, parts: [MapPart])] {
    let merged = parts.filter { $0 == .lasting || $0 == .expiring || $0 == .unknown || $0 == .other }
    let after = merged.reduce(0) { $0 + total($1) }
    return [("Now", total, parts), (openError == nil ? "After a merge of everything" : "Records", after, merged)]
  }

  /// What the colors stand for.
  var legend: [(class: String, text: String)] {
    var entries = parts.map { (class: $0.rawValue, text: "\($0.words): \(HumanUnits.bytes(total($0)))") }
    if saved > 0 { entries.append(("unpacked", "size if not packed")) }
    if segments.contains(where: { !$0.description.damage.isEmpty }) { entries.append(("damaged", "damaged")) }
    return entries
  }

  /// The bytes saved by packing.
  var saved: Int { segments.reduce(0) { $0 + $1.savedBytes } }

  /// One sentence about the whole.
  var summary: String {
    var text = "\(NumberText.count(segments.count, "segment")), \(HumanUnits.bytes(total)) on disk"
    if openError == nil, total > 0 {
      let dead = total(.dead)
      let percent = NumberText.fixed(Double(dead) / Double(total) * 100, 0)
      text += "; at most \(HumanUnits.bytes(dead)) (\(percent) %) reclaimable by a merge"
    }
    if saved > 0 { text += "; packing saves \(HumanUnits.bytes(saved))" }
    return text
  }

  var moment: String { WallTime(millisecondsSince1970: Int64(date.timeIntervalSince1970 * 1000)).description }
}

extension Statistics.Usage.Figures {
  /// The bytes of all records.
  var recordBytes: Int { liveBytes + reclaimableBytes }
}
