import ArgumentParser
import Esker

struct Touch: KeyspaceCommand {
  static let configuration = CommandConfiguration(
    commandName: "touch",
    abstract: "Set when values expire.",
    discussion: """
      Each value is written anew with its expiry. The exit code is 1 if a key is absent or its value has expired. "persist" \
      makes values stay.

      Examples:
        esker touch sessions.esker user:17 --ttl 1h
        esker touch sessions.esker user:17 user:18 --expires 2027-01-01T00:00:00Z
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keys.", completion: .keys)
  var keys: [String]

  @Option(help: ArgumentHelp("Let the values expire after this long, \(TimeToLive.help).", valueName: "duration"))
  var ttl: TimeToLive?

  @Option(help: ArgumentHelp("Let the values expire at this instant, in ISO 8601.", valueName: "instant"))
  var expires: Instant?

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  func validate() throws {
    guard (ttl == nil) != (expires == nil) else { throw ValidationError("Give either --ttl or --expires.") }
  }

  func run() throws {
    let given = try keys.map { try encoding.given($0) }
    let expiry = expires.map { Expiry.at($0.time) } ?? ttl.map { .after($0.duration) } ?? .never
    try store.write(creating: false) { store in
      let keyspace = try keyspace.existing(in: store)
      let bytes = try given.map { try $0.bytes(in: keyspace) }
      try forEachKey(keys, bytes, isQuiet: self.store.quiet) { try keyspace.touch($0, expiry: expiry) != nil }
    }
  }
}

/// An instant on the command line: `2026-03-01T12:00:00Z`.
struct Instant: ExpressibleByArgument {
  let time: WallTime

  init?(argument: String) {
    guard let time = parseTimestamp(ContiguousArray(argument.utf8).span) else { return nil }
    self.time = time
  }
}
