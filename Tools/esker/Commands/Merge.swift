import ArgumentParser
import Esker

struct Merge: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Give up the space of what was replaced, removed or expired.",
    discussion: """
      A store that is open does so by itself. This is for one that is not, or that was told to leave it. What is alive is \
      copied before the old files are removed, so some space is needed. Interrupting the command loses nothing.

      Example:
        esker merge cities.esker
      """
  )

  @OptionGroup var store: StoreArguments

  func run() throws {
    try store.write(creating: false) { store in
      let before = store.statistics.bytesOnDisk
      let report = try merge(store)
      let after = store.statistics.bytesOnDisk
      var output = BufferedOutput.standard()
      try output.write(
        "merged \(HumanUnits.count(report.segmentsRemoved, "segment")) into \(report.segmentsWritten), copied "
          + "\(HumanUnits.bytes(report.bytesWritten)): \(HumanUnits.bytes(before)) on disk before, "
          + "\(HumanUnits.bytes(after)) now\n"
      )
      try output.flush()
    }
  }

  private func merge(_ store: LogStore) throws(StoreError) -> MergeReport {
    guard StandardError.isTerminal else { return try store.merge() }
    let status = StatusLine()
    defer { status.clear() }
    return try store.merge { share in
      status.show("merging \(HumanUnits.fixed(share * 100, 0)) %")
      return true
    }
  }
}
