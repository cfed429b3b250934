import ArgumentParser
import Esker

struct Keyspaces: StoreCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "keyspaces",
    abstract: "Print the keyspaces and how many keys each has, or remove one.",
    discussion: """
      KEYS are those that "get" would find: a key whose value has expired is not counted. KEYS ARE and VALUES ARE are the \
      forms that a program has recorded, by which the other commands read and show them. The \
      default keyspace has no name; it is shown as "(default)" on a terminal, and as an empty name elsewhere. With --sizes, \
      the bytes of records that can be read, that will expire, and that a merge can reclaim are counted too, which takes about \
      a second for ten million records. IN ORDER is what the checkpoint has for a keyspace whose keys a program has asked for in \
      order.

      Examples:
        esker keyspaces cities.esker
        esker keyspaces cities.esker --drop sessions
        esker keyspaces cities.esker --sort size
        esker keyspaces cities.esker --sizes --json | jq .name
      """
  )

  @OptionGroup var store: StoreArguments

  @Flag(help: "Count bytes too.")
  var sizes = false

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  @Option(help: ArgumentHelp("Remove this keyspace and everything in it.", valueName: "name"))
  var drop: String?

  @OptionGroup var confirmation: Confirmation

  enum Order: String, ExpressibleByArgument, CaseIterable {
    case name, keys, size
  }

  @Option(
    help: ArgumentHelp(
      "Order by name, or by keys or size, greatest first; size counts bytes, as --sizes does.",
      valueName: "name|keys|size"
    )
  )
  var sort = Order.name

  private var countsBytes: Bool { sizes || sort == .size }

  func validate() throws {
    guard drop == nil || !sizes && !json else { throw ValidationError("--drop goes without --sizes and --json.") }
  }

  func run() throws {
    if let drop { return try Drop.drop(drop, from: store, confirmation) }
    let inspection = try store.inspection()
    try store.read { store in
      let usage = countsBytes ? try self.store.usage(of: store) : nil
      var output = BufferedOutput.standard()
      let names = try [""] + store.keyspaceNames.sorted()
      let known = Dictionary(
        (inspection.manifest?.keyspaces ?? []).map { ($0.name, $0) },
        uniquingKeysWith: { first, _ in first }
      )
      let statistics = store.statistics.keyspaces
      var rows: [Row] = []
      for name in names {
        guard let keys = try count(name, in: store) else { continue }
        rows.append(
          Row(
            name: name,
            keys: keys,
            counted: statistics[name] ?? .init(),
            keyspace: known[name],
            figures: usage?.keyspaces[name]
          )
        )
      }
      switch sort {
      case .name: break
      case .keys: rows.sort { ($1.keys, $0.name) < ($0.keys, $1.name) }
      case .size: rows.sort { ($1.liveBytes, $0.name) < ($0.liveBytes, $1.name) }
      }
      if json {
        for row in rows { try output.write(row.json) }
      } else {
        let hasCapacity = rows.contains(where: \.hasCapacity)
        var table = Table(columns(hasCapacity: hasCapacity), in: .output)
        for row in rows { try table.add(row.cells(countsBytes, hasCapacity), to: &output) }
        // A line more would be a keyspace more to a program.
        if rows.count > 1, Terminal.output.columns != nil {
          try table.add(Row.total(of: rows, countsBytes, hasCapacity), to: &output)
        }
        try table.flush(to: &output)
      }
      try output.flush()
    }
  }

  /// The keys of a keyspace as "count" counts them; nil if its writer has just removed it.
  private func count(_ name: String, in store: LogStore) throws(StoreError) -> Int? {
    do throws(StoreError) {
      return try store.keyspace(name).count()
    } catch .noSuchKeyspace, .keyspaceRemoved {
      return nil
    }
  }

  /// - Parameter hasCapacity: Whether a keyspace has one: otherwise there is no column for it.
  private func columns(hasCapacity: Bool) -> [Table.Column] {
    let sizes: [Table.Column] = [.right("LIVE"), .right("EXPIRING"), .right("DEAD"), .right("IN ORDER")]
    return [.right("ID"), .right("KEYS"), .right("BYTES")] + (countsBytes ? sizes : [])
      + (hasCapacity ? [.right("CAPACITY", isOptional: true)] : [])
      + [.right("DEFAULT EXPIRY", isOptional: true), .right("EMPTIED", isOptional: true)]
      + [.left("KEYS ARE", isOptional: true), .left("VALUES ARE", isOptional: true), .left("NAME")]
  }

  private struct Row {
    let name: String
    let keys: Int
    let counted: Statistics.KeyspaceFigures
    /// nil if the keyspace has only just been created.
    let keyspace: Report.Keyspace?
    let figures: Statistics.Usage.Figures?

    var liveBytes: Int { figures?.liveBytes ?? 0 }

    var hasCapacity: Bool { keyspace?.capacityBytes != nil || keyspace?.capacityEntries != nil }

    /// The most that it may take.
    private var capacity: Cell {
      let limits = [
        keyspace?.capacityBytes.map { HumanUnits.bytes($0) },
        keyspace?.capacityEntries.map { NumberText.count($0, "key") },
      ].compactMap { $0 }
      return limits.isEmpty ? .none : .word(limits.joined(separator: ", "))
    }

    static func total(of rows: [Row], _ sizes: Bool, _ hasCapacity: Bool) -> [Cell] {
      let sums = [\.liveBytes, \.expiring.bytes, \.reclaimableBytes].map {
        (part: KeyPath<Statistics.Usage.Figures, Int>) in
        rows.reduce(0) { $0 + ($1.figures?[keyPath: part] ?? 0) }
      }
      let order = rows.reduce(0) { $0 + ($1.counted.orderBytes ?? 0) }
      let bytes = rows.reduce(0) { $0 + $1.counted.liveBytes }
      return [.none, .count(rows.reduce(0) { $0 + $1.keys }), .size(bytes)]
        + (sizes ? sums.map { .size($0) } + [.size(order)] : [])
        + [Cell](repeating: .none, count: hasCapacity ? 5 : 4) + [.word("(all)", .faint)]
    }

    func cells(_ sizes: Bool, _ hasCapacity: Bool) -> [Cell] {
      let bytes = [figures?.liveBytes, figures?.expiring.bytes, figures?.reclaimableBytes]
      let expiry = keyspace?.defaultExpiry.map { expiry in
        Cell(shown: HumanUnits.duration(seconds: expiry.seconds), plain: "\(expiry.seconds)")
      }
      var cells: [Cell] = [keyspace.map { .number(UInt64($0.id)) } ?? .none, .count(keys), .size(counted.liveBytes)]
      if sizes { cells += (bytes + [counted.orderBytes]).map { $0.map { .size($0) } ?? .none } }
      if hasCapacity { cells.append(capacity) }
      cells.append(expiry ?? .none)
      cells.append(keyspace.map { .count(Int($0.incarnation)) } ?? .none)
      for form in [keyspace?.keyForm, keyspace?.valueForm] { cells.append(form.map { .text($0) } ?? .none) }
      cells.append(.keyspace(name))
      return cells
    }

    var json: [UInt8] {
      JSONWriter.line { writer in
        writer.field("name", name)
        writer.field("id", keyspace.map { UInt64($0.id) })
        writer.field("keys", keys)
        writer.field("bytes", counted.liveBytes)
        writer.field("orderBytes", counted.orderBytes)
        writer.field("capacityBytes", keyspace?.capacityBytes)
        writer.field("capacityEntries", keyspace?.capacityEntries)
        writer.field("incarnation", keyspace.map { UInt64($0.incarnation) })
        writer.field("defaultExpirySeconds", keyspace?.defaultExpiry?.seconds)
        writer.field("keyForm", keyspace?.keyForm)
        writer.field("valueForm", keyspace?.valueForm)
        if let figures { writer.field("usage", figures) }
      }
    }
  }
}
