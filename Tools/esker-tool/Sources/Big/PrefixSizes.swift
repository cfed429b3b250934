/// How much the entries take whose keys begin alike, in bounded memory.
struct PrefixSizes {
  struct Name: Hashable {
    let keyspace: String
    let prefix: String
  }

  struct Amount {
    var keys = 0
    var bytes = 0
  }

  struct Figure {
    let name: Name
    let amount: Amount
  }

  /// As many prefixes as are told apart at the end; twice as many on the way.
  static let limit = 10_000

  private var amounts: [Name: Amount] = [:]
  /// Entries whose prefix was among the smallest when there were too many.
  private(set) var others = Amount()

  mutating func add(_ bytes: Int, to prefix: String, in keyspace: String) {
    let name = Name(keyspace: keyspace, prefix: prefix)
    amounts[name, default: Amount()].keys += 1
    amounts[name, default: Amount()].bytes += bytes
    if amounts.count > 2 * Self.limit { forgetSmallest() }
  }

  /// Largest first.
  var sorted: [Figure] {
    amounts.map { Figure(name: $0, amount: $1) }.sorted {
      ($0.amount.bytes, $1.name.prefix, $1.name.keyspace) > ($1.amount.bytes, $0.name.prefix, $0.name.keyspace)
    }
  }

  private mutating func forgetSmallest() {
    for figure in sorted.dropFirst(Self.limit) {
      others.keys += figure.amount.keys
      others.bytes += figure.amount.bytes
      amounts[figure.name] = nil
    }
  }
}
