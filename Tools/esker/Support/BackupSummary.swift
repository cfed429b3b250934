import Esker

/// What a backup or a restoration did, for people or for programs.
func printSummary(of report: BackupReport, path: String, asJSON: Bool) throws {
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
        + "\(HumanUnits.bytes(report.bytes)), \(HumanUnits.bytes(report.copiedBytes)) copied\n"
    )
  }
  try output.flush()
}
