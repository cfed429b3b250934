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

/// Collects entries in an order; no more of them than twice the limit, and a few.
struct SortedEntries {
  private struct Item {
    let rank: Int64
    let keyspace: String
    let key: [UInt8]
    let entry: Snapshot.Entry
  }

  private let rank: EntryOrder.Rank
  private let isReversed: Bool
  private let limit: Int
  private var items: [Item] = []

  init(by rank: EntryOrder.Rank, isReversed: Bool, limit: Int) {
    self.rank = rank
    self.isReversed = isReversed
    self.limit = limit
  }

  /// - Throws: ``StoreError/damaged(_:reason:)``.
  mutating func add(_ entry: borrowing Snapshot.Entry) throws(StoreError) {
    items.append(Item(rank: number(of: entry), keyspace: entry.keyspace, key: try entry.key(), entry: copy entry))
    guard limit < .max / 4, items.count >= 2 * limit + 1000 else { return }
    sort()
    items.removeSubrange(limit...)
  }

  /// All of them, or as many as the limit allows.
  mutating func finish() -> [Snapshot.Entry] {
    sort()
    return items.prefix(limit).map(\.entry)
  }

  private func number(of entry: borrowing Snapshot.Entry) -> Int64 {
    switch rank {
    case .key: return 0
    case .valueSize: return Int64(entry.valueLength)
    case .expiry:
      guard case .at(let time) = entry.expiry else { return .max }
      return time.millisecondsSince1970
    }
  }

  private mutating func sort() {
    let isReversed = isReversed
    items.sort { left, right in isReversed ? Self.precedes(right, left) : Self.precedes(left, right) }
  }

  private static func precedes(_ left: Item, _ right: Item) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if left.keyspace != right.keyspace { return left.keyspace < right.keyspace }
    return left.key.lexicographicallyPrecedes(right.key)
  }
}
