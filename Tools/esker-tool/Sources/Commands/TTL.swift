import ArgumentParser
import Esker

struct TTL: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "ttl",
    abstract: "Print how long values have left.",
    discussion: """
      In seconds, or "never" for a value that does not expire. Of several keys, each is a line of its own: the key, a tab and \
      the time. The exit code is 1 if a key is absent or its value has expired.

      Examples:
        esker ttl sessions.esker user:17
        esker ttl sessions.esker user:17 --json | jq -r .expires
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keys.", completion: .keys)
  var keys: [String]

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  func run() throws {
    let given = try keys.map { try encoding.given($0) }
    try store.read { store in
      let keyspace = try keyspace.existing(in: store)
      let bytes = try given.map { try $0.bytes(in: keyspace) }
      let now = Options.Clock.system.now()
      var output = BufferedOutput.standard()
      let isTerminal = output.isTerminal
      // What was printed before an absent key stays printed.
      let result = Result {
        try forEachKey(keys, bytes, isQuiet: self.store.quiet) { key in
          guard let expiry = try keyspace.metadata(forKey: key)?.expiry else { return false }
          let printed = encoding.printed(key, keyspace.shownKeys)
          let left = Lifetime(expiry, at: now)
          if json { try output.write(left.json(printed)) } else { try output.write(line(printed, left, isTerminal)) }
          return true
        }
      }
      try output.flush()
      try result.get()
    }
  }

  private func line(_ key: [UInt8], _ left: Lifetime, _ isTerminal: Bool) -> String {
    let text = isTerminal ? left.shown : left.plain
    return keys.count > 1 ? "\(escaped(key))\t\(text)\n" : "\(text)\n"
  }
}

/// How long a value has left.
private struct Lifetime {
  let expires: WallTime?
  let seconds: Double?

  init(_ expiry: Expiry, at now: WallTime) {
    guard case .at(let time) = expiry else {
      (expires, seconds) = (nil, nil)
      return
    }
    expires = time
    // As numbers that do not overflow: the last instant is far away.
    seconds = max(0, (Double(time.millisecondsSince1970) - Double(now.millisecondsSince1970)) / 1000)
  }

  var plain: String { seconds.map { NumberText.fixed($0, 3) } ?? "never" }
  var shown: String { seconds.map { HumanUnits.duration(seconds: $0) } ?? "never" }

  func json(_ key: [UInt8]) -> [UInt8] {
    JSONWriter.line { writer in
      writer.field("key", bytes: key)
      writer.field("expires", expires)
      writer.field("seconds", seconds)
    }
  }
}
