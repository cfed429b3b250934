import ArgumentParser
import Esker

struct Settings: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Print or change what the store remembers.",
    discussion: """
      Without options, prints when writes survive a power failure and when values expire, if nothing else is said, the size of \
      segments, the compression and the capacity. Options change them first. They apply from then on, also to programs that open \
      the store without options of their own; those that say otherwise change them again.

      With a lower capacity than its size, the store evicts what was not read recently: those entries are lost.

      Examples:
        esker settings cities.esker
        esker settings cities.esker --capacity 1GB
        esker settings sessions.esker --default-expiry 1h --durability periodic:1s
      """,
    aliases: ["config"]
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var sizes: SizeOptions

  @OptionGroup var packing: CompressionOption

  @Option(
    help: ArgumentHelp(
      "Let writes that say nothing else survive a power failure: synced (at once), buffered (later), or periodic:1s.",
      valueName: "when"
    )
  )
  var durability: DurabilityArgument?

  @Option(
    help: ArgumentHelp(
      "Let values that are written without an expiry expire after this long, \(TimeToLive.help), or never.",
      valueName: "duration"
    )
  )
  var defaultExpiry: ExpiryArgument?

  @Flag(help: "Print JSON.")
  var json = false

  private var changesSomething: Bool {
    durability != nil || defaultExpiry != nil || sizes.segmentSize != nil || packing.compression != nil
      || sizes.capacity != nil
  }

  func run() throws {
    guard changesSomething else { return try store.read { try show($0.statistics.settings) } }
    let options = Options(
      durability: durability?.durability,
      defaultExpiry: defaultExpiry?.expiry,
      segmentSize: sizes.segmentSize?.bytes,
      compression: packing.compression,
      capacity: sizes.capacity?.bytes
    )
    try store.write(creating: false, options) { try show($0.statistics.settings) }
  }

  private func show(_ settings: Options.Settings) throws {
    if json { return try BufferedOutput.print(JSONWriter.line { $0.field("settings", settings) }) }
    var pairs = Pairs()
    pairs.add(settings)
    try BufferedOutput.print(pairs.text(in: .output))
  }
}
