import ArgumentParser
import Esker
import Foundation

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the whole store as one stream of bytes.",
    discussion: """
      All entries of all keyspaces, as they are now, with their instants of expiry and with checksums. The stream goes to \
      the file, which must not exist, or to standard output. A damaged record stops the export with exit code 1: see \
      esker repair.

      Examples:
        esker export cities.esker cities.export
        esker export cities.esker | ssh other esker import cities.esker -
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The file; - is standard output.", completion: .file())
  var file = "-"

  @Flag(help: "Print JSON, when the stream goes to a file.")
  var json = false

  func run() throws {
    try store.read { store in
      guard file != "-" else {
        _ = try export(store, to: BufferedOutput.standard())
        return
      }
      let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else { throw ToolError.system(operation: "create", path: file, errno: errno) }
      do {
        let report = try export(store, to: BufferedOutput(descriptor: descriptor, name: file))
        guard fsync(descriptor) == 0 else { throw ToolError.system(operation: "sync", path: file, errno: errno) }
        close(descriptor)
        try printSummary(of: report)
      } catch {
        close(descriptor)
        unlink(file)
        throw error
      }
    }
  }

  private func export(_ store: LogStore, to output: consuming BufferedOutput) throws -> ExportReport {
    let report = try store.exportStream { bytes in try output.write(bytes) }
    try output.flush()
    return report
  }

  private func printSummary(of report: ExportReport) throws {
    try printFigures(
      [("entries", report.entries), ("bytes", report.bytes)],
      text: "\(file): \(HumanUnits.entries(report.entries)), \(HumanUnits.bytes(report.bytes))",
      asJSON: json
    )
  }
}

/// Prints what a command did, for people or for programs.
func printFigures(_ figures: [(name: String, value: Int)], text: String, asJSON: Bool) throws {
  var output = BufferedOutput.standard()
  if asJSON {
    var writer = JSONWriter()
    writer.beginObject()
    for figure in figures {
      writer.name(figure.name)
      writer.value(figure.value)
    }
    writer.endObject()
    writer.newline()
    try output.write(writer.bytes.span.bytes)
  } else {
    try output.write(text + "\n")
  }
  try output.flush()
}
