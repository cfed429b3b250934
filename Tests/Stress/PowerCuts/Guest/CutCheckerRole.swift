import EskerLog
import EskerTestSupport

/// Opens what a cut of the power has left, and looks whether it is a prefix of history that has all that was durable.
struct CutCheckerRole {
  private let assignment: Assignment
  /// For each thread, the last write that was durable; nil if not even the first ones need be there.
  private let floor: [UInt64]?
  /// Whether the writer goes on from here.
  private let goesOn: Bool
  private var draw: SeededGenerator

  init(_ arguments: ArraySlice<String>) throws(UsageError) {
    let words = Array(arguments.prefix(3))
    guard words.count == 3, let seed = UInt64(words[2]) else {
      throw UsageError("the checker of a cut is started by the program itself")
    }
    floor = words[0] == "-" ? nil : words[0].split(separator: ",").compactMap { UInt64($0) }
    goesOn = words[1] == "on"
    draw = SeededGenerator(seed: seed)
    assignment = try Assignment(arguments.dropFirst(3))
  }

  mutating func run() {
    do {
      let scene = try Scene(assignment, who: "checker")
      if draw.oneIn(4) { readOnly(scene) }
      let last = check(scene, "recovered store", merges: draw.oneIn(4), verifies: true)
      if draw.oneIn(4) { _ = check(scene, "store opened again", merges: false, verifies: draw.oneIn(2)) }
      guard goesOn, let last else { return }
      for thread in last.indices { scene.ledger.rewind(thread, to: last[thread]) }
    } catch {
      StandardStreams.complain("checker: \(error)")
      exitProcess(3)
    }
  }

  /// Before anything is cut off.
  private func readOnly(_ scene: Scene) {
    // Nothing need be there.
    guard floor != nil else { return }
    let opened = scene.expectNoError("read-only opening throws", "a read-only opening") {
      try LogStore(at: scene.storePath, options: scene.options(readOnly: true))
    }
    guard let store = opened else { return }
    _ = look(at: store, scene, "store as a reader sees it")
    Verification.run(scene, store, "the store, by a reader")
    _ = scene.expectNoError("closing throws", "a reader's close") { try store.close() }
  }

  private func check(_ scene: Scene, _ subject: String, merges: Bool, verifies: Bool) -> [UInt64]? {
    let opened = scene.expectNoError("opening throws", "opening for writing") {
      try LogStore(at: scene.storePath, options: scene.options(readOnly: false))
    }
    guard let store = opened else { return nil }
    var last = look(at: store, scene, subject)
    if verifies { Verification.run(scene, store, "the \(subject)") }
    if merges {
      _ = scene.expectNoError("merge throws", "a merge") { try store.merge() }
      last = look(at: store, scene, "merged store")
    }
    _ = scene.expectNoError("closing throws", "close") { try store.close() }
    return last
  }

  /// For each thread, the last write that the store shows.
  ///
  /// History is one sequence, so there is one number up to which all threads' writes are there, and beyond which none is. It is not
  /// below the newest version that is shown; removals, which show none, may come behind that.
  private func look(at store: LogStore, _ scene: Scene, _ subject: String) -> [UInt64]? {
    guard let floor else { return nil }
    var census = Census(scene.places)
    let walked: Void? = scene.expectNoError("\(subject) throws", "a walk") {
      for entry in try store.snapshot() { try census.add(entry, scene.places) }
    }
    guard walked != nil else { return nil }
    let durable = floor.indices.map { scene.ledger.lowest(of: floor[$0], $0) }
    let least = (census.versions.joined() + durable).reduce(0, max)
    let time = scene.time
    var first: [Finding]?
    for number in least...least + Self.mostRemovals {
      let claim = Claim(subject: subject, sequences: number...number, times: time...time, floor: floor)
      let (findings, last) = scene.comparison.judge(census, claim)
      if findings.isEmpty { return last }
      first = first ?? findings
    }
    let known = floor.indices.map { "\(floor[$0]) (\(scene.ledger.sequence(of: floor[$0], $0)))" }
    let words = "durable are writes \(known.joined(separator: ", ")); newest version \(least)"
    scene.findings.write((first ?? []).map { Finding($0.kind, "\($0.text); \(words)") })
    return nil
  }

  /// Writes in a row that show no version.
  private static let mostRemovals: UInt64 = 16
}
