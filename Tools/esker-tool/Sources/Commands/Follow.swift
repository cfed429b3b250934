import ArgumentParser
import Esker
import Foundation

struct Follow: KeyspaceCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow",
    abstract: "Print changes as they are made.",
    discussion: """
      Prints each write that a process makes to the store, until ctrl-C, or with --no-wait those that there are: its number, \
      what it was (put, delete or clear), its keyspace, when the value expires, the key and the value. Reads the log beside the process and holds nothing up. That a value \
      expires, is moved by a merge or is evicted is no write: the line of the put says when it expires.

      --from begins at the write of a number, with the next one (now), or with the first of all (start). Merges reclaim old parts of \
      the log: if the writes asked for are gone, the exit code is 1, and the message says what the oldest one is. --since 1h begins \
      with the part of the log that was being written an hour ago, so with somewhat older writes: a file has a time, a write has none. \
      It begins later, with a note, where merges have reclaimed that part. \
      --resume keeps the position in a file and goes on there: after a kill, some lines may come twice, and none is missing.

      --prefix, --match and --where choose changes as they do for "list"; a delete and a clear have no value for --where to look \
      into, and are then left out. With --json, each line is an object with the fields of a line of "dump".

      Examples:
        esker follow cities.esker
        esker follow cities.esker --from start --count 10
        esker follow cities.esker --since 1h --no-wait
        esker follow people.esker --where 'address.city = Wien' --json | jq .key
        esker follow cities.esker --json --resume position >> changes.ndjson
      """
  )

  @OptionGroup var store: StoreArguments

  @Option(
    help: ArgumentHelp(
      "The first write to print: its number, start, or now, the default.",
      valueName: "number|now|start"
    )
  )
  var from: FollowStart?

  @Option(
    help: ArgumentHelp(
      "Begin with the writes since this long ago, \(TimeToLive.help), and somewhat older ones.",
      valueName: "duration"
    )
  )
  var since: TimeToLive?

  @Option(
    help: ArgumentHelp("Keep the position in this file, and go on there if it exists.", valueName: "file"),
    completion: .file()
  )
  var resume: String?

  @Option(help: ArgumentHelp("End after this many changes.", valueName: "count"))
  var count: Int?

  @Flag(help: "End with the last change that there is, instead of waiting for more.")
  var noWait = false

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var choice: EntryChoice

  @OptionGroup var encoding: KeyEncodingOption

  @OptionGroup var decoding: DecodeOption

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  func validate() throws {
    if from != nil, since != nil { throw ValidationError("--from and --since say two things about the first write.") }
    if let count, count < 1 { throw ValidationError("--count takes a number of at least 1.") }
  }

  func run() throws {
    Interruption.install()
    let isIntact = try store.read { store in
      let position = try resume.map { try FollowPosition(at: $0, ofStore: identity()) }
      let name = try keyspace.name(in: store)
      let forms = EntryForms(of: store, decoding.decode)
      var loop = ChangeLoop(
        store,
        keyspace: name,
        count: count,
        waits: !noWait,
        EntryFilter(choice, encoding.keyEncoding, forms),
        ChangeLines(asJSON: json, namesKeyspaces: name == nil, encoding, forms),
        position
      )
      try loop.run(since: position?.sequence == nil ? firstSince(in: store) : nil)
      return loop.isIntact
    }
    // Ctrl-C is the normal way to end this, and so a success.
    if let signal = Interruption.signalNumber, signal != SIGINT { throw ToolError.interrupted(signal: signal) }
    guard isIntact else { throw ToolError.damageFound }
  }

  /// The last write not to show of those that were asked for; nil to show those from now on.
  private func firstSince(in store: LogStore) throws -> SequenceNumber? {
    guard let since else { return (from ?? .now).since }
    return try FollowStart.lastWrite(before: since.duration, in: store, isQuiet: self.store.quiet)
  }

  /// What tells the store from others.
  private func identity() throws -> String { try store.inspection().manifest?.storeID ?? "" }
}
