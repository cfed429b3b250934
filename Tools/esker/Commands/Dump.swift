import ArgumentParser
import Esker

struct Dump: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print every entry as a line of JSON.",
    discussion: """
      Each line is an object with "key", "value" and "expires" (an ISO 8601 instant, or null). A key or value that is not \
      UTF-8 stands under "key64" or "value64" instead, in base 64, so that nothing is lost. An entry of a \
      named keyspace begins with "keyspace"; with --keyspace only that one is printed, without the field. The lines are \
      the store at one instant, in no particular order.

      An entry whose record is damaged is reported on standard error and passed over; the exit code is then 1.

      Example:
        esker dump cities.esker | gzip > cities.ndjson.gz
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var keyspace: KeyspaceOption

  func run() throws {
    try store.read { store in
      let name = try keyspace.keyspace.map { _ in try keyspace.existing(in: store).name }
      var output = BufferedOutput.standard()
      var line = DumpLine(namesKeyspaces: name == nil)
      let isIntact = try forEachEntry(of: store, in: name) { entry in
        let text = try line.text(of: entry)
        try output.write(text.span.bytes)
        return true
      }
      try output.flush()
      guard isIntact else { throw ToolError.damageFound }
    }
  }
}

/// An entry as a line of JSON.
struct DumpLine {
  /// Whether the entries of a named keyspace say so.
  let namesKeyspaces: Bool

  private var writer = JSONWriter()

  init(namesKeyspaces: Bool) {
    self.namesKeyspaces = namesKeyspaces
  }

  /// The line, newline included.
  mutating func text(of entry: LogEntry) throws(StoreError) -> [UInt8] {
    writer.removeAll()
    writer.beginObject()
    if namesKeyspaces, !entry.keyspace.isEmpty {
      writer.name("keyspace")
      writer.value(entry.keyspace)
    }
    try entry.withBytes { (key, value) in
      add("key", key)
      add("value", value)
    }
    writer.name("expires")
    if case .at(let time) = entry.expiry { writer.value(timestamp(time)) } else { writer.null() }
    writer.endObject()
    writer.newline()
    return writer.bytes
  }

  private mutating func add(_ name: String, _ bytes: RawSpan) {
    bytes.withUnsafeBytes { buffer in
      let bytes = buffer.assumingMemoryBound(to: UInt8.self).span
      if UTF8Check.isValid(bytes) {
        writer.name(name)
        writer.value(utf8: bytes)
      } else {
        writer.name(name + "64")
        writer.value(base64: bytes)
      }
    }
  }
}
