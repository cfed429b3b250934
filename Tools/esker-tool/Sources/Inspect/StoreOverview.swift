import Esker
import EskerTools
import Foundation

/// The manifest and the segments of a store, with a breakdown of their bytes if the store can be opened.
struct StoreOverview {
  let inspection: StoreInspection
  /// nil if the store cannot be opened.
  private(set) var usage: Statistics.Usage?
  /// The process that has the store open for writing; nil if none has, 0 if its id is not known.
  let writer: Int32?
  /// The error from opening it.
  private(set) var openError: StoreError?
  /// The damage found while opening it.
  private let notices = StoreNotices()

  init(_ arguments: StoreArguments) throws {
    inspection = try arguments.inspection()
    writer = LogStore.writer(at: inspection.path)
    var options = Options()
    options.readOnly = true
    let notices = notices
    options.onEvent = { notices.receive($0) }
    do throws(StoreError) {
      let store = try LogStore(at: inspection.path, options: options)
      usage = try arguments.usage(of: store)
      try store.close()
    } catch {
      if error == .cancelled { throw error }
      openError = error
    }
  }

  private var isDamaged: Bool {
    openError != nil || notices.foundDamage || inspection.manifestCopies.contains { $0.damage != nil }
      || inspection.segments.contains { !$0.damage.isEmpty }
  }

  func write(asJSON: Bool, to output: inout BufferedOutput) throws {
    if asJSON {
      try output.write(json())
    } else {
      try output.write(manifestText(in: .output) + "\n")
      try writeSegments(to: &output)
    }
    try output.flush()
    try reportDamage()
  }

  /// Reports what cannot be shown, and throws if anything is damaged.
  func reportDamage() throws(ToolError) {
    if let openError { StandardError.report("live data is unknown because the store cannot be opened: \(openError)") }
    if isDamaged { throw ToolError.damageFound }
  }

  private func manifestText(in terminal: Terminal) -> String {
    var pairs = Pairs([("store", .text(inspection.path))])
    if let manifest = inspection.manifest {
      pairs.add("identity", .word(manifest.storeID))
      pairs.add("state", .word(state(manifest)))
      pairs.add("generation", .count(Int(clamping: manifest.generation)))
      pairs.add("durable up to", .word(manifest.durableSequence.description))
      pairs.add("next write", .word(manifest.nextSequence.description))
      pairs.add("store time", .instant(manifest.time))
      pairs.add("checkpoint", manifest.checkpoint.map { .number($0) } ?? .none)
      pairs.add(manifest.settings)
      pairs.add("keyspaces", .count(manifest.keyspaces.count))
      pairs.add("segments", .count(inspection.segments.count))
    }
    for copy in inspection.manifestCopies where copy.damage != nil {
      pairs.add((copy.path as NSString).lastPathComponent, .word(copy.damage ?? "", .bad))
    }
    return pairs.text(in: terminal)
  }

  private func state(_ manifest: Report.Manifest) -> String {
    if let writer { return writer == 0 ? "open for writing" : "open for writing in process \(writer)" }
    return manifest.isOpen ? "not closed" : "closed"
  }

  private func writeSegments(to output: inout BufferedOutput) throws {
    var table = Table(
      [
        .right("ID"), .left("KIND"), .right("AGE"), .right("SIZE"), .right("LIVE"), .right("DEAD"),
        .right("EXPIRING", isOptional: true), .right("FREE", isOptional: true), .right("PACKED", isOptional: true),
        .right("FIRST", isOptional: true), .right("LAST", isOptional: true),
        .left("FIRST EXPIRY", isOptional: true), .left("LAST EXPIRY", isOptional: true), .left("CHECK"),
      ],
      in: .output
    )
    let now = Date().timeIntervalSince1970
    for segment in inspection.segments { try table.add(row(segment, now: now), to: &output) }
    try table.flush(to: &output)
  }

  private func row(_ segment: SegmentDescription, now: Double) -> [Cell] {
    let figures = usage?.segments[segment.id]
    let age = segment.created.map { created in
      let seconds = max(0, now - Double(created.millisecondsSince1970) / 1000)
      return Cell(shown: HumanUnits.duration(seconds: seconds), plain: created.description)
    }
    let kind = segment.isListed ? segment.isSealed ? "" : ", active" : ", unlisted"
    let ratio = segment.unpackedBytes.flatMap { unpacked in
      segment.recordBytes.flatMap { $0 > 0 ? Cell.decimal(Double(unpacked) / Double($0), 2) : nil }
    }
    return [
      .number(segment.id),
      .word((segment.kind?.rawValue ?? "unknown") + kind),
      age ?? .none,
      segment.fileBytes.map { .size($0) } ?? .none,
      figures.map { .size($0.liveBytes) } ?? .none,
      figures.map { .size($0.reclaimableBytes) } ?? .none,
      figures.map { .size($0.expiring.bytes) } ?? .none,
      segment.freeBytes.map { .size($0) } ?? .none,
      ratio ?? .none,
      segment.sequences.map { .number($0.lowerBound) } ?? .none,
      segment.sequences.map { .number($0.upperBound) } ?? .none,
      segment.expiries.map { .instant($0.lowerBound) } ?? .none,
      segment.expiries.map { .instant($0.upperBound) } ?? .none,
      segment.damage.isEmpty ? .word("ok", .good) : .word(segment.damage.joined(separator: "; "), .bad),
    ]
  }
}
