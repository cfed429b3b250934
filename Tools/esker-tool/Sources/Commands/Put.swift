import ArgumentParser
import Esker

struct Put: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Store a value under a key.",
    discussion: """
      Creates the store if there is nothing at the path or an empty directory. A value of "-" is read from standard input, \
      byte for byte. Put "--" before a key or value that begins with a dash.

      Examples:
        esker put cities.esker at Vienna
        esker put sessions.esker user:17 token --ttl 60s
        esker put pictures.esker logo - < logo.png
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The key.")
  var key: String

  @Argument(help: "The value; - reads it from standard input.")
  var value: String

  @Option(help: ArgumentHelp("Let the value expire after this long, \(TimeToLive.help).", valueName: "duration"))
  var ttl: TimeToLive?

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  @Flag(help: "Return only once the value survives a power failure.")
  var synced = false

  func run() throws {
    // Read first, so that the store is not opened and locked while waiting for a slow pipe.
    let key = try encoding.bytes(of: key)
    let bytes = try valueBytes()
    try store.write(creating: true) { store in
      _ = try keyspace.writable(in: store).put(
        bytes,
        forKey: key,
        expiry: ttl.map { .after($0.duration) },
        durability: synced ? .synced : nil
      )
    }
  }

  private func valueBytes() throws -> [UInt8] {
    guard value == "-" else { return Array(value.utf8) }
    let limit = LogStore.maximumValueLength
    guard let bytes = try InputFile("-").readAll(limit: limit) else { throw StoreError.valueTooLong(limit + 1) }
    return bytes
  }
}
