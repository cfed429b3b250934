import ArgumentParser
import Esker

struct Verify: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every byte of the store.",
    discussion: """
      Reads all files, compares them with their checksums, and checks that every entry of the index points to a record. Each \
      damaged range is printed with file, offset, length, reason and the records that are concerned, up to 20 of each file; \
      --json names all. It says which of these records are current, which were replaced or removed since, so that nobody \
      needs them, and of which that is not known. At the end it says what to do. The exit code is 0 for a clean store and 1 for a damaged one.

      With --forms, it also reads each entry and tells which keys and values do not have the form that their keyspace records, which \
      versions values are marked with, and of CBOR and JSON which fields they have, of which type, each with how many entries and \
      the keys of a few. Then the exit code is 1 too if an entry does not have its form.

      With --erased, it looks instead whether anything is left of a key in any file, by every byte of each: a record of it, of whatever       age, or its bytes where no record is. The same bytes in other entries are printed, too, and do not count; --erased-bytes counts all.       The exit code is 0 if nothing is left, and 1 otherwise. Keys that are still there are found as well.

      Examples:
        esker verify cities.esker
        esker verify cities.esker --json | jq '.damage[]'
        esker verify people.esker --forms --keyspace users
        esker verify people.esker --erased anna@example.org --keyspace users
        esker verify people.esker --erased-bytes 'Anna Meier'
      """
  )

  @OptionGroup var store: StoreArguments

  @Flag(help: "Check the forms of keys and values too, and show the fields of values.")
  var forms = false

  @Option(help: ArgumentHelp("Look whether anything is left of a key that was removed.", valueName: "key"))
  var erased: String?

  @Option(help: ArgumentHelp("Look whether these bytes are in any file.", valueName: "text"))
  var erasedBytes: String?

  @OptionGroup var encoding: KeyEncodingOption

  @OptionGroup var keyspace: KeyspaceOption

  @Flag(help: "Print JSON.")
  var json = false

  /// Damage is that of the whole store.
  var takesKeyspace: Bool { forms || erased != nil }

  func validate() throws {
    guard keyspace.keyspace == nil || takesKeyspace else {
      throw ValidationError("--keyspace goes with --forms and --erased.")
    }
    guard [forms, erased != nil, erasedBytes != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("Give only one of --forms, --erased and --erased-bytes.")
    }
    guard erased?.isEmpty != true, erasedBytes?.isEmpty != true else {
      throw ValidationError("Nothing stands everywhere: give at least a byte to look for.")
    }
  }

  func run() throws {
    if let listing = try erasure() {
      var output = BufferedOutput.standard()
      return try listing.write(asJSON: json, isQuiet: store.quiet, to: &output)
    }
    try store.read(namesDamage: true) { store in
      let name = try keyspace.name(in: store)
      let report = try verify(store)
      let found = forms ? try checkForms(of: store, in: name) : nil
      if json {
        try BufferedOutput.print(Self.json(report, found))
      } else {
        var output = BufferedOutput.standard()
        if !self.store.quiet || !report.isClean { try output.write(text(report)) }
        if let found, !self.store.quiet || !found.isClean { try found.write(to: &output) }
        try output.flush()
      }
      guard report.isClean else { throw ToolError.damageFound }
      guard found?.isClean != false else { throw ToolError.otherFormsFound }
    }
  }

  private func erasure() throws -> ErasureListing? {
    if let erased {
      let subject = try ErasureListing.Subject.key(encoding.given(erased), keyspace: keyspace.keyspace ?? "")
      return try ErasureListing(store, subject, name: erased)
    }
    return try erasedBytes.map { try ErasureListing(store, .bytes($0), name: $0) }
  }

  private func checkForms(of store: LogStore, in name: String?) throws -> FormReport {
    var report = FormReport()
    var forms = EntryForms(of: store, .auto)
    let progress = Progress("reading", of: "entries", total: try store.count(in: name), isQuiet: self.store.quiet)
    defer { progress.clear() }
    var done = 0
    try store.snapshot().forEachEntry(in: name) { entry in
      try Interruption.check()
      report.add(entry, forms[entry.keyspace])
      done += 1
      progress.step(done)
      return true
    }
    return report
  }

  private func verify(_ store: LogStore) throws(StoreError) -> Report.Verification {
    Interruption.install()
    let progress = Progress("checking", total: store.statistics.bytesOnDisk, isQuiet: self.store.quiet)
    defer { progress.clear() }
    return try store.verify { progress.goesOn($0) }
  }

  private func text(_ report: Report.Verification) -> String {
    let lines = DamageLines(
      report.damage.map { damage in
        .init(
          location: damage.location,
          length: damage.length,
          reason: damage.reason + state(of: damage),
          records: damage.records
        )
      },
      "damaged range"
    )
    return lines.text
      + "checked \(NumberText.count(report.records, "record")) and \(HumanUnits.bytes(report.bytes)) in "
      + "\(NumberText.count(report.files, "file")): \(report.isClean ? "no damage" : lines.sum)\n" + needed(report)
      + advice(report)
  }

  /// Whether damaged records are still needed.
  private func state(of damage: Report.Verification.Damage) -> String {
    let past = damage.records - damage.current - damage.unknown
    let states = [
      (damage.current, "current"), (past, "not needed any more"), (damage.unknown, "unknown whether current"),
    ]
    .filter { $0.0 > 0 }
    guard states.count > 1 else { return states.first.map { "; \($0.1)" } ?? "" }
    return "; " + states.map { "\(NumberText.count($0.0)) \($0.1)" }.joined(separator: ", ")
  }

  /// How many of the damaged records are still needed, where there are any.
  private func needed(_ report: Report.Verification) -> String {
    func sum(_ count: (Report.Verification.Damage) -> Int) -> Int {
      report.damage.reduce(0) { $0.addingReportingOverflow(count($1)).partialValue }
    }
    let (records, current, unknown) = (sum(\.records), sum(\.current), sum(\.unknown))
    guard records > 0 else { return "" }
    func are(_ count: Int) -> String { "\(NumberText.count(count)) \(count == 1 ? "is" : "are")" }
    return "of these records, \(are(current)) current, \(are(records - current - unknown)) not needed any more, "
      + "\(NumberText.count(unknown)) unknown\n"
  }

  /// What to do: a manifest and a checkpoint are copies, and a footer is.
  private func advice(_ report: Report.Verification) -> String {
    guard !report.isClean else { return "" }
    guard report.damage.contains(where: { $0.location.segment != nil }) else {
      return "no entry is lost: the next command that writes puts it right\n"
    }
    return "to save everything intact: esker repair \(quotedForShell(store.store)) NEW\n"
  }

  private static func json(_ report: Report.Verification, _ forms: FormReport?) -> [UInt8] {
    JSONWriter.line { writer in
      writer.fields(["files": report.files, "records": report.records, "bytes": report.bytes])
      writer.list("damage", report.damage) { writer, damage in
        writer.fields(damage.location, length: damage.length, reason: damage.reason)
        writer.fields(["records": damage.records, "current": damage.current, "unknown": damage.unknown])
      }
      forms?.write(to: &writer)
    }
  }
}
