import ArgumentParser
import Esker

struct Merge: ParsableCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Reclaim the space of overwritten, removed and expired records.",
    discussion: """
      An open store does this automatically, unless it was told not to; the command is for one that is not open. Live records \
      are copied before the old files are removed, so some space is needed. Interrupting the command loses nothing.

      With --dry-run, says how much there is to reclaim, and whether that is worth the copying, and changes nothing; this works \
      beside a process that writes. A merge also removes expired records that are still in the index, which the estimate does \
      not include.

      A store of some size that is written to has a checkpoint of its index, of about 15 bytes a key, and after a merge or a \
      full segment a reserve for a full volume. A backup and what was restored from it have neither, so the first command \
      that writes makes them larger.

      A segment with a record that is needed and cannot be read stays as it is, and is named; the others are merged, and the \
      exit code is 1.

      With --compression, the store compresses values from now on, and the merge all that are not compressed yet.

      With --erase, nothing that is dead stays in any file: all segments with a dead record are written anew, however few they are, and       those that are packed with a dictionary, which has parts of values. esker verify --erased shows that. File systems and devices keep       what was in removed files until they use the room again.

      Examples:
        esker merge cities.esker --dry-run
        esker merge cities.esker
        esker merge cities.esker --compression lz4
        esker merge people.esker --erase
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var packing: CompressionOption

  @Flag(help: "Say what a merge would do, without doing it.")
  var dryRun = false

  @Flag(help: "Leave nothing that is dead in any file.")
  var erase = false

  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if dryRun, erase { throw ValidationError("--dry-run changes nothing: it goes without --erase.") }
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
    let before = StoreSizes(store.store)
    let notices = StoreNotices()
    var options = Options(compression: packing.compression)
    // All that is merged is what this command has asked for.
    options.merge.isAutomatic = false
    let (done, held) = try store.write(creating: false, options, notices: notices) { store in
      Interruption.install()
      let estimate = MergeEstimate(store.statistics)
      let progress = Progress("merging", total: estimate.bytesRead, isQuiet: self.store.quiet)
      defer { progress.clear() }
      let notice = "stopping once the segment that is being merged is done"
      return try Interruption.saying(notice, isQuiet: self.store.quiet) {
        guard erase else { return try store.mergeAroundDamage(notices) { progress.goesOn($0) } }
        return (try store.eraseNow { progress.goesOn($0) }.merged, HeldSegments())
      }
    }
    try report(done, held, before: before, after: StoreSizes(store.store))
    guard held.segments.isEmpty else { throw ToolError.damageFound }
  }

  private func report(_ estimate: MergeEstimate) throws {
    try printFigures(
      [
        "segments": estimate.segments, "bytesRead": estimate.bytesRead, "bytesWritten": estimate.bytesWritten,
        "bytesFreed": estimate.bytesFreed,
      ],
      text: estimate.segments == 0
        ? "nothing to merge"
        : "would merge \(NumberText.count(estimate.segments, "segment")): copy "
          + "\(HumanUnits.bytes(estimate.bytesWritten)), reclaim \(HumanUnits.bytes(estimate.bytesFreed))"
          + (estimate.isWorthIt ? "" : "; hardly worth it: \(estimate.share) of it is dead"),
      asJSON: json
    )
  }

  private func report(_ report: Report.Merge, _ held: HeldSegments, before: StoreSizes, after: StoreSizes) throws {
    guard json || !store.quiet else { return }
    try printFigures(
      [
        "segmentsRemoved": report.segmentsRemoved, "segmentsWritten": report.segmentsWritten,
        "bytesRead": report.bytesRead, "bytesWritten": report.bytesWritten, "bytesFreed": report.bytesFreed,
        "bytesOnDiskBefore": before.all, "bytesOnDisk": after.all, "segmentsHeld": held.segments.count,
      ],
      text: text(report, held, before, after) + held.advice(store.store),
      asJSON: json
    )
  }

  private func text(
    _ report: Report.Merge,
    _ held: HeldSegments,
    _ before: StoreSizes,
    _ after: StoreSizes
  ) -> String {
    guard report.segmentsRemoved > 0 else {
      return (held.segments.isEmpty ? "nothing to \(erase ? "erase" : "merge")" : "nothing else to merge")
        + Self.additions(before, after)
    }
    var done = MergeEstimate()
    (done.bytesRead, done.bytesWritten) = (report.bytesRead, report.bytesWritten)
    let isForLittle = !erase && !done.isWorthIt && done.bytesFreed >= 0
    return "\(erase ? "erased all that was dead: " : "")merged "
      + "\(NumberText.count(report.segmentsRemoved, "segment")) into \(report.segmentsWritten), copied "
      + HumanUnits.bytes(report.bytesWritten)
      + (isForLittle ? " to reclaim \(HumanUnits.bytes(done.bytesFreed)), hardly worth it" : "")
      + ": \(HumanUnits.bytes(before.all)) on disk before, \(HumanUnits.bytes(after.all)) now"
      + Self.additions(before, after)
  }

  /// A line about what has come to the store by being written to, whatever was merged; nothing if nothing has.
  private static func additions(_ before: StoreSizes, _ after: StoreSizes) -> String {
    let kinds = [
      ("a checkpoint", before.checkpoints, after.checkpoints), ("a reserve", before.reserve, after.reserve),
    ].filter { $0.1 == 0 && $0.2 > 0 }
    guard !kinds.isEmpty else { return "" }
    let bytes = HumanUnits.bytes(kinds.reduce(0) { $0 + $1.2 })
    return "\nadded \(kinds.map(\.0).joined(separator: " and ")) of \(bytes), as a store has that is written to"
  }
}

/// The sizes of a store's files, by what they are for.
struct StoreSizes {
  var all = 0
  var checkpoints = 0
  var reserve = 0

  init(_ path: String) {
    all = directorySize(path)
    checkpoints = directorySize(path) { $0.hasSuffix(".checkpoint") }
    reserve = directorySize(path) { $0 == "reserve" }
  }
}

/// Estimates a merge of everything dead.
struct MergeEstimate {
  var segments = 0
  /// The bytes of all records in the segments to merge, and of their live records.
  var bytesRead = 0
  var bytesWritten = 0

  var bytesFreed: Int { bytesRead - bytesWritten }
  /// Whether enough is dead, by the rule of the merges that a store does by itself.
  var isWorthIt: Bool { bytesRead == 0 || bytesWritten < bytesRead / 20 * 19 }
  /// How much of what is read is dead, in percent.
  var share: String { "\(NumberText.fixed(Double(bytesFreed) / Double(max(1, bytesRead)) * 100, 1)) %" }

  init() {}

  init(_ statistics: Statistics) {
    for segment in statistics.segments where segment.liveBytes < segment.recordBytes {
      segments += 1
      bytesRead += segment.recordBytes
      bytesWritten += segment.liveBytes
    }
  }
}
