import Esker
import EskerTools

/// Where anything is left in a store's files of a key, or of a run of bytes.
struct ErasureListing {
  /// What is looked for.
  enum Subject {
    /// A key, whose own records count, and what stands in no record: other entries may have the same bytes in them.
    case key(KeyEncodingOption.Given, keyspace: String)
    /// Bytes, wherever they are.
    case bytes(String)
  }

  private let path: String
  private let name: String
  private let found: [ByteOccurrence]
  private let key: [UInt8]
  /// The key's keyspace; nil if any bytes are looked for.
  private let keyspace: String?

  init(_ arguments: StoreArguments, _ subject: Subject, name: String) throws {
    let inspection = try arguments.inspection()
    path = inspection.path
    self.name = name
    switch subject {
    case .key(let given, let keyspace):
      self.keyspace = keyspace
      guard keyspace.isEmpty || inspection.manifest?.keyspaces.contains(where: { $0.name == keyspace }) != false else {
        throw ToolError.noKeyspace(keyspace, path: inspection.path)
      }
      let form = inspection.manifest?.keyspaces.first { $0.name == keyspace }?.keyForm
      key = try given.bytes(in: StoredForm(form, of: .keys), named: form)
    case .bytes(let text):
      keyspace = nil
      key = Array(text.utf8)
    }
    Interruption.install()
    let progress = Progress("searching", total: directorySize(path), isQuiet: arguments.quiet)
    defer { progress.clear() }
    found = try inspection.occurrences(of: key) { progress.goesOn($0) }
  }

  /// What shows that it is not erased.
  private var left: [ByteOccurrence] { found.filter(isLeft) }

  private func isLeft(_ occurrence: ByteOccurrence) -> Bool {
    switch occurrence.place {
    case .elsewhere, .unreadable: true
    case .key(let record): keyspace == nil || isOwn(record)
    case .value: keyspace == nil
    }
  }

  /// Whether a record is one of the key. One of a keyspace that was removed may be.
  private func isOwn(_ record: RecordDescription) -> Bool {
    record.key == key && (keyspace == nil || record.keyspace == nil || record.keyspace == keyspace)
  }

  func write(asJSON: Bool, isQuiet: Bool, to output: inout BufferedOutput) throws {
    if asJSON {
      for occurrence in found { try output.write(json(occurrence)) }
    } else {
      for occurrence in found where isLeft(occurrence) || !isQuiet { try output.write(line(occurrence)) }
      if left.isEmpty, !isQuiet { try output.write("nothing is left of \(quoted(name))\n") }
    }
    try output.flush()
    guard left.isEmpty else { throw ToolError.notErased(name) }
  }

  private func line(_ occurrence: ByteOccurrence) -> String {
    let place =
      switch occurrence.place {
      case .elsewhere: "in no record"
      case .key(let record) where isOwn(record):
        record.kind == .tombstone ? "the key, in a tombstone" : "the key, in a record"
      case .key(let record): "in the key of another entry: \(quoted(record.key))"
      case .value(let record): "in the value of \(quoted(record.key))"
      case .unreadable(let record): "perhaps in a packed value that cannot be read, of \(quoted(record.key))"
      }
    let file = occurrence.path.split(separator: "/").last.map(String.init) ?? occurrence.path
    return "\(file) at \(occurrence.offset): \(place)\n"
  }

  private func json(_ occurrence: ByteOccurrence) -> [UInt8] {
    JSONWriter.line { writer in
      let (place, record): (String, RecordDescription?) =
        switch occurrence.place {
        case .elsewhere: ("elsewhere", nil)
        case .key(let record): (isOwn(record) ? "own" : "key", record)
        case .value(let record): ("value", record)
        case .unreadable(let record): ("unreadable", record)
        }
      writer.field("file", occurrence.path)
      writer.field("offset", occurrence.offset)
      writer.field("place", place)
      writer.name("left")
      writer.value(isLeft(occurrence))
      if let record { writer.fields(record, standing: nil) }
    }
  }

  private func quoted(_ text: String) -> String { "\"\(escaped(Array(text.utf8)))\"" }
  private func quoted(_ key: [UInt8]) -> String { "\"\(escaped(key))\"" }
}
