import ArgumentParser
import Esker

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Store all entries of a stream that export wrote.",
    discussion: """
      Creates the store if there is none. Keys that are there already get the stream's values; others stay. Entries that \
      have expired are passed over. Damage in the stream stops the import with exit code 1 and names the offset; what came \
      before it stays.

      Example:
        esker import copy.esker cities.export
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The file; - is standard input.", completion: .file())
  var file: String

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    // The input first: a name mistyped makes no store.
    let input = try InputFile(file)
    let report = try read(input)
    try printFigures(
      [
        ("entries", report.entries), ("expired", report.expired), ("keyspaces", report.keyspaces),
        ("bytes", report.bytes),
      ],
      text: "\(store.store): \(HumanUnits.entries(report.entries)) from \(HumanUnits.bytes(report.bytes))"
        + (report.expired > 0 ? ", \(HumanUnits.count(report.expired)) expired" : ""),
      asJSON: json
    )
  }

  private func read(_ input: consuming InputFile) throws -> ImportReport {
    let input = input
    return try store.write(creating: true) { store in
      try store.importStream { count in
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = try input.read(into: &bytes, from: 0)
        bytes.removeSubrange(filled...)
        return bytes
      }
    }
  }
}
