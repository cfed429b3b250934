import ArgumentParser
import Esker

struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check every byte of the store.",
    discussion: """
      Reads all files and checks them against their checksums, and checks that every key leads to its record. Each damaged \
      range is printed with file, offset, length and reason. The exit code is 0 for a clean store and 1 for a damaged one.

      Example:
        esker verify cities.esker
      """
  )

  @OptionGroup var store: StoreArguments

  func run() throws {
    try store.read { store in
      let report = try verify(store)
      var output = BufferedOutput.standard()
      for damage in report.damage { try output.write(Self.line(damage)) }
      let checked =
        "checked \(HumanUnits.count(report.records, "record")) and \(HumanUnits.bytes(report.bytes)) in "
        + HumanUnits.count(report.files, "file")
      let found = report.isClean ? "no damage" : HumanUnits.count(report.damage.count, "damaged range")
      if !self.store.quiet || !report.isClean { try output.write("\(checked): \(found)\n") }
      try output.flush()
      guard report.isClean else { throw ToolError.damageFound }
    }
  }

  private func verify(_ store: LogStore) throws(StoreError) -> VerificationReport {
    let progress = Progress("checking", bytes: store.statistics.bytesOnDisk, isQuiet: self.store.quiet)
    defer { progress.clear() }
    return try store.verify { share in progress.update(share) }
  }

  private static func line(_ damage: VerificationReport.Damage) -> String {
    // Something missing has no length.
    let length = damage.length > 0 ? ", " + HumanUnits.count(damage.length, "byte") : ""
    return "\(damage.location)\(length): \(damage.reason)\n"
  }
}
