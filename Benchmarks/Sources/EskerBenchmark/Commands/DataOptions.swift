import ArgumentParser
import Foundation

/// Where some cells find what they work on, and where they draw.
struct DataOptions: ParsableArguments {
  @Option(help: "A directory with traces of caches. Without it capacity-trace makes one up.") var traces: String?
  @Option(help: "A directory of packed files with a document a line. Without it packing makes some up.") var documents:
    String?
  @Option(help: "A directory for plots of the disk use over time, as SVG.") var plots: String?

  /// The same for a process started for one measurement.
  var arguments: [String] {
    [("--traces", traces), ("--documents", documents), ("--plots", plots)].flatMap { name, path in
      path.map { [name, URL(fileURLWithPath: $0).path] } ?? []
    }
  }
}
