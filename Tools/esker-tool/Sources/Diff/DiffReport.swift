import Esker

/// What is known of a value without reading it.
struct ValueFigures {
  let length: Int
  let expiry: Expiry

  init(_ entry: borrowing Snapshot.Entry) {
    length = entry.valueLength
    expiry = entry.expiry
  }

  init(_ metadata: ValueMetadata) {
    length = metadata.length
    expiry = metadata.expiry
  }
}

/// Prints differences, with only a bounded number of them in memory.
struct DiffReport: ~Copyable {
  /// What happened to an entry on the way from one store to the other.
  enum Change: String {
    case removed, added, value, expiry
  }

  private let isJSON: Bool
  private let keyEncoding: KeyEncodingOption
  private var output = BufferedOutput.standard()
  private var table = Table([.left("CHANGE"), .left("KEYSPACE"), .left("KEY")], in: .output)
  private var writer = JSONWriter()
  private(set) var isEmpty = true

  init(asJSON isJSON: Bool, keyEncoding: KeyEncodingOption) {
    self.isJSON = isJSON
    self.keyEncoding = keyEncoding
  }

  mutating func add(
    _ change: Change,
    _ keyspace: String,
    _ key: [UInt8],
    _ form: StoredForm,
    before: ValueFigures?,
    after: ValueFigures?
  ) throws {
    isEmpty = false
    let printed = keyEncoding.printed(key, form)
    guard isJSON else { return try table.add([.word(change.rawValue), .text(keyspace), .bytes(printed)], to: &output) }
    writer.line { writer in
      writer.field("change", change.rawValue)
      writer.field("keyspace", keyspace)
      writer.field("key", bytes: printed)
      for (name, figures) in [("before", before), ("after", after)] {
        writer.object(name, of: figures) { writer, figures in
          writer.field("valueBytes", figures.length)
          writer.field("expires", figures.expiry)
        }
      }
    }
    try output.write(writer.bytes)
  }

  /// Writes what is left.
  mutating func finish() throws {
    if !isEmpty, !isJSON { try table.flush(to: &output) }
    try output.flush()
  }
}

/// The keyspaces of a store by name, each looked up once; nil for those that it does not have.
struct KeyspacesByName {
  private let store: LogStore
  private var known: [String: Keyspace?] = [:]

  init(_ store: LogStore) {
    self.store = store
  }

  subscript(name: String) -> Keyspace? {
    mutating get {
      if let keyspace = known[name] { return keyspace }
      let keyspace = try? store.keyspace(name)
      known[name] = .some(keyspace)
      return keyspace
    }
  }
}
