import Esker
import Foundation

/// What a backup or a restoration did, or would do, for people or for programs.
func printSummary(of report: BackupReport, path: String, isPlan: Bool = false, asJSON: Bool) throws {
  var output = BufferedOutput.standard()
  if asJSON {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("path")
    writer.value(path)
    writer.name("sequence")
    writer.value(report.sequence.rawValue)
    writer.name("segments")
    writer.value(report.segments)
    writer.name("sharedSegments")
    writer.value(report.sharedSegments)
    writer.name("bytes")
    writer.value(report.bytes)
    writer.name("copiedBytes")
    writer.value(report.copiedBytes)
    writer.endObject()
    writer.newline()
    try output.write(writer.bytes.span.bytes)
  } else {
    let shared = report.sharedSegments > 0 ? ", \(HumanUnits.count(report.sharedSegments)) shared" : ""
    try output.write(
      "\(path): up to \(report.sequence), \(HumanUnits.count(report.segments, "segment"))\(shared), "
        + "\(HumanUnits.bytes(report.bytes)), \(HumanUnits.bytes(report.copiedBytes)) \(isPlan ? "to copy" : "copied")\n"
    )
  }
  try output.flush()
}

/// Whether a file at `path` can get a second name at `newPath`, where nothing is yet: only on the same volume.
func isOnOneVolume(_ path: String, _ newPath: String) -> Bool {
  var source = stat()
  guard stat(path, &source) == 0 else { return false }
  var place = URL(fileURLWithPath: newPath).standardizedFileURL
  var target = stat()
  while stat(place.path, &target) != 0, place.path != "/" { place.deleteLastPathComponent() }
  return source.st_dev == target.st_dev
}
