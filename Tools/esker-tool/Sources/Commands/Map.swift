import ArgumentParser
import Esker
import Foundation

struct Map: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "map",
    abstract: "Draw the store's segments, and what their bytes are for.",
    discussion: """
      Draws each segment from the oldest to the newest: what stays, what will expire, what a merge can reclaim, and what is \
      free. A strip below says how much of it was rewritten since it was made. The page lists the segments that are rewritten \
      fastest and the largest keyspaces, and, if the process that has the store open publishes statistics, how often it reads. \
      The result is a self-contained HTML page, with the figures of each segment on hover and in a table, or an SVG \
      picture. Works beside a writer; for a store that does not open, sizes and damage are drawn. The exit code is 1 if damage \
      was found.

      Examples:
        esker map cities.esker cities.html
        esker map cities.esker --format svg > cities.svg
      """
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case html, svg
  }

  @OptionGroup var store: StoreArguments

  @Argument(
    help: "The file to write, which must not exist yet; - is standard output.",
    completion: .file(extensions: ["html", "svg"])
  )
  var file = "-"

  @Option(help: "html or svg; by default taken from the file's name, or html.")
  var format: Format?

  func run() throws {
    if file == "-", isatty(STDOUT_FILENO) == 1 {
      throw ValidationError("A picture is not for a terminal: name a file for it, or send it to a file.")
    }
    let overview = try StoreOverview(store)
    let drawing = SegmentMap(overview, name: name, at: Date())
    let text: String
    switch format ?? (file.lowercased().hasSuffix(".svg") ? .svg : .html) {
    case .svg: text = drawing.picture()
    case .html: text = MapPage(drawing).text
    }
    try withOutput(file) { stream in try stream.write(text) }
    try overview.reportDamage()
  }

  /// The directory's name, however it was specified.
  private var name: String { URL(fileURLWithPath: store.store).standardizedFileURL.lastPathComponent }
}
