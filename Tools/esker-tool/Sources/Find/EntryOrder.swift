import ArgumentParser
import Esker

/// The order in which a command writes entries.
struct EntryOrder: ParsableArguments {
  enum Rank: String, ExpressibleByArgument, CaseIterable {
    /// By the bytes of the key, which for numbers is by their size.
    case key
    /// By the length of the value.
    case valueSize = "value-size"
    /// By when the value expires; those that never do come last.
    case expiry
  }

  @Option(
    help: ArgumentHelp(
      "Order by key, value-size or expiry, least first. Takes memory for every entry, or for the --limit ones.",
      valueName: "key|value-size|expiry"
    )
  )
  var sort: Rank?

  @Flag(help: "Greatest first.")
  var reverse = false

  func validate() throws {
    if reverse, sort == nil { throw ValidationError("--reverse goes with --sort.") }
  }
}
