import ArgumentParser
import Esker

struct Inspect: StoreCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what the store's files contain, down to a record's bytes.",
    discussion: """
      Without options: the manifest, and a line for each segment. With --segment: its records, in file order. With --record: the \
      bytes of one record, and what each means. With --key: every record of a key that is still on disk, newest first. Nothing \
      is written and no lock is taken, so it works beside a writer, and on a store that is too damaged to open. Unprintable \
      bytes are shown as \\xNN, keys in the form that their keyspace records.

      With --json, prints one object, or with --segment and --key one for each record.

      The exit code is 1 if the files are damaged, or if nothing was found.

      Examples:
        esker inspect cities.esker
        esker inspect cities.esker --segment 3 --json | jq -c .kind
        esker inspect cities.esker --record 3:128
        esker inspect cities.esker --key at
      """
  )

  @OptionGroup var store: StoreArguments

  @Option(help: ArgumentHelp("List the records of the segment with this number.", valueName: "id"))
  var segment: UInt64?

  @Option(help: ArgumentHelp("Show the record at this offset of a segment, byte by byte.", valueName: "id:offset"))
  var record: RecordPlace?

  @Option(help: ArgumentHelp("Show where a key is stored, and its older versions.", valueName: "key"))
  var key: String?

  @OptionGroup var encoding: KeyEncodingOption

  @Option(
    name: [.customShort("k"), .long],
    help: ArgumentHelp("Look for the key in this keyspace.", valueName: "name"),
    completion: .keyspaces
  )
  var keyspace: String?

  @Flag(help: "Show all bytes of the record, not only the first of each field.")
  var all = false

  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard [segment != nil, record != nil, key != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("Give only one of --segment, --record and --key.")
    }
    guard keyspace == nil || key != nil else { throw ValidationError("--keyspace goes with --key.") }
    guard !all || record != nil else { throw ValidationError("--all goes with --record.") }
  }

  func run() throws {
    let key = try key.map { try encoding.given($0) }
    var output = BufferedOutput.standard()
    if let segment {
      try RecordListing(store.inspection(), segment).write(asJSON: json, to: &output)
    } else if let record {
      try RecordDump(store.inspection(), record, showsAll: all).write(asJSON: json, to: &output)
    } else if let key {
      let listing = try VersionListing(store, key, name: self.key ?? "", keyspace ?? "")
      try listing.write(asJSON: json, to: &output)
    } else {
      try StoreOverview(store).write(asJSON: json, to: &output)
    }
  }
}

/// A position as given to `--record`: a segment's number and an offset in its file, decimal or with `0x`.
struct RecordPlace: ExpressibleByArgument, Equatable {
  let segment: UInt64
  let offset: Int

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let segment = Self.number(parts[0]),
      let offset = Self.number(parts[1]).flatMap({ Int(exactly: $0) })
    else { return nil }
    self.segment = segment
    self.offset = offset
  }

  private static func number(_ text: Substring) -> UInt64? {
    text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
  }
}
