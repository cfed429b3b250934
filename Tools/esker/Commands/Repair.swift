import ArgumentParser
import Esker
import Foundation

struct Repair: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a new store of everything intact in a damaged one.",
    discussion: """
      The damaged store is only read; no process may have it open for writing. It may lack its manifest, and be damaged \
      anywhere. The new path must not exist or be an empty directory. Each lost range is printed with file, offset, key if \
      known, length and reason. The exit code is 0 when nothing was lost and 1 otherwise. An interrupted repair leaves \
      nothing behind.

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
    let report = try salvage()
    var output = BufferedOutput.standard()
    if json {
      try output.write(Self.json(report).span.bytes)
    } else if !store.quiet || !report.isComplete {
      try output.write(text(report))
    }
    try output.flush()
    guard report.isComplete else { throw ToolError.damageFound }
  }

  private func salvage() throws(StoreError) -> SalvageReport {
    Interruption.install()
    let progress = Progress("repairing", bytes: directorySize(store.store), isQuiet: store.quiet)
    defer { progress.clear() }
    let isVacant = (try? FileManager.default.contentsOfDirectory(atPath: new))?.isEmpty ?? true
    do throws(StoreError) {
      return try LogStore.salvage(from: store.store, to: new) { share in
        progress.update(share)
        return !Interruption.isRequested
      }
    } catch {
      // Half of what is intact would look like all of it.
      if error == .cancelled, isVacant { try? FileManager.default.removeItem(atPath: new) }
      throw error
    }
  }

  private func text(_ report: SalvageReport) -> String {
    var text = ""
    for loss in report.losses {
      let length = loss.length > 0 ? ", " + HumanUnits.count(loss.length, "byte") : ""
      let older = loss.keptOlderValue ? "; an older value was kept" : ""
      text += "\(loss.location)\(length): \(loss.reason)\(older)\n"
    }
    if !report.foundManifest {
      text += "the manifest is lost: keys that were deleted may be back, and keyspaces have lost their names\n"
    }
    let lost = report.losses.isEmpty ? "nothing lost" : HumanUnits.count(report.losses.count, "lost range")
    return text
      + "\(new): \(HumanUnits.entries(report.entries)) from \(HumanUnits.count(report.segments, "segment")), \(lost)\n"
  }

  private static func json(_ report: SalvageReport) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in [
      ("entries", report.entries), ("expired", report.expired), ("segments", report.segments), ("bytes", report.bytes),
    ] {
      writer.name(name)
      writer.value(value)
    }
    writer.name("foundManifest")
    writer.value(report.foundManifest)
    writer.name("losses")
    writer.beginArray()
    for loss in report.losses { write(loss, to: &writer) }
    writer.endArray()
    writer.endObject()
    writer.newline()
    return writer.bytes
  }

  private static func write(_ loss: SalvageReport.Loss, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("path")
    writer.value(loss.location.path)
    writer.name("segment")
    if let segment = loss.location.segment { writer.value(segment) } else { writer.null() }
    writer.name("offset")
    if let offset = loss.location.offset { writer.value(offset) } else { writer.null() }
    writer.name("length")
    writer.value(loss.length)
    if let key = loss.location.key {
      if UTF8Check.isValid(key.span) {
        writer.name("key")
        writer.value(utf8: key.span)
      } else {
        writer.name("key64")
        writer.value(base64: key.span)
      }
    }
    writer.name("reason")
    writer.value(loss.reason)
    writer.name("keptOlderValue")
    writer.value(loss.keptOlderValue)
    writer.endObject()
  }
}
