import ArgumentParser
import Esker

struct Merge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Reclaim the space of overwritten, removed and expired records.",
    discussion: """
      An open store does this automatically, unless it was told not to; the command is for one that is not open. Live records \
      are copied before the old files are removed, so some space is needed. Interrupting the command loses nothing.

      With --dry-run, says how much there is to reclaim and changes nothing; this works beside a process that writes. A merge \
      also removes expired records that are still in the index, which the estimate does not include.

      With --compression, the store compresses values from now on, and the merge all that are not compressed yet.

      Examples:
        esker merge cities.esker --dry-run
        esker merge cities.esker
        esker merge cities.esker --compression lz4
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var packing: CompressionOption

  @Flag(help: "Say what a merge would do, without doing it.")
  var dryRun = false

  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if dryRun, packing.compression != nil {
      throw ValidationError("--dry-run changes nothing: it goes without --compression.")
    }
  }

  func run() throws {
    if dryRun {
      try store.read { store in try report(MergeEstimate(store.statistics)) }
      return
    }
    // An open store has reserved space to write to, so sizes are measured before opening and after closing.
    let before = directorySize(store.store)
    let done = try store.write(creating: false, Options(compression: packing.compression)) { store in
      Interruption.install()
      let estimate = MergeEstimate(store.statistics)
      let progress = Progress("merging", bytes: estimate.bytesRead, isQuiet: self.store.quiet)
      defer { progress.clear() }
      return try store.merge { share in
        progress.update(share)
        return !Interruption.isRequested
      }
    }
    try report(done, before: before, after: directorySize(store.store))
  }

  private func report(_ estimate: MergeEstimate) throws {
    try printFigures(
      [
        ("segments", estimate.segments), ("bytesRead", estimate.bytesRead), ("bytesWritten", estimate.bytesWritten),
        ("bytesFreed", estimate.bytesFreed),
      ],
      text: estimate.segments == 0
        ? "nothing to merge"
        : "would merge \(HumanUnits.count(estimate.segments, "segment")): copy "
          + "\(HumanUnits.bytes(estimate.bytesWritten)), reclaim \(HumanUnits.bytes(estimate.bytesFreed))",
      asJSON: json
    )
  }

  private func report(_ report: Report.Merge, before: Int, after: Int) throws {
    guard json || !store.quiet else { return }
    try printFigures(
      [
        ("segmentsRemoved", report.segmentsRemoved), ("segmentsWritten", report.segmentsWritten),
        ("bytesRead", report.bytesRead), ("bytesWritten", report.bytesWritten), ("bytesFreed", report.bytesFreed),
        ("bytesOnDiskBefore", before), ("bytesOnDisk", after),
      ],
      text: report.segmentsRemoved == 0
        ? "nothing to merge"
        : "merged \(HumanUnits.count(report.segmentsRemoved, "segment")) into \(report.segmentsWritten), copied "
          + "\(HumanUnits.bytes(report.bytesWritten)): \(HumanUnits.bytes(before)) on disk before, "
          + "\(HumanUnits.bytes(after)) now",
      asJSON: json
    )
  }
}

/// Estimates a merge of everything dead.
struct MergeEstimate {
  var segments = 0
  /// The bytes of all records in the segments to merge, and of their live records.
  var bytesRead = 0
  var bytesWritten = 0

  var bytesFreed: Int { bytesRead - bytesWritten }

  init(_ statistics: Statistics) {
    for segment in statistics.segments where segment.liveBytes < segment.recordBytes {
      segments += 1
      bytesRead += segment.recordBytes
      bytesWritten += segment.liveBytes
    }
  }
}
