import EskerLog
import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// All that a process of a round works with.
final class Scene: Sendable {
  let configuration: Configuration
  let seed: UInt64
  let participant: Int
  let ledger: Ledger
  let findings: Findings
  let places: Places
  let scripts: [Script]
  let directory: String
  /// Where it is said what is durable, if the disk loses power.
  let mailbox: Mailbox?
  private let parent = getppid()

  init(_ assignment: Assignment, who: String) throws(PlatformError) {
    configuration = assignment.configuration
    seed = assignment.seed
    participant = assignment.participant
    directory = assignment.directory
    mailbox = configuration.cuts != 0 ? try Mailbox(at: "\(directory)/mailbox") : nil
    ledger = try Ledger(at: "\(directory)/ledger", threads: configuration.threads)
    findings = Findings(path: "\(directory)/findings", who: who, ignoring: assignment.ignored)
    places = Places(configuration)
    scripts = (0..<configuration.threads).map {
      Script(assignment.configuration, seed: assignment.seed, thread: $0)
    }
  }

  var storePath: String { mailbox == nil ? "\(directory)/store" : "\(directory)/disk/store" }

  var comparison: Comparison {
    Comparison(scripts: scripts, places: places, ledger: ledger, isEvicting: configuration.capacity > 0)
  }

  /// A number for each thread and kind of work of each process, that repeats with the seed.
  func seed(for work: Int) -> UInt64 { mix(mix(seed, UInt64(participant)), UInt64(work) ^ ledger[.life] << 32) }

  /// The store time of this instant; writers move it.
  var time: Int64 { Int64(bitPattern: ledger[.clock]) }

  /// Options as the configuration has them.
  func options(readOnly: Bool) -> Options {
    var options = Options()
    options.readOnly = readOnly
    options.segmentSize = configuration.segment
    options.durability = configuration.synced == 2 && configuration.planted == 0 ? .synced : .buffered
    options.merge.isAutomatic = configuration.merging != 0
    options.merge.spaceAmplification = Double(configuration.amplification) / 10
    options.capacity = configuration.capacity > 0 ? configuration.capacity : nil
    options.compression = configuration.packing != 0 ? .lz4 : .off
    let ledger = ledger
    options.clock = Options.Clock(
      now: { WallTime(millisecondsSince1970: Int64(bitPattern: ledger[.clock])) },
      uptimeNanoseconds: { 0 }
    )
    options.onEvent = { [weak self] event in self?.take(event, ofReader: readOnly) }
    return options
  }

  /// After a kill, the end of the log and one copy of the manifest may be unfinished. In any other case nothing is damaged.
  private func take(_ event: StoreEvent, ofReader isReader: Bool) {
    let wasKilled = ledger[.kills] > 0
    let opening = isReader ? "a read-only opening" : "the writer"
    switch event {
    case .cut where !wasKilled:
      ledger.add(.cuts)
      findings.report(Finding("cut told", "\(opening) told \(event), though nobody was killed"))
    case .damaged(let location, _) where location.path.contains("manifest"):
      guard !wasKilled else { return }
      findings.report(Finding("damage of a manifest told", "\(opening) told \(event)"))
    case .damaged: findings.report(Finding("damage told", "\(opening) told \(event)"))
    case .syncFailed: findings.report(Finding("sync fails", "\(opening) told \(event)"))
    case .backgroundFailure: findings.report(Finding("background failure", "\(opening) told \(event)"))
    case .mergeEnded: ledger.add(.merges)
    default: break
    }
  }

  /// Says that a thread's writes up to this one are durable.
  func tellDurable(_ number: UInt64, of thread: Int) { mailbox?.say("durable\t\(thread)\t\(number)") }

  /// Runs `body`; a StoreError is a finding of that kind, and the answer is then nil.
  func expectNoError<R>(_ kind: String, _ what: String, _ body: () throws -> R) -> R? {
    do { return try body() } catch {
      findings.report(Finding(kind, "\(what) threw \(error)"))
      return nil
    }
  }

  /// Waits until writers have put about so many more keys, or everybody is to rest or to end.
  func waitForPuts(_ count: Int) {
    let target = ledger.writes(configuration.threads) + max(1, count / configuration.batch)
    while ledger.writes(configuration.threads) < target, !isInterrupted {
      if participant > 0 { ledger.beat(participant) }
      pauseThread(microseconds: 100)
    }
  }

  /// Whether there will be no progress to wait for: also if whoever started this process is gone, who starts the writers too.
  var isInterrupted: Bool {
    ledger.isResting || ledger[.isOver] != 0 || ledger[.lifeToEnd] >= ledger[.life] || getppid() != parent
  }
}
