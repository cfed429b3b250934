import ArgumentParser
import Esker

struct Verify: StoreCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every byte of the store.",
    discussion: """
      Reads all files, compares them with their checksums, and checks that every entry of the index points to a record. Each \
      damaged range is printed with file, offset, length, reason and the records that are concerned, up to 20 of each file; \
      --json names all. It says which of these records are current, which were replaced or removed since, so that nobody \
      needs them, and of which that is not known. At the end it says what to do. The exit code is 0 for a clean store and 1 for a damaged one.

      Examples:
        esker verify cities.esker
        esker verify cities.esker --json | jq '.damage[]'
      """
  )

  @OptionGroup var store: StoreArguments

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try store.read(namesDamage: true) { store in
      let report = try verify(store)
      if json {
        try BufferedOutput.print(Self.json(report))
      } else if !self.store.quiet || !report.isClean {
        try BufferedOutput.print(text(report))
      }
      guard report.isClean else { throw ToolError.damageFound }
    }
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
      + "checked \(HumanUnits.count(report.records, "record")) and \(HumanUnits.bytes(report.bytes)) in "
      + "\(HumanUnits.count(report.files, "file")): \(report.isClean ? "no damage" : lines.sum)\n" + needed(report)
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
    return "; " + states.map { "\(HumanUnits.count($0.0)) \($0.1)" }.joined(separator: ", ")
  }

  /// How many of the damaged records are still needed, where there are any.
  private func needed(_ report: Report.Verification) -> String {
    func sum(_ count: (Report.Verification.Damage) -> Int) -> Int {
      report.damage.reduce(0) { $0.addingReportingOverflow(count($1)).partialValue }
    }
    let (records, current, unknown) = (sum(\.records), sum(\.current), sum(\.unknown))
    guard records > 0 else { return "" }
    func are(_ count: Int) -> String { "\(HumanUnits.count(count)) \(count == 1 ? "is" : "are")" }
    return "of these records, \(are(current)) current, \(are(records - current - unknown)) not needed any more, "
      + "\(HumanUnits.count(unknown)) unknown\n"
  }

  /// What to do: a manifest and a checkpoint are copies, and a footer is.
  private func advice(_ report: Report.Verification) -> String {
    guard !report.isClean else { return "" }
    guard report.damage.contains(where: { $0.location.segment != nil }) else {
      return "no entry is lost: the next command that writes puts it right\n"
    }
    return "to save everything intact: esker repair \(quotedForShell(store.store)) NEW\n"
  }

  private static func json(_ report: Report.Verification) -> [UInt8] {
    JSONWriter.line { writer in
      writer.fields(["files": report.files, "records": report.records, "bytes": report.bytes])
      writer.list("damage", report.damage) { writer, damage in
        writer.fields(damage.location, length: damage.length, reason: damage.reason)
        writer.fields(["records": damage.records, "current": damage.current, "unknown": damage.unknown])
      }
    }
  }
}
