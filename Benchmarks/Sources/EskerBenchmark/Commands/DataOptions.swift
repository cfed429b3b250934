import ArgumentParser
import Foundation

/// Where some cells find their data, and where they draw plots.
struct DataOptions: ParsableArguments {
  @Option(help: "A directory with traces of caches. Without it capacity-trace makes one up.") var traces: String?
  @Option(help: "A directory of packed files with a document a line. Without it packing makes some up.") var documents:
    String?
  @Option(help: "A directory for plots of the disk use over time, as SVG.") var plots: String?

  /// The same as arguments for a measuring process.
  var arguments: [String] {
    [("--traces", traces), ("--documents", documents), ("--plots", plots)].flatMap { name, path in
      path.map { [name, URL(fileURLWithPath: $0).path] } ?? []
    }
  }
}
