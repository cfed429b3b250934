import Esker
import Foundation

/// Prints the result of a backup or restore, or of planning one, as text or JSON.
func printSummary(of report: Report.Backup, path: String, isPlan: Bool = false, asJSON: Bool) throws {
  if asJSON {
    let line = JSONWriter.line { writer in
      writer.field("path", path)
      writer.field("sequence", report.sequence.rawValue)
      writer.fields(["segments": report.segments, "sharedSegments": report.sharedSegments])
      writer.fields(["bytes": report.bytes, "copiedBytes": report.copiedBytes])
    }
    return try BufferedOutput.print(line)
  }
  let shared = report.sharedSegments > 0 ? ", \(NumberText.count(report.sharedSegments)) shared" : ""
  try BufferedOutput.print(
    "\(path): up to \(report.sequence), \(NumberText.count(report.segments, "segment"))\(shared), "
      + "\(HumanUnits.bytes(report.bytes)), \(HumanUnits.bytes(report.copiedBytes)) \(isPlan ? "to copy" : "copied")\n"
  )
}

/// Whether a file at `path` can be linked to `newPath`, which does not exist yet: only on the same volume.
func isOnOneVolume(_ path: String, _ newPath: String) -> Bool {
  guard let source = SystemCalls.status(path) else { return false }
  var place = URL(fileURLWithPath: newPath).standardizedFileURL
  while place.path != "/", SystemCalls.status(place.path) == nil { place.deleteLastPathComponent() }
  return SystemCalls.status(place.path)?.st_dev == source.st_dev
}
