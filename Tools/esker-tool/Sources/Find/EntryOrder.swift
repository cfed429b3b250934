import ArgumentParser
import Esker

/// The order in which a command writes entries.
struct EntryOrder: ParsableArguments {
  enum Rank: ExpressibleByArgument, Equatable {
    /// By the bytes of the key, which for numbers is by their size.
    case key
    /// By the length of the value.
    case valueSize
    /// By when the value expires; those that never do come last.
    case expiry
    /// By what a path leads to in the value: numbers, then instants, then texts, then all else. Where it leads to nothing, the entry is
    /// last in both directions.
    case field(ValuePath)

    init?(argument: String) {
      switch argument {
      case "key": self = .key
      case "value-size": self = .valueSize
      case "expiry": self = .expiry
      default:
        guard let path = ValuePath(argument) else { return nil }
        self = .field(path)
      }
    }
  }

  @Option(
    help: ArgumentHelp(
      "Order by key, value-size, expiry, or a field of the value, as in address.city; least first. Takes memory for every entry, or "
        + "for the --limit ones, unless the keyspace keeps its keys in order. A field of one of these names is .key.",
      valueName: "key|value-size|expiry|path"
    ),
    completion: .list(["key", "value-size", "expiry"])
  )
  var sort: Rank?

  @Flag(help: "Greatest first.")
  var reverse = false

  /// By what, and whether the greatest comes first.
  struct Order {
    var rank: Rank
    var isReversed: Bool
  }

  /// nil if any will do.
  var order: Order? { sort.map { Order(rank: $0, isReversed: reverse) } }

  func validate() throws {
    if reverse, sort == nil { throw ValidationError("--reverse goes with --sort.") }
  }
}
