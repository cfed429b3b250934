import ArgumentParser
import Esker
import EskerTools

struct Repair: ParsableCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Make a new store of everything intact in a damaged one.",
    discussion: """
      The damaged store is only read; no process may have it open for writing. Its manifest may be missing, and the damage may \
      be anywhere. The new path must not exist or must be an empty directory. Each lost range is printed with file, offset, \
      key if known, length, reason and the records that were lost, up to 20 of each file; --json names all. The exit code is \
      0 if nothing was lost, the manifest included, and 1 otherwise. If interrupted, the command removes what it made; if it \
      is killed, what it leaves does not open: repeat the same command.

      Example:
        esker repair cities.esker cities-repaired.esker
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The directory of the new store.", completion: .directory)
  var new: String

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try store.require()
    try store.requireOutside(new)
    let report = try salvage()
    if json {
      try BufferedOutput.print(Self.json(report))
    } else if !store.quiet || !report.isComplete || report.bytesOverCapacity > 0 {
      try BufferedOutput.print(text(report))
    }
    guard report.isComplete else { throw ToolError.damageFound }
  }

  private func salvage() throws(StoreError) -> SalvageReport {
    Interruption.install()
    let progress = Progress("repairing", total: directorySize(store.store), isQuiet: store.quiet)
    defer { progress.clear() }
    return try LogStore.salvage(from: store.store, to: new) { progress.goesOn($0) }
  }

  private func text(_ report: SalvageReport) -> String {
    let lines = DamageLines(
      report.losses.map { loss in
        let older = loss.keptOlderValue ? "; an older value was kept" : ""
        return .init(location: loss.location, length: loss.length, reason: loss.reason + older, records: loss.records)
      },
      "lost range"
    )
    var text = lines.text
    if !report.foundManifest {
      text +=
        "the manifest is lost: keys that were deleted may be back, keyspaces have lost their names, and a file that is missing is "
        + "not noticed\n"
    }
    if report.bytesOverCapacity > 0 {
      text +=
        "the new store takes \(HumanUnits.bytes(report.bytesOverCapacity)) more than its capacity: opened for writing, "
        + "it evicts its oldest entries, unless with a larger capacity\n"
    }
    let lost =
      switch (report.losses.isEmpty, report.foundManifest) {
      case (true, true): "nothing lost"
      case (true, false): "no damaged record, but the manifest is lost"
      case (false, _): lines.sum
      }
    return text
      + "\(new): \(HumanUnits.entries(report.entries)) from \(NumberText.count(report.segments, "segment")), \(lost)\n"
  }

  private static func json(_ report: SalvageReport) -> [UInt8] {
    JSONWriter.line { writer in
      writer.fields([
        "entries": report.entries, "expired": report.expired, "segments": report.segments, "bytes": report.bytes,
      ])
      writer.field("foundManifest", report.foundManifest)
      writer.field("bytesOverCapacity", report.bytesOverCapacity)
      writer.list("losses", report.losses) { writer, loss in
        writer.fields(loss.location, length: loss.length, reason: loss.reason)
        writer.field("records", loss.records)
        writer.field("keptOlderValue", loss.keptOlderValue)
      }
    }
  }
}
